import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Finds the mount of a path if it does not answer. */
export type HungMountFinder = Pick<MountHealth, 'findHung'>;

/** Knows which mounted file systems do not answer. Whoever looks into one of them waits, possibly for ever. */
export type MountHealth = ReturnType<typeof createMountHealth>;

/** The parts of the system that the checks depend on. */
export type MountHealthDeps = {
  /** Lists the mount points of file systems that may stop answering. */
  readonly listMounts: () => Promise<readonly string[]>;
  readonly now: () => number;
};

/** Reason why nothing in such a mount is looked at. */
export const MOUNT_NOT_ANSWERING = 'its file system does not answer';

const ANSWER_MS = 1_000;
const ANSWER_COUNTS_MS = 2_000;
const HUNG_COUNTS_MS = 10_000;

/** Creates the checks. */
export function createMountHealth(
  { listMounts, now }: MountHealthDeps = { listMounts: listNetworkMounts, now: Date.now },
) {
  let hung: ReadonlySet<string> = new Set();
  let nextCheckAt = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const mounts = await listMounts();
    const known = mounts.filter((mount) => hung.has(mount));
    // Mounts that hung the last time come last, so that they do not delay the others.
    hung = await findHungMounts([...mounts.filter((mount) => !hung.has(mount)), ...known]);
    nextCheckAt = now() + (hung.size === 0 ? ANSWER_COUNTS_MS : HUNG_COUNTS_MS);
  }

  return {
    /** Asks the network and FUSE mounts that were not asked recently. Waits a second at most. */
    async check() {
      if (running === undefined && now() < nextCheckAt) return;
      running ??= run().finally(() => {
        running = undefined;
      });
      await running;
    },
    /** Returns the mount that contains a path and did not answer; looks at the text of the path only. */
    findHung: (path: string): string | undefined =>
      [...hung].find((mount) => path === mount || path.startsWith(`${mount}/`)),
    listHung: (): readonly string[] => [...hung],
  };
}

/** Returns the mounts that did not answer, asked by another process: the thread that asks may be lost. */
async function findHungMounts(mounts: readonly string[]): Promise<ReadonlySet<string>> {
  const hung = new Set<string>();
  let pending = mounts;
  while (pending.length > 0) {
    const answered = await countAnswers(pending);
    const [silent] = pending.slice(answered);
    if (silent !== undefined) hung.add(silent);
    pending = pending.slice(answered + 1);
  }
  return hung;
}

/** Looks at one folder after the other; prints a line for each that answered, with an error or without. */
const ASK = 'for folder do [ -e "$folder" ]; echo; done';

/** Returns how many of the folders answered before the first that did not. */
function countAnswers(folders: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', ASK, 'sh', ...folders], { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    let answered = 0;
    const end = (count: number) => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.unref();
      resolve(count);
    };
    const giveUp = () => {
      child.kill('SIGKILL');
      end(answered);
    };
    let timer = setTimeout(giveUp, ANSWER_MS);
    child.stdout.on('data', (chunk: Buffer) => {
      answered += chunk.length;
      clearTimeout(timer);
      timer = setTimeout(giveUp, ANSWER_MS);
    });
    // Without a shell nothing is known, and nothing counts as hung.
    child.on('error', () => end(folders.length));
    child.on('close', () => end(folders.length));
  });
}

const NETWORK_TYPES =
  /^(?:fuse|nfs|cifs|smb|9p|afs|ceph|lustre|gpfs|beegfs|orangefs|coda|virtiofs|vboxsf|vmhgfs|prl_fs)/;

/** Lists the mount points of network and FUSE file systems; none on systems without `/proc`. */
const listNetworkMounts = () => listMountPoints(NETWORK_TYPES);

/** Lists the mount points, of all file systems or of those of certain types; none on systems without `/proc`. */
export async function listMountPoints(types = /^/): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const mounts = table.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const path = before.split(' ')[4];
    return path === undefined || !types.test(after) ? [] : [decodeOctal(path)];
  });
  return [...new Set(mounts)];
}

/** Decodes the escapes of spaces, tabs, newlines and backslashes. */
function decodeOctal(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
