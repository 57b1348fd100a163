import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { violations } from './violations.ts';

const src = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'src');

test('the source tree keeps its layers, sizes and naming rules', () => {
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
  const files = paths.filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.\w+\.ts$/.test(path));
  const sources = Object.fromEntries(files.map((path) => [path, readFileSync(join(src, path), 'utf8')]));
  expect(violations(sources)).toEqual([]);
});
