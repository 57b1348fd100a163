import * as fs from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tool } from '../../src/contracts/tool.ts';
import { createEditTool } from '../../src/tools/edit/edit.ts';
import { createReadTool } from '../../src/tools/read/read.ts';
import { createWriteTool } from '../../src/tools/write.ts';
import { callTool, createWorkbench, textOf } from './file-workbench.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
});
afterAll(() => bench.remove());

const write = (file_path: string, content: string) => callTool(createWriteTool(bench), { file_path, content }, bench);
const read = (file_path: string) => callTool(createReadTool(bench), { file_path }, bench);

test('a new file is created with its folders', async () => {
  const outcome = await write('deep/er/a.txt', 'one\ntwo\n');
  expect(textOf(outcome)).toBe(`Created ${bench.at('deep/er/a.txt')} (2 lines).`);
  expect(outcome.structured).toMatchObject({ type: 'create', originalFile: null, content: 'one\ntwo\n' });
  expect(await fs.readFile(bench.at('deep/er/a.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('an existing file must have been read and be unchanged', async () => {
  await fs.writeFile(bench.at('b'), 'old');
  await expect(write('b', 'new')).rejects.toThrow('Read it first');
  await read('b');
  await fs.writeFile(bench.at('b'), 'theirs');
  await expect(write('b', 'new')).rejects.toThrow('changed on disk');
  expect(await fs.readFile(bench.at('b'), 'utf8')).toBe('theirs');
  await read('b');
  expect((await write('b', 'new')).structured).toMatchObject({ type: 'update', originalFile: 'theirs' });
  await write('b', 'newer');
  expect(await fs.readFile(bench.at('b'), 'utf8')).toBe('newer');
});

test('encoding, byte order mark and CRLF of the old file are kept', async () => {
  await fs.writeFile(bench.at('c'), Buffer.from('\ufeffa\r\nb\r\n', 'utf16le'));
  await read('c');
  expect(textOf(await write('c', 'x\ny\nz\n'))).toContain('CRLF line endings were kept');
  expect(await fs.readFile(bench.at('c'))).toEqual(Buffer.from('\ufeffx\r\ny\r\nz\r\n', 'utf16le'));
});

test('a Latin-1 file becomes UTF-8 if necessary, which is reported', async () => {
  await fs.writeFile(bench.at('d'), Buffer.from('é', 'latin1'));
  await read('d');
  expect(textOf(await write('d', '→'))).toContain('It is UTF-8 now');
  expect(await fs.readFile(bench.at('d'), 'utf8')).toBe('→');
});

test.each([
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'read-only'],
  ['EACCES', 'no permission'],
])('%s is reported and the old content is kept', async (code, words) => {
  await fs.writeFile(bench.at('e'), 'old');
  await read('e');
  const broken = async () => {
    throw Object.assign(new Error('injected'), { code });
  };
  const tool = createWriteTool({ ...bench, fs: { ...fs, open: broken } });
  await expect(callTool(tool, { file_path: 'e', content: 'new' }, bench)).rejects.toThrow(words);
  expect(await fs.readFile(bench.at('e'), 'utf8')).toBe('old');
});

test('a result says if the file was overwritten, not replaced by a new one', async () => {
  await fs.writeFile(bench.at('mounted'), 'old');
  await read('mounted');
  const busy = async () => {
    throw Object.assign(new Error('injected'), { code: 'EBUSY' });
  };
  const change = (tool: Tool, fields: object) => callTool(tool, { file_path: 'mounted', ...fields }, bench);
  const deps = { ...bench, fs: { ...fs, rename: busy } };
  const results = [
    await change(createWriteTool(deps), { content: 'new' }),
    await change(createEditTool(deps), { old_string: 'new', new_string: 'newer' }),
  ];
  const note = 'It was overwritten in place: its folder or owner allows no new file there.';
  expect(results.map(textOf)).toEqual([
    `Replaced ${bench.at('mounted')} (1 line). ${note}`,
    `Replaced 1 occurrence in ${bench.at('mounted')} (line 1). ${note}`,
  ]);
  await fs.link(bench.at('mounted'), bench.at('other-name'));
  expect(textOf(await change(createWriteTool(bench), { content: 'newest' }))).toContain('its other names have the new');
  expect(await fs.readFile(bench.at('other-name'), 'utf8')).toBe('newest');
});

test('a folder and a FIFO are not written, and a file in the path is reported', async () => {
  await fs.mkdir(bench.at('dir'));
  await fs.writeFile(bench.at('plain'), '');
  await expect(write('dir', 'x')).rejects.toThrow('is a directory');
  await expect(write('/dev/null', 'x')).rejects.toThrow('device');
  await expect(write('plain/inside', 'x')).rejects.toThrow('a parent of it is a file');
});

test('the checkpoint is created before the bytes change', async () => {
  await fs.writeFile(bench.at('f'), 'old');
  await read('f');
  const kept: string[] = [];
  const beforeChange = async (file: string) => {
    kept.push(`${file}: ${await fs.readFile(file, 'utf8')}`);
  };
  await callTool(createWriteTool({ ...bench, beforeChange }), { file_path: 'f', content: 'new' }, bench);
  expect(kept).toEqual([`${bench.at('f')}: old`]);
});

test('nothing is written after an abort', async () => {
  const call = callTool(
    createWriteTool(bench),
    { file_path: 'g', content: 'x' },
    { cwd: bench.cwd, signal: AbortSignal.abort() },
  );
  await expect(call).rejects.toThrow();
  await expect(fs.stat(bench.at('g'))).rejects.toThrow('ENOENT');
});
