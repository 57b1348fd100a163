import { expect, test } from 'vitest';
import { packageOf, readSources, readTests } from './sources.ts';
import { nodesOf } from './syntax.ts';
import { RULES } from './violations.ts';
import { testNameViolations } from './wording.ts';

const sources = readSources();
const paths = Object.keys(sources);
const folderOf = (path: string) => (path.startsWith('packages/') ? packageOf(path) : (path.split('/')[0] ?? ''));

// The rules read the trees that are parsed here.
test.each([...new Set(paths.map(folderOf))])('%s can be parsed', (folder) => {
  const files = paths.filter((path) => folderOf(path) === folder);
  expect(files.filter((path) => nodesOf(path, sources[path] ?? '')[0]?.type === 'Program')).toEqual(files);
});

test.each(Object.entries(RULES))('%s', (_fact, violationsOf) => {
  expect(violationsOf(sources)).toEqual([]);
});

test('names in tests have no word of the stop list', () => {
  const tests = Object.entries(readTests()).filter(([path]) => !path.startsWith('fixtures/'));
  expect(testNameViolations(Object.fromEntries(tests))).toEqual([]);
});
