import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLinesInRange } from '../../../src/lib/files/read-lines.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

async function linesOf(text: string): Promise<readonly string[]> {
  const dir = createTempFolder();
  const path = join(dir, 'lines.jsonl');
  await writeFile(path, text);
  const file = await open(path, 'r');
  const lines: string[] = [];
  await readLinesInRange(file, { from: 0, to: Buffer.byteLength(text) }, (line) => void lines.push(line.toString()));
  await file.close();
  return lines;
}

longTest('pages of NUL bytes are replaced by one, wherever they are', async () => {
  const nuls = '\0'.repeat(9_000_000);
  expect(await linesOf(`one\n${nuls}two\nthr${nuls}ee\n\0\n${nuls}`)).toEqual(['one', '\0two', 'thr\0ee', '\0', '\0']);
});

test('everything else is passed on unchanged', async () => {
  const long = 'ü'.repeat(3_000_000);
  expect((await linesOf(`a\r\n\n${long}\nlast`)).map((line) => line.length)).toEqual([2, 0, long.length, 4]);
});
