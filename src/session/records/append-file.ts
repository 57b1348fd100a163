import { lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../lib/errors.ts';
import { type AppendFs, type AppendHandle, diskAppendFs } from '../../lib/files/append-fs.ts';

/** A queue of lines for a file: written in order, kept in memory until they are on disk. */
export type AppendFile = ReturnType<typeof createAppendFile>;

/** A change in the state of the file that the user should know. */
export type AppendFileStatus =
  /** `keptIn` is the path on another disk that holds the lines meanwhile. */
  | { readonly type: 'failed'; readonly why: string; readonly fallbackPath: string | undefined }
  | { readonly type: 'works' }
  | { readonly type: 'restored' };

/** Options for lines that could not be written to the file itself. */
export type AppendFileOptions = {
  /** Storage on another disk for lines that cannot be written. */
  readonly fallback?: UnsavedLines | undefined;
  /** Lines stored there by an earlier run; written first. */
  readonly unsavedLines?: readonly string[] | undefined;
};

/** Creates a file that writes all lines of one tick together and retries failed ones with the next line. */
export function createAppendFile(
  path: string,
  fs: AppendFs,
  onStatus: (status: AppendFileStatus) => void,
  { fallback, unsavedLines = [] }: AppendFileOptions = {},
) {
  const file = createReopeningFile(path, fs, () => onStatus({ type: 'restored' }));
  let pending: string[] = unsavedLines.map((line) => `${line}\n`);
  /** Number of pending lines already stored on the other disk. */
  let storedCount = pending.length;
  let writing: Promise<void> | undefined;
  let isFailing = false;
  let isClosed = false;

  function report(failure: { readonly thrown: unknown } | undefined, fallbackPath?: string): void {
    if (!isFailing && failure !== undefined)
      onStatus({ type: 'failed', why: getErrorMessage(failure.thrown), fallbackPath });
    if (isFailing && failure === undefined) onStatus({ type: 'works' });
    isFailing = failure !== undefined;
  }

  async function writePending(): Promise<void> {
    // Waiting for one microtask lets the lines of a burst go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      const failure = await catchFailure(file.write(batch.join('')));
      if (failure !== undefined) {
        const keptIn = await fallback?.save(batch.slice(storedCount).join(''));
        if (keptIn !== undefined) storedCount = batch.length;
        pending = [...batch, ...pending];
        report(failure, keptIn);
        break;
      }
      report(failure);
      if (storedCount > 0) await fallback?.clear();
      storedCount = 0;
      // Lines appended after close() are written too, and nothing else would close the file again.
      if (isClosed) await file.close();
    }
    writing = undefined;
  }

  function flush(): Promise<void> {
    writing ??= writePending();
    return writing;
  }

  return {
    /** Resolves when the line is written, or when the failure has been reported. */
    append(line: string) {
      pending.push(line);
      return flush();
    },
    async sync() {
      await flush();
      const failure = await catchFailure(file.sync());
      if (failure !== undefined) report(failure);
    },
    async close() {
      isClosed = true;
      await flush();
      // Last chance: a write that failed a moment ago may succeed now.
      if (pending.length > 0) await flush();
      await file.close();
    },
    /** Number of lines not yet written because writing fails. */
    countPending: (): number => pending.length,
  };
}

/** Creates a file that opens on its first write and again after a failed write. */
function createReopeningFile(path: string, fs: AppendFs, onRestored: () => void) {
  let handle: AppendHandle | undefined;
  let needsNewline = false;

  async function close(): Promise<void> {
    const old = handle;
    handle = undefined;
    await old?.close().catch(() => undefined);
  }

  return {
    async write(text: string): Promise<void> {
      // If this throws, the handle is kept: for a deleted file it is the only copy left.
      const location = await handle?.checkLocation?.();
      if (location === 'restored') onRestored();
      if (location !== undefined && location !== 'no') await close();
      try {
        if (handle === undefined) {
          handle = await fs.open(path);
          needsNewline = !handle.endsWithNewline;
        }
        await handle.write((needsNewline ? '\n' : '') + text);
        needsNewline = false;
      } catch (thrown) {
        // The write may have been partial: the next open() checks how the file ends.
        await close();
        throw thrown;
      }
    },
    sync: async () => handle?.sync(),
    close,
  };
}

async function catchFailure(pending: Promise<void>): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    await pending;
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

/** Storage on another disk for session lines that cannot be written to the session file. */
type UnsavedLines = ReturnType<typeof openUnsavedLineStorage>;

/** Folders that are usually on other disks than the home folder. */
const listDefaultParents = (): readonly string[] => [tmpdir(), '/dev/shm'];

/** Opens the storage for the unsaved lines of one session. */
export function openUnsavedLineStorage(sessionId: string, parents: readonly string[] = listDefaultParents()) {
  let open: { readonly handle: AppendHandle; readonly path: string } | undefined;
  return {
    /** Stores a line and returns the path; `undefined` when no other disk accepts it either. */
    async save(line: string): Promise<string | undefined> {
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
    /** Deletes the stored lines once they are in the session file. */
    async clear() {
      await open?.handle.close().catch(() => undefined);
      open = undefined;
      for (const path of listPaths(sessionId, parents)) rmSync(path, { force: true });
    },
  };
}

/** Reads the lines that an earlier run could not write to the session file. */
export function readUnsavedSessionLines(
  sessionId: string,
  parents: readonly string[] = listDefaultParents(),
): readonly string[] {
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
