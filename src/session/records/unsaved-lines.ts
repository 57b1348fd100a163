import { lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppendHandle, diskAppendFs } from './append-fs.ts';

/** Storage on another disk for session lines that cannot be written to the session file. */
export type UnsavedLines = {
  /** Stores a line and returns the path; `undefined` when no other disk accepts it either. */
  save(line: string): Promise<string | undefined>;
  /** Deletes the stored lines once they are in the session file. */
  clear(): Promise<void>;
};

/** Folders that are usually on other disks than the home folder. */
const DEFAULT_PARENTS = [tmpdir(), '/dev/shm'];

/** Opens the storage for the unsaved lines of one session. */
export function openUnsavedLines(sessionId: string, parents: readonly string[] = DEFAULT_PARENTS): UnsavedLines {
  let open: { readonly handle: AppendHandle; readonly path: string } | undefined;
  return {
    async save(line) {
      for (const parent of parents) createFolder(parent);
      const paths = open === undefined ? listPaths(sessionId, parents) : [open.path];
      for (const path of paths) {
        try {
          const handle: AppendHandle = open?.handle ?? (await diskAppendFs.open(path));
          open = { handle, path };
          await handle.write(line);
          return path;
        } catch {
          // This disk is full as well, or not writable.
          await open?.handle.close().catch(() => undefined);
          open = undefined;
        }
      }
      return undefined;
    },
    async clear() {
      await open?.handle.close().catch(() => undefined);
      open = undefined;
      for (const path of listPaths(sessionId, parents)) rmSync(path, { force: true });
    },
  };
}

/** Reads the lines that an earlier run could not write to the session file. */
export function readUnsavedLines(sessionId: string, parents: readonly string[] = DEFAULT_PARENTS): readonly string[] {
  return listPaths(sessionId, parents).flatMap((path) => {
    try {
      return lstatSync(path).isFile() ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
    } catch {
      // The file does not exist, as in nearly every session.
      return [];
    }
  });
}

/** Returns the files of a session in folders that only this user may access; other users may create folders in /tmp. */
function listPaths(sessionId: string, parents: readonly string[]): readonly string[] {
  return parents
    .map(getFolder)
    .filter(isPrivate)
    .map((folder) => join(folder, `${sessionId}.jsonl`));
}

const getFolder = (parent: string) => join(parent, `ouro-unsaved-${process.getuid?.() ?? 'user'}`);

function createFolder(parent: string): void {
  try {
    mkdirSync(getFolder(parent), { mode: 0o700 });
  } catch {
    // It exists already, or cannot be created; `isPrivate` decides whether it is used.
  }
}

function isPrivate(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === (process.getuid?.() ?? stat.uid) && (stat.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
