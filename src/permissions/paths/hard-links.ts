import { join } from 'node:path/posix';
import type { Policy } from '../../contracts/permission.ts';
import { createLazy } from '../../lib/memoize.ts';
import { splitWords } from '../../lib/text/lines.ts';
import type { PermissionFs } from '../permission-fs.ts';
import type { ResolvedPath } from '../resolve-path.ts';
import { listRuleGlobs } from '../rules/path-rules.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { createScannedPath, scanFolder } from './folder-scan.ts';
import { listSecretPaths } from './secret-paths.ts';

/** Folders of dependencies and repositories, where hard links are common and lead to no secrets. */
export const DEPENDENCY_FOLDERS: ReadonlySet<string> = new Set(
  splitWords('node_modules .pnpm-store .yarn vendor .venv target .git .hg .jj'),
);

/** Hard links of a file that rules or secret names may match; `short` if the search was cut off. */
export type HardLinkSearchResult = { readonly paths: readonly ResolvedPath[]; readonly search: 'whole' | 'short' };

const NONE: HardLinkSearchResult = { paths: [], search: 'whole' };

/** Creates the lookup of hard links, which searches only once a file with several links comes up. */
export function createHardLinkLookup(
  policy: Policy,
  roots: readonly string[],
  fs: PermissionFs,
): (path: ResolvedPath) => HardLinkSearchResult {
  const loadIndex = createLazy(() => indexHardLinks(policy, roots, fs));
  return ({ inode, real }) => {
    if (inode === undefined) return NONE;
    const { byInode, search } = loadIndex();
    const paths = (byInode.get(inode) ?? []).filter((name) => name.real !== real);
    return { paths, search: real.split('/').some((part) => DEPENDENCY_FOLDERS.has(part)) ? 'whole' : search };
  };
}

function indexHardLinks(policy: Policy, roots: readonly string[], fs: PermissionFs) {
  const byInode = new Map<string, ResolvedPath[]>();
  const add = (path: string, inode: string | undefined) => {
    if (inode !== undefined)
      byInode.set(inode, [...(byInode.get(inode) ?? []), createScannedPath(path, 'file', inode)]);
    return false;
  };
  const scan = (folder: string) => scanFolder(fs, folder, ({ path, inode }) => add(path, inode), DEPENDENCY_FOLDERS);
  const isTruncated = roots.map(scan).includes('too many');
  for (const path of [...listSecretPaths(policy.home), ...listRulePaths(policy)]) {
    const { kind, inode } = fs.lstat(path) ?? {};
    if (kind === 'file') add(path, inode);
    if (kind === 'directory')
      for (const name of fs.readdir(path)) add(join(path, name), fs.lstat(join(path, name))?.inode);
  }
  return { byInode, search: isTruncated ? ('short' as const) : ('whole' as const) };
}

/** Returns the paths that deny and ask rules spell out. */
function listRulePaths(policy: Policy): readonly string[] {
  return policy.rules
    .filter(({ behavior, problem, specifier, tool }) => {
      const family = getRuleFamily(tool);
      const isPathRule = family === 'read' || family === 'edit';
      return behavior !== 'allow' && problem === undefined && specifier !== undefined && isPathRule;
    })
    .flatMap((rule) => listRuleGlobs(rule, policy))
    .map((glob) => glob.replace(/(?<!\/|\/\*\*)(?:\/|\/\*\*)+$/, ''))
    .filter((glob) => glob.startsWith('/') && !/[*?[{\\]/.test(glob));
}
