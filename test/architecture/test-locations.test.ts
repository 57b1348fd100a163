import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Folders whose files are tested as a whole elsewhere, with the suite that covers them. */
const SUITES: Readonly<Record<string, string>> = {
  'agent/replay': 'e2e/sessions.test.ts',
  'app/replay': 'e2e/sessions.test.ts',
  'engine/recoveries': 'termination.test.ts',
  'fleet/cli': 'e2e/fleet.test.ts',
  'permissions/shell/parse': 'permissions/shell/exact/analyze-script-exactly.test.ts',
  'ui/linear': 'e2e/terminal-lines.test.ts',
};

/** Suites that belong to no single source folder. */
const CROSS_CUTTING = ['architecture', 'bootstrap', 'e2e', 'golden', 'model/behaviour', 'support-tests'];

test('a source file with logic has a test at its path, in its folder, or in the suite that covers the folder', () => {
  const uncovered = list('src').filter((path) => {
    const folder = dirname(path);
    const mirrored = join('test', path.slice('src/'.length)).replace(/\.tsx?$/, '');
    if (
      !hasLogic(path) ||
      existsSync(join(root, `${mirrored}.test.ts`)) ||
      existsSync(join(root, `${mirrored}.test.tsx`))
    )
      return false;
    const tests = readFolder(join('test', folder.slice('src/'.length)));
    return !tests.some((name) => /\.test\.tsx?$/.test(name)) && SUITES[folder.slice('src/'.length)] === undefined;
  });
  expect([...new Set(uncovered.map((path) => dirname(path).slice('src/'.length)))]).toEqual([]);
});

test('the suites listed for folders exist, and so do the folders', () => {
  for (const [folder, suite] of Object.entries(SUITES)) {
    expect([folder, existsSync(join(root, 'src', folder))]).toEqual([folder, true]);
    expect([suite, existsSync(join(root, 'test', suite))]).toEqual([suite, true]);
  }
});

test('a test is in the folder that mirrors its subject, or among the suites for the whole program', () => {
  const misplaced = list('test').filter((path) => {
    if (!/\.test\.tsx?$/.test(path)) return false;
    const folder = dirname(path).slice('test/'.length);
    return !CROSS_CUTTING.some((suite) => folder.startsWith(suite)) && !existsSync(join(root, 'src', folder));
  });
  expect(misplaced).toEqual([]);
});

test('tests create temporary folders with `createTempFolder`, which removes them', () => {
  const names = ['temp-folder.ts', 'global-setup.ts', 'postgres.ts', 'conformance-client.ts'];
  const helpers = names.map((name) => `test/support/${name}`);
  const own = list('test').filter((path) => /\bmkdtemp(?:Sync)?\(/.test(readFileSync(join(root, path), 'utf8')));
  expect(own.toSorted()).toEqual(helpers.toSorted());
});

test('paths of files do not come from the `pathname` of a URL, which escapes blanks and umlauts', () => {
  const files = [...list('src'), ...list('test')];
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
