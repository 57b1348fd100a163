import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OWED } from './architecture-owed.ts';
import { violations } from './architecture-rules.ts';

const src = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src');

test('the source tree keeps its layers, sizes and names', () => {
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
  const files = paths.filter((path) => /\.[cm]?[jt]sx?$/.test(path));
  const sources = Object.fromEntries(files.map((path) => [path, readFileSync(join(src, path), 'utf8')]));
  const found = violations(sources);
  expect(found.filter((one) => !OWED.some((known) => one.startsWith(known)))).toEqual([]);
  expect(OWED.filter((known) => !found.some((one) => one.startsWith(known)))).toEqual([]);
});
