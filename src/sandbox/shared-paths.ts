import { dirname, join } from 'node:path';
import { listFolderNames, resolveRealPath } from '../lib/files/read-or-default.ts';
import { isSecretFileArg } from '../permissions/paths/secret-paths.ts';
import { diskFs } from '../permissions/permission-fs.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { findRepositoryTop } from '../permissions/shell/programs/git-repository.ts';
import { getPathKind, resolveAllLinks } from './host-paths.ts';

const MAX_PATHS = 500;

/**
 * Lists what programs of a package of a monorepo read above it: configuration beside the folders up to the top of the
 * repository, installed packages there, and the packages of the repository that links among these lead to.
 */
export function listSharedPaths(cwd: string, home: string): readonly string[] {
  const folder = resolveAllLinks(cwd);
  const top = findRepositoryTop(diskFs, folder);
  if (top === undefined || isPathInside(resolveAllLinks(home), top)) return [];
  const above = listFoldersAbove(folder, top);
  const files = above.flatMap((parent) =>
    listFolderNames(parent)
      .map((name) => join(parent, name))
      .filter((path) => getPathKind(path) === 'file' && !isSecretFileArg(path)),
  );
  const isPackage = (path: string) =>
    path !== top && isPathInside(path, top) && !isPathInside(folder, path) && !path.split('/').includes('.git');
  const modules = [folder, ...above].map((parent) => join(parent, 'node_modules'));
  const linked = modules.flatMap(listPackages).filter((path) => getPathKind(path) === 'link');
  const packages = linked.map(resolveRealPath).filter((path) => isPackage(path) && !isPathInside(path, folder));
  return [...files, ...modules.slice(1), ...new Set(packages)].slice(0, MAX_PATHS);
}

function listFoldersAbove(folder: string, top: string): readonly string[] {
  if (folder === top || !isPathInside(folder, top)) return [];
  const parent = dirname(folder);
  return [parent, ...listFoldersAbove(parent, top)];
}

/** Lists the entries of a folder of packages, and of the scopes in it. */
function listPackages(modules: string): readonly string[] {
  return listFolderNames(modules).flatMap((name) =>
    name.startsWith('@')
      ? listFolderNames(join(modules, name)).map((inner) => join(modules, name, inner))
      : [join(modules, name)],
  );
}
