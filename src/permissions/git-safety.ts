import { homedir } from 'node:os';
import { toPosixPath } from '../lib/files/path-style.ts';
import { diskFs } from './permission-fs.ts';
import { isPathInside } from './resolve-path.ts';
import { type GitReference, listGitReferences } from './shell/programs/git-references.ts';
import {
  checkGitRepositorySafety,
  findCheckoutCommandConfigKey,
  findRepositoryTop,
} from './shell/programs/git-repository.ts';

/** Returns whether ouro may run `git status` and `git diff` here: they run filters, which no override can disable. */
export function isReadingGitSafe(cwd: string): boolean {
  return checkGitRepositorySafety(diskFs, toPosixPath(cwd), toPosixPath(cwd)).ok && isGitSelfContained(cwd);
}

/** Returns whether git reads nothing here but this repository, so that it shows no other files or repositories. */
export function isGitSelfContained(cwd: string): boolean {
  const folder = toPosixPath(cwd);
  const top = findRepositoryTop(diskFs, folder);
  try {
    const found = listGitReferences(diskFs, folder, homedir());
    const isInside = ({ as, target }: GitReference) =>
      top !== undefined && isPathInside(target.real, top) && (as === 'gitdir' || target.kind !== 'directory');
    return found.ok && found.references.every(isInside);
  } catch {
    // A folder that cannot be listed may contain anything.
    return false;
  }
}

/** Returns why ouro may not run git commands that write files here; settings that only affect output are tolerated. */
export function findWritingGitProblem(cwd: string): string | undefined {
  const check = checkGitRepositorySafety(diskFs, toPosixPath(cwd), toPosixPath(cwd), findCheckoutCommandConfigKey);
  return check.ok ? undefined : check.problem;
}
