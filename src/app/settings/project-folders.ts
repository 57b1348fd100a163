import { dirname } from 'node:path';
import { repositoryRoot } from '../../git/repository-root.ts';
import { isInside } from '../../permissions/paths/paths.ts';

/** Where instructions of a folder may lie: in it, and in the repository around it unless that holds a whole home. */
export function instructionBounds(cwd: string, root: string, home: string): readonly string[] {
  return isInside(home, root) ? [cwd] : [cwd, root];
}

/** The folders whose settings and extensions count: the working folder, then those around it up to the top of its repository. */
export function projectFolders(cwd: string, home: string): readonly [string, ...string[]] {
  const [, root = cwd] = instructionBounds(cwd, repositoryRoot(cwd), home);
  const folders: [string, ...string[]] = [cwd];
  for (let at = cwd; at !== root && at !== dirname(at); ) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}
