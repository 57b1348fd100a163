import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longTest } from '../../support/long-test.ts';
import { decideBash, decideTool, makeFixture, type Setup } from '../fixture.ts';

const fixture = makeFixture();
const { ws, home, outside } = fixture;
const link = (from: string, to: string) => linkSync(from, join(ws, to));
link(join(ws, '.env'), 'src/plain.ts');
link(join(ws, 'secrets/key'), 'docs/notes.md');
link(join(home, '.ssh/id_rsa'), 'docs/id.md');
link(join(outside, 'data'), 'docs/data.md');
link(join(ws, 'README.md'), 'docs/readme.md');
mkdirSync(join(ws, 'node_modules/a'), { recursive: true });
writeFileSync(join(ws, 'node_modules/a/one.js'), 'x\n');
link(join(ws, 'node_modules/a/one.js'), 'node_modules/a/two.js');

const OPENING = [
  (file: string) => `cat ${file}`,
  (file: string) => `head -1 < ${file}`,
  (file: string) => `wc -l ./${file}`,
];
const verdicts = (file: string, setup: Setup = {}) => [
  decideTool(fixture, 'Read', { file_path: file }, setup).verdict,
  ...OPENING.map((open) => decideBash(fixture, open(file), setup).verdict),
];
const [ask, deny, allow] = (['ask', 'deny', 'allow'] as const).map((verdict) =>
  Array.from({ length: 4 }, () => verdict),
);

test('a secret file asks under any of its names', () => {
  expect([verdicts('src/plain.ts'), verdicts('docs/id.md')]).toEqual([ask, ask]);
  expect(decideBash(fixture, 'grep -rn x src').verdict).toBe('ask');
});

test('a denied file is denied under any of its names, in every mode', () => {
  const rules = ['Read(.env)', 'Read(secrets/**)', `Read(/${outside}/data)`];
  const files = ['src/plain.ts', 'docs/notes.md', 'docs/data.md'];
  for (const setup of [
    { deny: rules },
    { deny: rules, allow: ['Bash', 'Read'] },
    { deny: rules, mode: 'bypassPermissions' },
  ] as const) {
    expect(files.map((file) => verdicts(file, setup))).toEqual(files.map(() => deny));
    expect(decideBash(fixture, 'grep -rn x docs', setup).verdict).toBe('deny');
  }
});

test('a protected file is not changed under another name', () => {
  const setup: Setup = { deny: ['Edit(README.md)'], mode: 'bypassPermissions' };
  expect(decideTool(fixture, 'Write', { file_path: 'docs/readme.md', content: 'x' }, setup).verdict).toBe('deny');
  expect(decideBash(fixture, 'echo x > docs/readme.md', setup).verdict).toBe('deny');
});

test('other files with hard links are read as usual', () => {
  const setup: Setup = { deny: ['Read(.env)', 'Read(secrets/**)'] };
  expect([verdicts('docs/readme.md', setup), verdicts('node_modules/a/two.js', setup)]).toEqual([allow, allow]);
  expect(decideBash(fixture, 'grep -rn x node_modules', setup).verdict).toBe('allow');
});

longTest('where too many files must be searched, a file with hard links asks, except those written by others', () => {
  const large = makeFixture();
  mkdirSync(join(large.ws, 'many'));
  for (let at = 0; at < 3_100; at += 1) writeFileSync(join(large.ws, 'many', `${at}`), '');
  mkdirSync(join(large.ws, 'node_modules'));
  for (const folder of ['docs', 'node_modules']) {
    writeFileSync(join(large.ws, folder, 'one'), 'x\n');
    linkSync(join(large.ws, folder, 'one'), join(large.ws, folder, 'two'));
  }
  const read = (file: string) => decideTool(large, 'Read', { file_path: file }).verdict;
  expect([read('docs/two'), read('docs/x.md'), read('node_modules/two')]).toEqual(['ask', 'allow', 'allow']);
});
