import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { formatBytes } from '../lib/text/format.ts';
import { deleteFolder } from './caches.ts';

/**
 * The temporary folder of a session: sandboxes show it as `/tmp`, so that one command reads what another one left there.
 * Programs outside never look into it.
 */
export type PrivateTmp = {
  /** Returns the folder that is shown as `/tmp`; empties it first if it holds too much. */
  getFolder(): string;
  /** Returns a file that nobody can open. It covers files that are hidden. */
  getCoverFile(): string;
  /** Measures the folder after a command. */
  measure(): Promise<void>;
  /** Returns a note for the model if the folder was emptied since the last call. */
  takeNotes(): readonly string[];
  close(): void;
};

/** More is deleted before the next command. Temporary folders are often in memory. */
const MAX_BYTES = 1024 ** 3;
const PREFIX = 'ouro-tmp-';
const DAY_MS = 86_400_000;

/** Creates the temporary folder of a session when it is first used. */
export function createPrivateTmp(now: () => number, { parent = tmpdir(), maxBytes = MAX_BYTES } = {}): PrivateTmp {
  let base: string | undefined;
  let isTooLarge = false;
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

  return {
    getFolder,
    getCoverFile() {
      const path = join(findBase(), 'hidden');
      if (!existsSync(path)) writeFileSync(path, '', { mode: 0o000 });
      return path;
    },
    async measure() {
      if (base !== undefined) isTooLarge = (await measureFolder(join(base, 'tmp'), maxBytes)) > maxBytes;
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

/** Deletes a folder, after adding permissions where a command removed them. */
function deleteAtOnce(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    try {
      makeWritable(path);
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The next session tries again.
    }
  }
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
}

/** Deletes folders of sessions that ended without doing so. */
async function deleteAbandoned(parent: string, nowMs: number): Promise<void> {
  for (const name of listFolderNames(parent)) {
    const [, pid] = /^ouro-tmp-(\d+)-\w+$/.exec(name) ?? [];
    const path = join(parent, name);
    if (pid === undefined || isRunning(Number(pid))) continue;
    const entry = lstatSync(path, { throwIfNoEntry: false });
    // Containers that share the folder have process ids of their own.
    const isAbandoned =
      entry?.isDirectory() === true && entry.uid === process.getuid?.() && nowMs - entry.mtimeMs > DAY_MS;
    if (isAbandoned) await deleteFolder(path);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
