import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEditTool } from '../../../src/tools/edit/edit.ts';
import { createContentCache, describeUnseenChanges, formatDiskChanges } from '../../../src/tools/files/disk-changes.ts';
import { createFileReadState } from '../../../src/tools/files/file-read-state.ts';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { callTool, createWorkbench } from '../file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

test('changes by others are reported once, own ones never', async () => {
  for (const name of ['a', 'b', 'c']) {
    await writeFile(bench.at(name), 'text');
    await callTool(createReadTool(bench), { file_path: name }, bench);
  }
  await callTool(createEditTool(bench), { file_path: 'a', old_string: 'text', new_string: 'own' }, bench);
  await writeFile(bench.at('b'), 'foreign');
  await rm(bench.at('c'));
  expect(await bench.readState.takeDiskChanges()).toEqual([
    {
      path: bench.at('b'),
      status: 'changed',
      lines: { added: 1, removed: 1 },
      diff: '@@ -1,1 +1,1 @@\n-text\n+foreign',
    },
    { path: bench.at('c'), status: 'deleted' },
  ]);
  expect(await bench.readState.takeDiskChanges()).toEqual([]);
  expect(bench.readState.listFiles().map((file) => [file.path, file.changed])).toEqual([
    [bench.at('c'), false],
    [bench.at('a'), true],
    [bench.at('b'), false],
  ]);
});

test('a change of more than 40 lines has no diff, and the file has to be read again', async () => {
  await writeFile(bench.at('long'), 'x\n');
  await callTool(createReadTool(bench), { file_path: 'long' }, bench);
  await writeFile(bench.at('long'), 'y\n'.repeat(41));
  expect(await bench.readState.takeDiskChanges()).toEqual([
    { path: bench.at('long'), status: 'changed', lines: { added: 41, removed: 1 } },
  ]);
  // The model does not know the new version.
  expect(bench.readState.getSeen(bench.at('long'))?.size).toBe('x\n'.length);
});

test('changes are described once, a file that was deleted again is described again, and only 20 are listed', async () => {
  const readState = createFileReadState();
  const read = createReadTool({ ...bench, readState });
  await writeFile(bench.at('e'), 'one\n');
  await callTool(read, { file_path: 'e' }, bench);
  await writeFile(bench.at('e'), 'two\n');
  expect(await describeUnseenChanges(readState)).toEqual([
    `${bench.at('e')} has changed on disk since you last saw it. Work from how it is now. The difference:\n@@ -1,1 +1,1 @@\n-one\n+two`,
  ]);
  await rm(bench.at('e'));
  const deleted = [`${bench.at('e')} was deleted on disk since you last saw it.`];
  expect(await describeUnseenChanges(readState)).toEqual(deleted);
  expect(await describeUnseenChanges(readState)).toEqual([]);
  await writeFile(bench.at('e'), 'three\n');
  await callTool(read, { file_path: 'e' }, bench);
  await rm(bench.at('e'));
  expect(await describeUnseenChanges(readState)).toEqual(deleted);
  for (let index = 0; index < 22; index += 1) {
    await writeFile(bench.at(`many${index}`), 'x\n');
    await callTool(read, { file_path: `many${index}` }, bench);
    await rm(bench.at(`many${index}`));
  }
  const many = await describeUnseenChanges(readState);
  expect([many.length, many.at(-1)]).toEqual([21, 'And 2 more files you have read were changed.']);
});

test('adopted changes count as known', async () => {
  for (const name of ['kept', 'gone']) {
    await writeFile(bench.at(name), 'one\ntwo\n');
    await callTool(createReadTool(bench), { file_path: name }, bench);
  }
  await writeFile(bench.at('kept'), 'one\n2\n3\n');
  await rm(bench.at('gone'));
  const changes = await bench.readState.adoptDiskChanges();
  expect(formatDiskChanges(changes, bench.cwd)).toBe('[changed: kept +2 −1, gone deleted]');
  expect(await bench.readState.adoptDiskChanges()).toEqual([]);
  const edit = createEditTool(bench);
  await callTool(edit, { file_path: 'kept', old_string: '3', new_string: 'three' }, bench);
  expect(await bench.readState.takeDiskChanges()).toEqual([]);
});

test('a restored state still guards its files', async () => {
  await writeFile(bench.at('d'), 'text');
  await callTool(createReadTool(bench), { file_path: 'd' }, bench);
  const readState = createFileReadState(JSON.parse(JSON.stringify(bench.readState.save())).files);
  const edit = createEditTool({ ...bench, readState });
  await callTool(edit, { file_path: 'd', old_string: 'text', new_string: 'next' }, bench);
  await writeFile(bench.at('d'), 'foreign');
  await expect(callTool(edit, { file_path: 'd', old_string: 'f', new_string: 'g' }, bench)).rejects.toThrow(
    'changed on disk',
  );
});

test('the content cache drops the least recently read contents', () => {
  const cache = createContentCache();
  for (let index = 0; index < 20; index += 1) cache.set(`f${index}`, new Uint8Array(250 * 1024));
  cache.set('large', new Uint8Array(300 * 1024));
  const kept = Array.from({ length: 20 }, (_, index) => index).filter((index) => cache.get(`f${index}`) !== undefined);
  expect(kept).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect(cache.get('large')).toBeUndefined();
});
