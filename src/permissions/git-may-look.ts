import { gitPreflight } from './bash/programs/git-config.ts';
import { workingKey } from './bash/programs/git-keys.ts';
import { diskFs } from './paths/fs.ts';

/** May a git of ours look for changes here? Looking runs filters, and no override removes a filter. */
export function gitMayLook(cwd: string): boolean {
  return gitPreflight(diskFs, cwd, cwd).ok;
}

/** May a git of ours write files here, as somebody asked for? What only matters to what git shows may be configured. */
export function gitMayWork(cwd: string): boolean {
  return gitPreflight(diskFs, cwd, cwd, workingKey).ok;
}
