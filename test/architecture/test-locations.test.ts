import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { PACKAGE_FOLDERS } from './sources.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Folders whose files are tested as a whole elsewhere, with the suite that covers them, by their paths from the root. */
const SUITES: Readonly<Record<string, string>> = {
  'packages/fleet/src/cli': 'packages/fleet/test/e2e/batch.test.ts',
  'src/agent/replay': 'test/e2e/sessions.test.ts',
  'src/app/replay': 'test/e2e/sessions.test.ts',
  'src/engine/recoveries': 'test/termination.test.ts',
  'src/permissions/shell/parse': 'test/permissions/shell/exact/analyze-script-exactly.test.ts',
  'src/ui/linear': 'test/e2e/terminal-lines.test.ts',
};

/** Suites that belong to no single source folder. */
const CROSS_CUTTING = ['architecture', 'bootstrap', 'e2e', 'golden', 'model/behaviour', 'support-tests'];

/** The folders of sources with those of their tests. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['src', 'test'],
  ...PACKAGE_FOLDERS.map((folder): [string, string] => [`${folder}/src`, `${folder}/test`]),
];

test('a source file with logic has a test at its path, in its folder, or in the suite that covers the folder', () => {
  const uncovered = PAIRS.flatMap(([sources, tests]) =>
    list(sources).filter((path) => {
      const mirrored = (of: string) => join(tests, of.slice(sources.length));
      const test = mirrored(path).replace(/\.tsx?$/, '');
      if (!hasLogic(path) || existsSync(join(root, `${test}.test.ts`)) || existsSync(join(root, `${test}.test.tsx`)))
        return false;
      const besides = readFolder(mirrored(dirname(path)));
      return !besides.some((name) => /\.test\.tsx?$/.test(name)) && SUITES[dirname(path)] === undefined;
    }),
  );
  expect([...new Set(uncovered.map((path) => dirname(path)))]).toEqual([]);
});

test('the suites listed for folders exist, and so do the folders', () => {
  for (const [folder, suite] of Object.entries(SUITES)) {
    expect([folder, existsSync(join(root, folder))]).toEqual([folder, true]);
    expect([suite, existsSync(join(root, suite))]).toEqual([suite, true]);
  }
});

test('a test is in the folder that mirrors its subject, or among the suites for the whole program', () => {
  const misplaced = PAIRS.flatMap(([sources, tests]) =>
    list(tests).filter((path) => {
      if (!/\.test\.tsx?$/.test(path)) return false;
      const folder = dirname(path).slice(tests.length + 1);
      return !CROSS_CUTTING.some((suite) => folder.startsWith(suite)) && !existsSync(join(root, sources, folder));
    }),
  );
  expect(misplaced).toEqual([]);
});

test('tests create temporary folders with `createTempFolder`, which removes them', () => {
  const names = ['temp-folder.ts', 'global-setup.ts', 'postgres.ts', 'conformance-client.ts'];
  const helpers = names.map((name) => `test/support/${name}`);
  const own = PAIRS.flatMap(([, tests]) => list(tests)).filter((path) =>
    /\bmkdtemp(?:Sync)?\(/.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(own.toSorted()).toEqual(helpers.toSorted());
});

test('paths of files do not come from the `pathname` of a URL, which escapes blanks and umlauts', () => {
  const files = PAIRS.flat().flatMap(list);
  expect(files.filter((path) => /import\.meta\.url\)\.pathname/.test(readFileSync(join(root, path), 'utf8')))).toEqual(
    [],
  );
});

function list(folder: string): readonly string[] {
  return readFolder(folder, 'all')
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path));
}

function readFolder(folder: string, depth: 'one' | 'all' = 'one'): readonly string[] {
  const path = join(root, folder);
  return existsSync(path) ? readdirSync(path, { recursive: depth === 'all', encoding: 'utf8' }) : [];
}

/** Types, constants and tables need no test of their own. */
function hasLogic(path: string): boolean {
  if (path.startsWith('src/contracts/')) return false;
  return /^export (?:async )?function|^export const \w+ = (?:async )?\(/m.test(readFileSync(join(root, path), 'utf8'));
}
