import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { type AppendHandle, diskAppendFs } from '../lib/files/append-fs.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { computeShortHash } from '../lib/text/short-hash.ts';

/** Storage on another disk for lines that a session file does not take. */
export type UnsavedLines = ReturnType<typeof openUnsavedLines>;

/**
 * Folders that are usually on other disks than the home folder: TMPDIR may name another one than an earlier run had.
 * Without user ids (Windows) only the temporary folder is known to be private.
 */
const listDefaultParents = (): readonly string[] =>
  process.getuid === undefined ? [tmpdir()] : [...new Set([tmpdir(), '/tmp', '/dev/shm'])];

/** Opens the storage for the lines of one session file. */
export function openUnsavedLines(sessionPath: string, parents: readonly string[] = listDefaultParents()) {
  let open: { readonly folder: string; readonly handle: AppendHandle } | undefined;

  async function close(): Promise<void> {
    await open?.handle.close().catch(() => undefined);
    open = undefined;
  }

  return {
    read: (): readonly string[] => readUnsavedLines(sessionPath, parents),
    exists: (): boolean => findUnsavedFiles(sessionPath, listUnsavedFolders(parents)).length > 0,
    /** Stores lines and returns the path; `undefined` when no other disk accepts them either. */
    async save(lines: string): Promise<string | undefined> {
      for (const folder of open === undefined ? createUnsavedFolders(sessionPath, parents) : [open.folder]) {
        const path = getUnsavedPath(folder, sessionPath);
        try {
          open ??= { folder, handle: await diskAppendFs.open(path) };
          // Another process may have deleted the empty folder, and another user created it.
          if (!isPrivate(folder)) throw new Error(`${folder} is not private.`);
          await open.handle.write(lines);
          return path;
        } catch {
          // This disk is full as well, or not writable.
          await close();
        }
      }
      return undefined;
    },
    /** Deletes the stored lines once they are in the session file. */
    clear() {
      void close();
      deleteUnsavedFiles(sessionPath, parents);
    },
  };
}

/** Reads the lines that a run could not write to the session file. */
export function readUnsavedLines(
  sessionPath: string,
  parents: readonly string[] = listDefaultParents(),
): readonly string[] {
  const lines = findUnsavedFiles(sessionPath, listUnsavedFolders(parents)).flatMap((path) => {
    try {
      return readFileSync(path, 'utf8').split('\n').filter(Boolean);
    } catch {
      // Its run has moved the lines since.
      return [];
    }
  });
  if (lines.length === 0) return lines;
  // A kill between writing the session file and deleting the unsaved one leaves the same lines in both.
  const written = new Set(readFileEnd(sessionPath, Buffer.byteLength(lines.join('\n')) + EXTRA_BYTES).split('\n'));
  return lines.filter((line) => !written.has(line));
}

/** Room for lines that were written after the unsaved ones. */
const EXTRA_BYTES = 1_000_000;

/** Reads the end of a file as text; empty if there is no such file. */
function readFileEnd(path: string, bytes: number): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(file);
      const buffer = Buffer.alloc(Math.min(bytes, size));
      return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

/** Returns whether a session has a file, or lines that could not be written to it. */
export function isSessionStored(sessionPath: string): boolean {
  return existsSync(sessionPath) || findUnsavedFiles(sessionPath, listUnsavedFolders()).length > 0;
}

/** Reads the last bytes of a session file as text, followed by its unsaved lines. */
export function readSessionEnd(sessionPath: string, bytes: number): string {
  return [readFileEnd(sessionPath, bytes), ...readUnsavedLines(sessionPath)].join('\n');
}

/** Lists the folders of unsaved lines that only this user may access; usually there are none. */
export function listUnsavedFolders(parents: readonly string[] = listDefaultParents()): readonly string[] {
  return parents.map(getUnsavedFolder).filter(isPrivate);
}

/** Lists the existing files with unsaved lines of a session, oldest disk first. */
export function findUnsavedFiles(sessionPath: string, folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) => [join(folder, basename(sessionPath)), getUnsavedPath(folder, sessionPath)])
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** Lists the paths of session files in a folder of which lines are unsaved, whether the files exist or not. */
export function listUnsavedSessions(dir: string, folders: readonly string[]): readonly string[] {
  const names = folders.flatMap((folder) => listFolderNames(dirname(getUnsavedPath(folder, join(dir, 'session')))));
  return [...new Set(names)].filter((name) => name.endsWith('.jsonl')).map((name) => join(dir, name));
}

/** Lists the folders of session files below a folder of which lines are unsaved. */
export function listUnsavedDirs(parent: string, folders: readonly string[]): readonly string[] {
  const names = folders.flatMap((folder) =>
    listFolderNames(dirname(dirname(getUnsavedPath(folder, join(parent, 'a', 'b'))))),
  );
  return [...new Set(names)].map((name) => join(parent, name));
}

/** Lists files of version 0.2, which were not in folders of their sessions. */
export function listOldUnsavedFiles(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    listFolderNames(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(folder, name)),
  );
}

/** Creates and returns the folders that only this user may access, beginning with the one that has the last lines. */
export function createUnsavedFolders(
  sessionPath: string,
  parents: readonly string[] = listDefaultParents(),
): readonly string[] {
  for (const parent of parents) {
    try {
      mkdirSync(getUnsavedFolder(parent), { mode: 0o700 });
    } catch {
      // It exists already, or cannot be created; `isPrivate` decides whether it is used.
    }
  }
  const folders = listUnsavedFolders(parents);
  const used = Math.max(
    0,
    folders.findLastIndex((folder) => findUnsavedFiles(sessionPath, [folder]).length > 0),
  );
  return [...folders.slice(used), ...folders.slice(0, used)];
}

/** Deletes the unsaved lines of a session, and the folders that are empty then. */
export function deleteUnsavedFiles(sessionPath: string, parents: readonly string[] = listDefaultParents()): void {
  for (const folder of listUnsavedFolders(parents)) {
    for (const path of findUnsavedFiles(sessionPath, [folder])) {
      try {
        rmSync(path, { force: true });
      } catch {
        // That disk is read-only now. Its lines are recognized as written.
      }
    }
    deleteEmptyFolders(sessionPath, folder);
  }
}

/** Deletes the folders of a session's unsaved lines up to `folder`, as far as they are empty. */
export function deleteEmptyFolders(sessionPath: string, folder: string): void {
  const project = dirname(getUnsavedPath(folder, sessionPath));
  for (const path of [project, dirname(project), folder]) {
    try {
      rmdirSync(path);
    } catch {
      // It holds files of other sessions, or was not created.
    }
  }
}

/** Returns where a file is stored instead: sessions of other home folders may have the same ids. */
export function getUnsavedPath(folder: string, sessionPath: string): string {
  const dir = dirname(resolve(sessionPath));
  return join(folder, computeShortHash(dirname(dir), 8), basename(dir), basename(sessionPath));
}

const getUnsavedFolder = (parent: string) => join(parent, `ouro-unsaved-${process.getuid?.() ?? 'user'}`);

/** Returns whether a folder may be used; other users may create folders in /tmp. */
function isPrivate(folder: string): boolean {
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return false;
    return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
  } catch {
    return false;
  }
}
