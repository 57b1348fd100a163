import { execFile } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { editJsonc } from '../../../src/lib/files/edit-jsonc.ts';
import { createFileLocks } from '../../../src/lib/files/file-locks.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let folder = '';
let file = '';
beforeEach(async () => {
  folder = createTempFolder();
  file = join(folder, 'settings.json');
});

const set = (path: readonly string[], value: unknown) =>
  editJsonc(file, () => [{ path, value }], { links: 'follow', locks: createFileLocks(join(folder, 'home')) });
async function after(text: string, path: readonly string[], value: unknown): Promise<string> {
  await writeFile(file, text);
  await set(path, value);
  return readFile(file, 'utf8');
}

test('comments, order, white space and line ends stay, and new lines match the existing style', async () => {
  const tabs = '{\n\t// mine\n\t"env": { "A": "1" }, // and this\n}\n';
  expect(await after(tabs, ['theme'], 'dark')).toBe(
    '{\n\t// mine\n\t"env": { "A": "1" }, // and this\n\t"theme": "dark",\n}\n',
  );
  expect(await after('{\r\n    "a": 1\r\n}\r\n', ['b', 'c'], [])).toBe(
    '{\r\n    "a": 1,\r\n    "b": {\r\n        "c": []\r\n    }\r\n}\r\n',
  );
  expect(await after('\uFEFF{"a":1, /* keep */ "b":2}', ['a'], 3)).toBe('\uFEFF{"a":3, /* keep */ "b":2}');
  expect(await after('{"a":1,\n"b":2}', ['a'], undefined)).toBe('{"b":2}');
  expect(await after('', ['hooks', 'Stop'], [{ a: 1 }])).toBe(
    '{\n  "hooks": {\n    "Stop": [\n      {\n        "a": 1\n      }\n    ]\n  }\n}\n',
  );
  expect(await after('{ "a": {} }', ['b'], { c: [1] })).toBe('{ "a": {}, "b": { "c": [1] } }');
  expect(await after('{\n  // none yet\n}\n', ['a'], 1)).toBe('{\n  "a": 1\n  // none yet\n}\n');
  expect(await after('{\n  "a": 1,\n}\n', ['b'], 1)).toBe('{\n  "a": 1,\n  "b": 1,\n}\n');
});

test('only different items of a list are changed: comments beside the others stay', async () => {
  const list = '{\n  "deny": [\n    "a", // why a\n    "b", // why b\n    "c" // why c\n  ]\n}\n';
  expect(await after(list, ['deny'], ['a', 'b', 'c', 'd'])).toBe(
    '{\n  "deny": [\n    "a", // why a\n    "b", // why b\n    "c", // why c\n    "d"\n  ]\n}\n',
  );
  expect(await after(list, ['deny'], ['a', 'c'])).toContain('"a", // why a\n    "c" // why c');
  expect(await after('{"deny": ["a"]}', ['deny'], ['a', 'b'])).toBe('{"deny": ["a", "b"]}');
  expect(await after('{"deny": ["a"]}', ['deny'], [])).toBe('{"deny": []}');
  expect(JSON.parse(await after('{"deny": ["a", "b"]}', ['deny'], ['b', 'a']))).toEqual({ deny: ['b', 'a'] });
});

test('an edit without effect writes nothing', async () => {
  await writeFile(file, '{ }');
  const { mtimeNs } = await stat(file, { bigint: true });
  await set(['gone', 'too'], undefined);
  expect((await stat(file, { bigint: true })).mtimeNs).toBe(mtimeNs);
  expect(await readFile(file, 'utf8')).toBe('{ }');
});

test.each([
  ['{\n  "env": {\n    "A": "1"\n  \n  "b": 1\n}', /settings\.json:5 is not valid JSON \(comma expected\)/],
  ['{\n  "env": {\n    "A": "1"\n', /settings\.json:4 is not valid JSON \(close brace expected\)/],
  ['[\n]', /settings\.json:1 is not a JSON object/],
  ['"a"', /is not a JSON object/],
  ['\0\0\0', /is not valid JSON/],
  ['{"theme":"a",\n"theme":"b"}', /settings\.json:1 cannot be changed at "theme": the key may be duplicated/],
  ['{"a":'.repeat(200_000), /nested too deeply|not valid JSON/],
])('a file that cannot be edited safely is refused with the line: %j', async (text, why) => {
  await writeFile(file, text);
  await expect(set(['theme'], 'dark')).rejects.toThrow(why);
  await expect(set(['theme'], 'dark')).rejects.toThrow('Correct it and try again; nothing was changed.');
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('invalid UTF-8 is not written back changed, and a key below a list is refused', async () => {
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xe4]), Buffer.from('"}')]);
  await writeFile(file, bytes);
  await expect(set(['theme'], 'dark')).rejects.toThrow('is not encoded in UTF-8');
  expect((await readFile(file)).equals(bytes)).toBe(true);
  await writeFile(file, '{\n"permissions": []}');
  await expect(set(['permissions', 'allow'], [])).rejects.toThrow(/:2 has a "permissions" that is not an object/);
});

test.each(['new/settings.json', 'old.json'])('%s is private afterwards', async (name) => {
  await writeFile(join(folder, 'old.json'), '{}', { mode: 0o644 });
  file = join(folder, name);
  await set(['a'], 1);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a symlink of the user stays a symlink; where others may have created it, it is refused', async () => {
  const dotfile = join(folder, 'dotfiles', 'settings.json');
  await mkdir(join(folder, 'dotfiles'));
  await writeFile(dotfile, '{}');
  await symlink(dotfile, file);
  await set(['theme'], 'dark');
  expect((await lstat(file)).isSymbolicLink()).toBe(true);
  expect(JSON.parse(await readFile(dotfile, 'utf8'))).toEqual({ theme: 'dark' });
  await expect(
    editJsonc(file, () => [{ path: ['theme'], value: 'light' }], { links: 'refuse', locks: createFileLocks(folder) }),
  ).rejects.toThrow('is a symbolic link');
  await rm(dotfile);
  await set(['theme'], 'light');
  expect(JSON.parse(await readFile(dotfile, 'utf8'))).toEqual({ theme: 'light' });
});

longTest('the edits of eight processes are all kept', async () => {
  await writeFile(file, '{\n  // mine\n}\n');
  const lib = join(import.meta.dirname, '../../../src/lib/files');
  const script = `
    const [file, home, who] = process.argv.slice(-3);
    const { editJsonc } = await import(${JSON.stringify(join(lib, 'edit-jsonc.ts'))});
    const { createFileLocks } = await import(${JSON.stringify(join(lib, 'file-locks.ts'))});
    const options = { links: 'follow', locks: createFileLocks(home) };
    for (let at = 0; at < 5; at += 1) await editJsonc(file, () => [{ path: ['env', who + at], value: 'x' }], options);
  `;
  const home = createTempFolder();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  await Promise.all(names.map((who) => promisify(execFile)(process.execPath, ['-e', script, file, home, who])));
  const text = await readFile(file, 'utf8');
  expect(text).toContain('// mine');
  expect(text.match(/": "x"/g)).toHaveLength(40);
  expect(await readdir(folder)).toEqual(['settings.json']);
});
