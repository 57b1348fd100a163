import { spawnSync } from 'node:child_process';
import { WAIT_MS } from './runs.ts';

/**
 * Mounts a file system on `$0` that never answers and becomes the command, in a mount namespace of its own. Whoever
 * looks at the folder waits until the command has ended.
 */
const MOUNT = `exec 3<>/dev/fuse &&
  mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hung "$0" && exec "$@"`;

/** Returns the program and arguments that run a command with a hung mount on a folder. */
export const withHungMount = (folder: string, ...command: readonly string[]): readonly string[] => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  MOUNT,
  folder,
  ...command,
];

/** Returns whether hung mounts can be created on this machine. */
export function canMountHung(): boolean {
  const [program = '', ...args] = withHungMount('/mnt', 'true');
  return spawnSync(program, args, { timeout: WAIT_MS }).status === 0;
}
