import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSessionWrittenFiles } from '../../src/permissions/auto-mode.ts';
import { createTempProject } from '../support/temp-project.ts';

test.each([
  'node run.js',
  './run.js',
  'cd sub && node ../run.js',
  'cd /; node "$OLDPWD/run.js"',
  'bash < run.js',
  'env X=1 timeout 5 node --require=./run.js other.js',
  "node r''un.js",
  'node r\\un.js',
  'node *.js',
  'node ru?.js',
  'node r[u]n.js',
  'cat run.js | sh',
  'sh -c "node run.js"',
  'x=run.js; node $x',
  'eval "node run.js"',
  'git -c core.fsmonitor=./run.js status',
])('a file written in the session is found by any name in the command: %s', async (command) => {
  await using project = await createTempProject({ 'run.js': 'WRITTEN', 'not.ts': 'OTHER' });
  const written = ['run.js', 'not.ts', 'gone.js'].map((name) => join(project.dir, name));
  expect(findSessionWrittenFiles({ command }, written)).toEqual([
    { path: join(project.dir, 'run.js'), text: 'WRITTEN' },
  ]);
});

test('files not written in the session are not shown, and truncated ones are marked', async () => {
  await using project = await createTempProject({ 'run.js': 'THEIRS', 'own.js': 'x'.repeat(8_001) });
  expect(findSessionWrittenFiles({ command: 'node run.js' }, [])).toEqual([]);
  expect(findSessionWrittenFiles({ command: 'node run.js' }, [join(project.dir, 'own.js')])).toEqual([]);
  expect(findSessionWrittenFiles({ command: 'node own.js' }, [join(project.dir, 'own.js')])).toBe('too long');
  writeFileSync(join(project.dir, 'own.js'), 'short');
  expect(findSessionWrittenFiles({ command: 'node own.js' }, [join(project.dir, 'own.js')])).toHaveLength(1);
});
