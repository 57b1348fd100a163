import { basename, dirname, join } from 'node:path/posix';
import type { Policy } from '../../contracts/permission.ts';
import type { PermissionFs } from '../permission-fs.ts';
import { isPathInside } from '../resolve-path.ts';
import { listRuleGlobs } from '../rules/path-rules.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { createGlobSegmentTest, scanFolder } from './folder-scan.ts';
import { listSecretGlobs, listSecretPaths } from './secret-paths.ts';

/** Returns globs that recursive searches must exclude: paths with a deny or ask rule, and secret files. */
export function listSearchExclusions(policy: Policy): readonly string[] {
  const readRules = policy.rules.filter(
    ({ behavior, tool, specifier, problem }) =>
      behavior !== 'allow' && problem === undefined && specifier !== undefined && getRuleFamily(tool) === 'read',
  );
  return [
    ...new Set([
      ...readRules.flatMap((rule) => listRuleGlobs(rule, policy)),
      ...listSecretGlobs(),
      ...listSecretPaths(policy.home),
      ...(policy.taintedPaths ?? []),
    ]),
  ];
}

/** Ignore files of search tools; lines with `!` include names again. */
export const IGNORE_FILES = ['.gitignore', '.ignore', '.rgignore'];

/** Creates the test for names that an ignore file in or above a searched folder could include again (`!.env`). */
export function createReincludedTest(
  fs: PermissionFs,
  folder: string,
  roots: readonly string[],
): (name: string) => boolean {
  const ignoreFiles: string[] = [];
  const scan = scanFolder(fs, folder, ({ path, kind }) => {
    if (kind !== 'directory' && IGNORE_FILES.includes(basename(path))) ignoreFiles.push(path);
    return false;
  });
  if (scan === 'too many') return () => true;
  const root = roots.find((candidate) => isPathInside(folder, candidate)) ?? folder;
  for (let above = folder; isPathInside(above, root); above = dirname(above)) {
    ignoreFiles.push(...IGNORE_FILES.map((name) => join(above, name)), join(above, '.git/info/exclude'));
    if (above === dirname(above)) break;
  }
  const negations = ignoreFiles.flatMap((file) => readLines(fs, file).filter((line) => /^\s*!/.test(line)));
  const names = negations
    .flatMap((line) =>
      line
        .trim()
        .slice(1)
        .replace(/^(?:\*\*\/)+/, '')
        .split('/'),
    )
    .filter((name) => name !== '');
  const tests = names.map((name) => (name.includes('\\') ? () => true : createGlobSegmentTest(name.trim())));
  return (name) => tests.some((matches) => matches(name));
}

function readLines(fs: PermissionFs, file: string): readonly string[] {
  const kind = fs.lstat(file)?.kind;
  if (kind === undefined) return [];
  // The target of a link is not read, so it may include anything.
  return kind === 'file' ? (fs.readFile(file) ?? '').split('\n') : ['!*'];
}
