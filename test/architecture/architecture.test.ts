import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodesOf } from './syntax.ts';
import { RULES, type Sources } from './violations.ts';

const src = join(import.meta.dirname, '../../src');

const paths = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.\w+\.ts$/.test(path));
const sources: Sources = Object.fromEntries(paths.map((path) => [path, readFileSync(join(src, path), 'utf8')]));

// The rules read the trees that are parsed here.
test.each([...new Set(paths.map((path) => path.split('/')[0] ?? ''))])('src/%s can be parsed', (folder) => {
  const files = paths.filter((path) => path.startsWith(`${folder}/`));
  expect(files.filter((path) => nodesOf(path, sources[path] ?? '')[0]?.type === 'Program')).toEqual(files);
});

test.each(Object.entries(RULES))('%s', (_fact, violationsOf) => {
  expect(violationsOf(sources)).toEqual([]);
});
