import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKnownKeys } from '../../../src/lib/text/known-keys.ts';
import { createOutputBuffer } from '../../../src/tools/bash/output-buffer.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const folder = createTempFolder();
const knownKeys = createKnownKeys();
knownKeys.add('MY_KEY', 'sk-abcdefghijklmnop');

/** The text of an output that arrives in chunks of some bytes. */
function textOf(output: string, chunkBytes: number): string {
  const filePath = join(folder, 'out.txt');
  const buffer = createOutputBuffer({
    keepBytes: 300,
    headBytes: 100,
    tailBytes: 100,
    fileBytes: 1_000_000,
    filePath,
    removeKeys: knownKeys.remove,
  });
  const bytes = Buffer.from(output);
  for (let at = 0; at < bytes.length; at += chunkBytes) buffer.push(bytes.subarray(at, at + chunkBytes));
  const text = buffer.text().replace(filePath, 'FILE');
  buffer.close();
  return text;
}

const lines = (count: number, change: (line: string, number: number) => string = (line) => line) =>
  Array.from({ length: count }, (_, index) => `${change(`line ${index + 1}`, index + 1)}\n`).join('');

test.each([1, 7, 100, 100_000])('whole lines are omitted, by number, in chunks of %i bytes', (chunkBytes) => {
  const text = textOf(lines(100), chunkBytes);
  expect(text).toMatch(/line 13\n… lines 14 to 88 \(601 B\) left out here; the whole is in FILE …\nline 89\n/);
  expect(text.endsWith('line 100\n')).toBe(true);
});

test('up to ten omitted lines that look like failures are shown with their numbers', () => {
  const output = lines(100, (line, number) => {
    if (number === 5 || number === 97) return 'Error: shown anyway';
    if (number === 20) return '0 errors, 0 failed';
    return number >= 30 && number < 45 ? `${line} FAILED` : line;
  });
  const text = textOf(output, 64);
  expect(text.match(/FAILED/g)).toHaveLength(10);
  expect(text).toContain('Lines in between that look like failures:\n30: line 30 FAILED\n31: line 31 FAILED\n');
  expect(text).not.toContain('0 errors');
  expect(text.match(/shown anyway/g)).toHaveLength(2);
});

test('a line longer than the limit is cut by bytes', () => {
  expect(textOf('x'.repeat(1000), 64)).toMatch(/^x{100}\n… 800 B left out here; the whole is in FILE …\nx{100}$/);
});

test('the file has the whole output', () => {
  const output = lines(200);
  textOf(output, 50);
  expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe(output);
});

test.each([1, 7, 50, 100_000])('the file has no key of this process, in chunks of %i bytes', (chunkBytes) => {
  const output = `${lines(100)}ü key=sk-abcdefghijklmnop;\n${lines(100)}sk-abcdefghijklmnop`;
  textOf(output, chunkBytes);
  const stored = readFileSync(join(folder, 'out.txt'), 'utf8');
  expect(stored).toBe(output.replaceAll('sk-abcdefghijklmnop', '[key of MY_KEY left out]'));
});
