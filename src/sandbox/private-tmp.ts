import { existsSync, lstatSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { getProcessState } from '../lib/processes/process-info.ts';
import { formatBytes } from '../lib/text/format.ts';
import { deleteFolder } from './caches.ts';
import { forceRemove } from './host-paths.ts';

/**
 * The temporary folder of a session: sandboxes show it as `/tmp`, so that one command reads what another one left there.
 * Programs outside never look into it.
 */
export type PrivateTmp = {
  /** Returns the folder that is shown as `/tmp`; empties it first if it holds too much. */
  getFolder(): string;
  /** Returns the folder of this user that holds the other one, and is deleted with it. */
  getBase(): string;
  /** Returns a file that nobody can open. It covers files that are hidden. */
  getCoverFile(): string;
  /** Measures the folder after a command. */
  measure(): Promise<void>;
  /** Returns a note for the model if the folder was emptied since the last call. */
  takeNotes(): readonly string[];
  close(): void;
};

/** The folder that sandboxed commands have of their own; on macOS they see that of the machine. */
export const PRIVATE_FOLDER = process.platform === 'linux' ? '/tmp' : undefined;

/** More is deleted before the next command. Temporary folders are often in memory. */
const MAX_BYTES = 1024 ** 3;
const PREFIX = 'ouro-tmp-';
const DAY_MS = 86_400_000;

/** Creates the temporary folder of a session when it is first used. */
export function createPrivateTmp(now: () => number, { parent = tmpdir(), maxBytes = MAX_BYTES } = {}): PrivateTmp {
  let base: string | undefined;
  let isTooLarge = false;
  /** One at a time: commands may end faster than a large folder is measured. */
  let measuring: Promise<void> | undefined;
  let notes: readonly string[] = [];

  function findBase(): string {
    if (base !== undefined && existsSync(base)) return base;
    if (base === undefined) void deleteAbandoned(parent, now()).catch(() => undefined);
    base = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
    return base;
  }

  function getFolder(): string {
    const folder = join(findBase(), 'tmp');
    if (isTooLarge) {
      isTooLarge = false;
      deleteAtOnce(folder);
      notes = [`[the private /tmp held more than ${formatBytes(maxBytes)} and was emptied before this command]`];
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async function measureNow(): Promise<void> {
    if (base !== undefined) isTooLarge = (await measureFolder(join(base, 'tmp'), maxBytes)) > maxBytes;
  }

  return {
    getFolder,
    getBase: findBase,
    getCoverFile() {
      const path = join(findBase(), 'hidden');
      if (!existsSync(path)) writeFileSync(path, '', { mode: 0o000 });
      return path;
    },
    measure() {
      measuring ??= measureNow().finally(() => {
        measuring = undefined;
      });
      return measuring;
    },
    takeNotes() {
      const taken = notes;
      notes = [];
      return taken;
    },
    close() {
      if (base !== undefined) deleteAtOnce(base);
      base = undefined;
    },
  };
}

/** Adds up the sizes of files until the sum is larger than `enough`. Links are not followed. */
async function measureFolder(folder: string, enough: number): Promise<number> {
  let sum = 0;
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (sum > enough) break;
    const path = join(folder, name);
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isDirectory() === true) sum += await measureFolder(path, enough - sum);
    else sum += (entry?.blocks ?? 0) * BLOCK_BYTES;
  }
  return sum;
}

const BLOCK_BYTES = 512;

/** Deletes a folder as far as that is possible; the next session tries again. */
function deleteAtOnce(path: string): void {
  try {
    forceRemove(path);
  } catch {
    // A process of another user owns something in it.
  }
}

/** Deletes folders of sessions that ended without doing so. */
async function deleteAbandoned(parent: string, nowMs: number): Promise<void> {
  for (const name of listFolderNames(parent)) {
    const [, pid] = /^ouro-tmp-(\d+)-\w+$/.exec(name) ?? [];
    const path = join(parent, name);
    if (pid === undefined || getProcessState({ pid: Number(pid), startTime: '' }) === 'alive') continue;
    const entry = lstatSync(path, { throwIfNoEntry: false });
    // Containers that share the folder have process ids of their own.
    const isAbandoned =
      entry?.isDirectory() === true && entry.uid === process.getuid?.() && nowMs - entry.mtimeMs > DAY_MS;
    if (isAbandoned) await deleteFolder(path);
  }
}
