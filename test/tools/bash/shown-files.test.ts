import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { analyzeShell } from '../../../src/permissions/shell/analyze.ts';
import { listFilesShownByCommand } from '../../../src/tools/bash/shown-files.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const cwd = createTempFolder();
writeFileSync(join(cwd, 'a.ts'), '');

const shown = (command: string, output = '') =>
  listFilesShownByCommand(analyzeShell(command), cwd, output).map((file) => file.replace(`${cwd}/`, ''));

test.each([
  ['cat a.ts b.ts', ['a.ts', 'b.ts']],
  ['cat -n a.ts && head -n 5 b.ts; tail -20 /x/c.ts', ['a.ts', 'b.ts', '/x/c.ts']],
  ["sed -n '1,20p' a.ts", ['a.ts']],
  ['head -5 "a b.ts"', ['a b.ts']],
])('%s counts as reading the files it names', (command, files) => {
  expect(shown(command)).toEqual(files);
});

test('git diff counts as reading the existing files in it', () => {
  const output = '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n--- a/gone.ts\n+++ b/gone.ts\n';
  expect(shown('git diff', output)).toEqual(['a.ts']);
  expect(shown('git status', output)).toEqual([]);
});

test.each([
  ['another prefix', ['-c', 'diff.mnemonicPrefix=true']],
  ['no prefix', ['-c', 'diff.noprefix=true']],
  ['colours', ['-c', 'color.ui=always']],
  ['names as they are', ['-c', 'core.quotePath=false']],
  ['no settings', []],
])('git diff with %s shows files with any name', (_, settings) => {
  const folder = createTempFolder();
  const names = ['a.ts', 'Straße in Köln.ts', 'sub/日本.ts'];
  mkdirSync(join(folder, 'sub'));
  const write = (text: string) => {
    for (const name of names) writeFileSync(join(folder, name), text);
  };
  const env = { PATH: '/usr/bin:/bin', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]) => spawnSync('git', args, { cwd: folder, env, encoding: 'utf8' }).stdout;
  write('one\n');
  git('init', '-q');
  git('add', '-A');
  write('two\n');
  const diff = git(...settings, 'diff');
  const files = listFilesShownByCommand(analyzeShell('git diff'), folder, diff);
  expect(files.toSorted()).toEqual(names.map((name) => join(folder, name)).toSorted());
});

test.each([
  'cat a.ts | wc -l',
  'cat a.ts > b.ts',
  'cat $FILE',
  'cd src && cat a.ts',
  "sed 's/a/b/' a.ts",
  "sed -n 's/a/b/p' a.ts",
  'tail -f a.ts',
  'head -c 10 a.ts',
  'echo cat a.ts',
  'wc -l a.ts',
])('%s counts as reading no file', (command) => {
  expect(shown(command)).toEqual([]);
});
