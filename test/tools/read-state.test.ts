import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEditTool } from '../../src/tools/edit/edit.ts';
import { createReadTool } from '../../src/tools/read/read.ts';
import { createReadState } from '../../src/tools/read-state.ts';
import { callTool, createWorkbench } from './file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

test('a foreign change is told once, our own never', async () => {
  for (const name of ['a', 'b', 'c']) {
    await writeFile(bench.at(name), 'text');
    await callTool(createReadTool(bench), { file_path: name }, bench);
  }
  await callTool(createEditTool(bench), { file_path: 'a', old_string: 'text', new_string: 'own' }, bench);
  await writeFile(bench.at('b'), 'foreign');
  await rm(bench.at('c'));
  expect(await bench.readState.takeDiskChanges()).toEqual([
    { path: bench.at('b'), status: 'changed' },
    { path: bench.at('c'), status: 'deleted' },
  ]);
  expect(await bench.readState.takeDiskChanges()).toEqual([]);
  expect(await bench.readState.changedSince(bench.at('a'))).toBe('unchanged');
  expect(await bench.readState.changedSince(bench.at('never'))).toBe('unread');
  expect(bench.readState.files().map((file) => [file.path, file.changed])).toEqual([
    [bench.at('b'), false],
    [bench.at('c'), false],
    [bench.at('a'), true],
  ]);
});

test('a restored state still guards its files', async () => {
  await writeFile(bench.at('d'), 'text');
  await callTool(createReadTool(bench), { file_path: 'd' }, bench);
  const readState = createReadState();
  readState.restore(JSON.parse(JSON.stringify(bench.readState.snapshot())));
  const edit = createEditTool({ ...bench, readState });
  await callTool(edit, { file_path: 'd', old_string: 'text', new_string: 'next' }, bench);
  await writeFile(bench.at('d'), 'foreign');
  await expect(callTool(edit, { file_path: 'd', old_string: 'f', new_string: 'g' }, bench)).rejects.toThrow(
    'changed on disk',
  );
});
