import { isAbsolute } from 'node:path';
import type { Policy } from '../../contracts/permission.ts';
import type { PermissionFs } from './fs.ts';
import { isInside, resolvePath } from './paths.ts';

/** The folders of PATH inside of the workspace, where they really are, and those outside. What depends on the working folder is inside. */
export function workspacePrograms(
  { searchPath, workspaceRoots, cwd, home }: Policy,
  fs: PermissionFs,
  cwds: readonly string[],
): { readonly inside: readonly string[]; readonly outside: readonly string[] } {
  const real = (from: string, folder: string) => resolvePath(fs, { cwd: from, home }, folder || '.').real;
  const roots = workspaceRoots.map((root) => real(cwd, root));
  const isOurs = (folder: string) =>
    !isAbsolute(folder) || roots.some((root) => isInside(real(cwd, folder), root) || isInside(folder, root));
  return {
    inside: searchPath.filter(isOurs).flatMap((folder) => [...new Set(cwds)].map((from) => real(from, folder))),
    outside: searchPath.filter((folder) => !isOurs(folder)),
  };
}
