import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import manifest from '../../packages/agent/package.json' with { type: 'json' };
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import { longTest } from '../support/long-test.ts';
import { isWholeRun } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
const snippets = [...page.matchAll(/```js run\n(.*?)```/gs)].map(([, code = '']) => code);
const PRINTS = [
  ...['\ncompleted\n', 'Pay\n', 'completed completed completed\n', '2\n', 'idle 0\n', 'Answer in verse.\n'],
  ...[
    'the summary would hardly be shorter\n',
    'Clock\n',
    '"nights" must be at least 1, not 0.\n',
    '2\n',
    'allow ask\n',
  ],
  ...['No secrets.\n', 'completed none\n', 'Paid.\n', '2\n', 'completed\n2\n', 'true\n'],
];

longTest('every snippet that says so runs and prints what it should, from the sources', async () => {
  expect(snippets).toHaveLength(PRINTS.length);
  const project = createTempFolder();
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  const wanted = isWholeRun ? snippets : snippets.slice(0, 1);
  await Promise.all(
    wanted.map(async (code, at) => {
      const file = join(project, `${at}.mjs`);
      writeFileSync(file, fromSources(code));
      const { stdout } = await promisify(execFile)(process.execPath, ['--no-env-file', file], {
        cwd: project,
        env: { ...process.env, TMPDIR: project },
      });
      expect(stdout.endsWith(PRINTS[at] ?? '?'), `${code}\nprinted ${stdout}`).toBe(true);
    }),
  );
});

/** The package's own name, led to the sources that its build is made of. */
function fromSources(code: string): string {
  return code.replace(/from '(@ouro-cli\/agent[\w/]*)'/g, (_, name: string) => {
    const target = Object.entries(manifest.exports).find(
      ([path]) => path.replace('.', '@ouro-cli/agent') === name,
    )?.[1];
    if (target === undefined || typeof target === 'string') throw new Error(`The package has no ${name}.`);
    const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return `from '${join(root, source)}'`;
  });
}

test('the page names every event', () => {
  const source = readFileSync(join(root, 'src/contracts/event.ts'), 'utf8');
  const union = source.slice(0, source.indexOf('/** One paid request'));
  const types = [...union.matchAll(/readonly type: '(\w+)'/g)].map(([, type]) => `\`${type}\``);
  expect(types.length).toBeGreaterThan(30);
  expect(types.filter((type) => !page.includes(type))).toEqual([]);
});

test('each method in the tables about an agent exists', () => {
  const [, table = ''] = /\| Method .*\n((?:\|.*\n)+)/.exec(readFileSync(join(root, 'docs/engine.md'), 'utf8')) ?? [];
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '');
  const names = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)\(/g)].map(([, name = '']) => name));
  expect(names.length).toBeGreaterThan(13);
  const agent: object = createAgent({ model: 'demo' });
  expect(names.filter((name) => typeof Reflect.get(agent, name) !== 'function')).toEqual([]);
});
