import { join } from 'node:path';
import type { Policy } from '../../contracts/permission.ts';
import { once } from '../../lib/once.ts';
import { familyOf } from '../rules/families.ts';
import { foundAt, scanFolder } from './folder-scan.ts';
import type { PermissionFs } from './fs.ts';
import { searchGlobs } from './path-rule.ts';
import type { ResolvedPath } from './paths.ts';
import { secretPlaces } from './secrets.ts';

/** Folders of what others wrote, in which files have many names and none is a secret of ours. */
export const FETCHED: ReadonlySet<string> = new Set([
  'node_modules',
  '.pnpm-store',
  '.yarn',
  'vendor',
  '.venv',
  'target',
  '.git',
  '.hg',
  '.jj',
]);

/** The other names of a file that rules or the names of secrets may be about, and whether all were looked for. */
export type OtherNames = { readonly names: readonly ResolvedPath[]; readonly search: 'whole' | 'short' };

const NONE: OtherNames = { names: [], search: 'whole' };

/**
 * A file with several names is what any of them says. They are looked for in the workspace, at the places of secrets, and
 * where rules name one; only when somebody comes by a file of that kind.
 */
export function otherNames(
  policy: Policy,
  roots: readonly string[],
  fs: PermissionFs,
): (path: ResolvedPath) => OtherNames {
  const shared = once(() => sharedFiles(policy, roots, fs));
  return ({ inode, real }) => {
    if (inode === undefined) return NONE;
    const { byId, search } = shared();
    const names = (byId.get(inode) ?? []).filter((name) => name.real !== real);
    return { names, search: real.split('/').some((part) => FETCHED.has(part)) ? 'whole' : search };
  };
}

function sharedFiles(policy: Policy, roots: readonly string[], fs: PermissionFs) {
  const byId = new Map<string, ResolvedPath[]>();
  const add = (path: string, inode: string | undefined) => {
    if (inode !== undefined) byId.set(inode, [...(byId.get(inode) ?? []), foundAt(path, 'file', inode)]);
    return false;
  };
  const within = (folder: string) => scanFolder(fs, folder, ({ path, inode }) => add(path, inode), FETCHED);
  const isCut = roots.map(within).includes('too many');
  for (const place of [...secretPlaces(policy.home), ...ruledPlaces(policy)]) {
    const { kind, inode } = fs.lstat(place) ?? {};
    if (kind === 'file') add(place, inode);
    if (kind === 'directory')
      for (const name of fs.readdir(place)) add(join(place, name), fs.lstat(join(place, name))?.inode);
  }
  return { byId, search: isCut ? ('short' as const) : ('whole' as const) };
}

/** The places that rules spell out. */
function ruledPlaces(policy: Policy): readonly string[] {
  return policy.rules
    .filter(({ behavior, problem, specifier, tool }) => {
      const family = familyOf(tool);
      const isAboutFiles = family === 'read' || family === 'edit';
      return behavior !== 'allow' && problem === undefined && specifier !== undefined && isAboutFiles;
    })
    .flatMap((rule) => searchGlobs(rule, policy))
    .map((glob) => glob.replace(/(?:\/|\/\*\*)+$/, ''))
    .filter((glob) => glob.startsWith('/') && !/[*?[{\\]/.test(glob));
}
