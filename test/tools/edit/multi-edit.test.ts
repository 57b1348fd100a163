import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMultiEditTool } from '../../../src/tools/edit/multi-edit.ts';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { callTool, createWorkbench } from '../file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
  await writeFile(bench.at('f'), 'one\r\ntwo\r\n');
  await callTool(createReadTool(bench), { file_path: 'f' }, bench);
});
afterAll(() => bench.remove());

const multiEdit = (edits: readonly (readonly [string, string])[]) =>
  callTool(
    createMultiEditTool(bench),
    { file_path: 'f', edits: edits.map(([old_string, new_string]) => ({ old_string, new_string })) },
    bench,
  );

test('one failing edit undoes all, and is named', async () => {
  await expect(
    multiEdit([
      ['one', 'ONE'],
      ['three', 'x'],
    ]),
  ).rejects.toThrow('Edit 2 of 2 failed, so none was applied');
  expect(await readFile(bench.at('f'), 'utf8')).toBe('one\r\ntwo\r\n');
});

test('each edit works on the result of the one before', async () => {
  await multiEdit([
    ['one', 'three'],
    ['three\ntwo', '3\n2'],
  ]);
  expect(await readFile(bench.at('f'), 'utf8')).toBe('3\r\n2\r\n');
});

test('edits passed as JSON text are parsed', async () => {
  const edits = JSON.stringify([{ old_string: '3', new_string: '4' }]);
  await callTool(createMultiEditTool(bench), { file_path: 'f', edits }, bench);
  expect(await readFile(bench.at('f'), 'utf8')).toBe('4\r\n2\r\n');
});
