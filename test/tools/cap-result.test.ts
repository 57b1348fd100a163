import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createResultCap } from '../../src/tools/cap-result.ts';
import { createTempFolder } from '../support/temp-folder.ts';

let root: string;
beforeEach(async () => {
  root = createTempFolder();
});

const cap = (content: string, maxChars = 30_000, callId = 'call_1') =>
  createResultCap(() => join(root, 'results'))({ callId, tool: 'X' }, { content }, maxChars);

test('a result within its limit is unchanged, and no file is created', async () => {
  expect(await cap('small')).toEqual({ content: 'small' });
  expect(await readdir(root)).toEqual([]);
});

test('a larger one is stored privately in full, and shown by head and tail of whole lines', async () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join('\n');
  const { content } = await cap(text);
  const path = join(root, 'results', 'call_1.txt');
  expect(await readFile(path, 'utf8')).toBe(text);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(root, 'results'))).mode & 0o777).toBe(0o700);
  expect(content).toContain(path);
  expect(content).toMatch(/\]\nline 0\nline 1\n/);
  expect(content).toMatch(/\nline \d+\n… \d+ characters left out here …\nline \d+\n/);
  expect(content).toMatch(/\nline 19999$/);
  expect(String(content).length).toBeLessThan(12_500);
});

test('keys are removed from the stored result', async () => {
  const removeKeys = (text: string) => text.replace('secret', '[key]');
  const content = `secret${'x'.repeat(100)}`;
  await createResultCap(() => root, removeKeys)({ callId: 'call_1', tool: 'X' }, { content }, 50);
  expect(await readFile(join(root, 'call_1.txt'), 'utf8')).toBe(`[key]${'x'.repeat(100)}`);
});

test.each([0, 1, 2])('no character is split (%i)', async (shift) => {
  const { content } = await cap(`${'a'.repeat(shift)}${'😀'.repeat(20_000)}`);
  expect(String(content).isWellFormed()).toBe(true);
});

test('images stay beside the shortened text', async () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } } as const;
  const capped = await createResultCap(() => root)(
    { callId: 'call_1', tool: 'X' },
    { content: [{ type: 'text', text: 'x'.repeat(40_000) }, image] },
    30_000,
  );
  expect(capped.content).toEqual([{ type: 'text', text: expect.stringContaining('40000 characters') }, image]);
});

test('an id of the provider cannot choose a path outside the folder', async () => {
  await cap('x'.repeat(100), 50, '../../evil');
  expect(await readdir(join(root, 'results'))).toEqual(['______evil.txt']);
});

test('an unwritable folder is reported, and the preview is returned anyway', async () => {
  await writeFile(join(root, 'results'), 'a file in the way');
  const { content } = await cap('x'.repeat(40_000));
  expect(content).toContain('could not be saved');
  expect(String(content).length).toBeGreaterThan(10_000);
});
