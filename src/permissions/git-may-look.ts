import { gitPreflight } from './bash/programs/git-config.ts';
import { diskFs } from './paths/fs.ts';

/** May a git of ours look for changes here? Looking runs filters, and no override removes a filter. */
export function gitMayLook(cwd: string): boolean {
  return gitPreflight(diskFs, cwd, cwd).ok;
}
