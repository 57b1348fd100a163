import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIgnoreRules } from '../../../src/lib/patterns/glob.ts';
import { runs } from '../../support/runs.ts';
import { createTempProject } from '../../support/temp-project.ts';

const PATHS = ['a', 'b', 'a.log', 'in/a', 'in/b.log', 'in/a/b', 'in/deep/a', 'x/in/a', 'b/in/b', 'in/ ', '!a', '#a'];
const LINES = [
  'a',
  '/a',
  'a/',
  'in/',
  '/in',
  'in/*',
  '!in/a',
  '!a',
  '*.log',
  '!*.log',
  '**/a',
  'in/**',
  'in/**/a',
  '**/in/**',
  '*',
  '!*/',
  '?',
  '[ab]',
  '[!a]',
  '\\!a',
  '\\#a',
  '# a',
  ' ',
  'in/\\ ',
  'a  ',
  'x/*/a',
  'd*p/',
];

test('ignore files match as in git', async () => {
  await using project = await createTempProject();
  for (const path of PATHS) {
    const full = join(project.dir, 'r', path);
    mkdirSync(dirname(full), { recursive: true });
    if (path !== 'in/a' && path !== 'b' && path !== 'in') writeFileSync(full, '');
  }
  const root = join(project.dir, 'r');
  // The ignore file of whoever runs the test is not compared.
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const git = (args: readonly string[], input = '') =>
    spawnSync('git', args, { cwd: root, env, input, encoding: 'utf8' });
  git(['init', '-q']);
  const files = git(['ls-files', '-z', '--others']).stdout.split('\0').filter(Boolean);
  expect(files.length).toBeGreaterThan(8);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 6 }), (lines) => {
      writeFileSync(join(root, '.gitignore'), `${lines.join('\n')}\n`);
      const theirs = git(['check-ignore', '-z', '--stdin'], files.join('\0')).stdout.split('\0').filter(Boolean);
      const rules = parseIgnoreRules(lines);
      expect([lines, files.filter((file) => rules(file) === 'ignored')]).toEqual([lines, theirs]);
    }),
    runs(300),
  );
});
