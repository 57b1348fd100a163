import { toPosixPath } from '../lib/files/path-style.ts';
import { diskFs } from './permission-fs.ts';
import { checkGitRepositorySafety, findCheckoutCommandConfigKey } from './shell/programs/git-repository.ts';

/** Returns whether ouro may run `git status` and `git diff` here: they run filters, which no override can disable. */
export function isReadingGitSafe(cwd: string): boolean {
  return checkGitRepositorySafety(diskFs, toPosixPath(cwd), toPosixPath(cwd)).ok;
}

/** Returns whether ouro may run git commands that write files here; settings that only affect output are tolerated. */
export function isWritingGitSafe(cwd: string): boolean {
  return checkGitRepositorySafety(diskFs, toPosixPath(cwd), toPosixPath(cwd), findCheckoutCommandConfigKey).ok;
}
