import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { DAMAGED_FILES_FOLDER, openJsonStore } from '../../../src/lib/files/json-store.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const schema = z.object({ things: z.record(z.string(), z.object({ size: z.number() })).default({}) });

let folder = '';
let file = '';
beforeEach(async () => {
  folder = createTempFolder();
  file = join(folder, 'things.json');
});

const open = () =>
  openJsonStore(file, { empty: { things: {} }, entryDepth: 2, parse: (json) => schema.safeParse(json) });
const keep = (name: string, size: number) => open().change(() => [{ path: ['things', name], value: { size } }]);
const text = () => readFile(file, 'utf8');
const asideTexts = async () => {
  const names = await readdir(join(folder, DAMAGED_FILES_FOLDER)).catch(() => []);
  return Promise.all(names.map((name) => readFile(join(folder, DAMAGED_FILES_FOLDER, name), 'utf8')));
};

test('a missing file has default content, and the first change creates it, private', async () => {
  expect(await open().read()).toEqual({ value: { things: {} }, isRefused: false });
  expect(await keep('a', 1)).toBeUndefined();
  expect(JSON.parse(await text())).toEqual({ things: { a: { size: 1 } } });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['things.json']);
});

test('unknown fields are kept', async () => {
  await writeFile(file, '{"v":1,"later":[1],"things":{"a":{"size":1,"colour":"red"},"b":{"size":2}}}');
  await keep('b', 3);
  expect(JSON.parse(await text())).toEqual({
    v: 1,
    later: [1],
    things: { a: { size: 1, colour: 'red' }, b: { size: 3 } },
  });
});

test('a byte order mark at the start is accepted', async () => {
  await writeFile(file, '\uFEFF{"things":{"a":{"size":1}}}');
  expect(await open().read()).toEqual({ value: { things: { a: { size: 1 } } }, isRefused: false });
  await keep('b', 2);
  expect(JSON.parse(await text())).toEqual({ things: { a: { size: 1 }, b: { size: 2 } } });
  expect(await asideTexts()).toEqual([]);
});

test.each([
  ['torn', '{"things":{"a":{"size":1}'],
  ['empty', ''],
  ['full of NULs', '\0\0\0\0\0\0'],
  ['an array', '[{"a":{"size":1}}]'],
  ['a text', '"things"'],
  ['a list in the place of its entries', '{"v":"one","things":[]}'],
])('a file that is %s is reported, and set aside before it is written', async (_, damaged) => {
  await writeFile(file, damaged);
  const { value, problem, isRefused } = await open().read();
  expect([value, isRefused]).toEqual([{ things: {} }, false]);
  expect(problem).toContain(`${file} is damaged`);
  expect(await text()).toBe(damaged);
  expect(await keep('b', 2)).toContain(join(folder, DAMAGED_FILES_FOLDER, 'things.json.20'));
  expect((await open().read()).value).toEqual({ things: { b: { size: 2 } } });
  expect(await asideTexts()).toEqual([damaged]);
});

test('a damaged entry is reported by name, the others are used and kept', async () => {
  const damaged = '{"things":{"a":{"size":1},"b":{"size":"big"},"c":7},"later":1}';
  await writeFile(file, damaged);
  expect(await open().read()).toMatchObject({
    value: { things: { a: { size: 1 } } },
    problem: `${file} is damaged, so these entries are ignored: things b, things c.`,
  });
  await keep('d', 4);
  expect(JSON.parse(await text())).toEqual({ things: { a: { size: 1 }, d: { size: 4 } }, later: 1 });
  expect(await asideTexts()).toEqual([damaged]);
  expect((await open().read()).problem).toBeUndefined();
});

test('a file of a newer version and a folder in its place are not changed', async () => {
  const newer = '{"v":2,"things":{"a":{"size":1}}}';
  await writeFile(file, newer);
  expect(await open().read()).toMatchObject({ value: { things: {} }, isRefused: true });
  await expect(keep('b', 2)).rejects.toThrow('written by a newer version');
  expect(await text()).toBe(newer);
  file = folder;
  expect(await open().read()).toMatchObject({ isRefused: true });
});

test.skipIf(process.getuid?.() === 0)('an unreadable file is not written either', async () => {
  await writeFile(file, '{"things":{}}');
  await chmod(file, 0o200);
  await expect(keep('b', 2)).rejects.toThrow('cannot be read');
  await chmod(file, 0o600);
  expect(await text()).toBe('{"things":{}}');
});

longTest('the changes of eight processes are all kept', async () => {
  const module = join(import.meta.dirname, '../../../src/lib/files/json-store.ts');
  const script = `
    const [file, who] = process.argv.slice(-2);
    const { openJsonStore } = await import(${JSON.stringify(module)});
    const store = openJsonStore(file, { empty: {}, entryDepth: 1, parse: (data) => ({ success: true, data }) });
    for (let at = 0; at < 5; at += 1) await store.change(() => [{ path: ['things', who + at], value: { size: at } }]);
  `;
  const runs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((who) =>
    promisify(execFile)(process.execPath, ['-e', script, file, who]),
  );
  await Promise.all(runs);
  expect(Object.keys((await open().read()).value.things)).toHaveLength(40);
  expect(await readdir(folder)).toEqual(['things.json']);
});

test('simultaneous changes are all kept', async () => {
  await Promise.all(Array.from({ length: 24 }, (_, at) => keep(`thing ${at}`, at)));
  expect(Object.keys((await open().read()).value.things)).toHaveLength(24);
  expect(await readdir(folder)).toEqual(['things.json']);
});
