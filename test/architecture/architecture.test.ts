import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodesOf } from './syntax.ts';
import { RULES, type Sources } from './violations.ts';
import { testNameViolations } from './wording.ts';

/** Reads the sources below a folder of the repository. */
function readSources(folder: string): Sources {
  const root = join(import.meta.dirname, '../..', folder);
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.\w+\.ts$/.test(path));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

const sources = readSources('src');
const paths = Object.keys(sources);

// The rules read the trees that are parsed here.
test.each([...new Set(paths.map((path) => path.split('/')[0] ?? ''))])('src/%s can be parsed', (folder) => {
  const files = paths.filter((path) => path.startsWith(`${folder}/`));
  expect(files.filter((path) => nodesOf(path, sources[path] ?? '')[0]?.type === 'Program')).toEqual(files);
});

test.each(Object.entries(RULES))('%s', (_fact, violationsOf) => {
  expect(violationsOf(sources)).toEqual([]);
});

test('names in tests have no word of the stop list', () => {
  const tests = Object.entries(readSources('test')).filter(([path]) => !path.startsWith('fixtures/'));
  expect(testNameViolations(Object.fromEntries(tests))).toEqual([]);
});
