import { getErrorMessage } from '../../lib/errors.ts';
import type { AppendFs, AppendHandle } from '../../lib/files/append-fs.ts';
import type { UnsavedLines } from '../unsaved-lines.ts';

/** A queue of lines for a file: written in order, kept in memory until they are on disk. */
export type AppendFile = ReturnType<typeof createAppendFile>;

/** A change in the state of the file that the user should know. */
export type AppendFileStatus =
  /** `keptIn` is the path on another disk that holds the lines meanwhile. */
  | { readonly type: 'failed'; readonly problem: string; readonly fallbackPath: string | undefined }
  | { readonly type: 'works' }
  | { readonly type: 'restored' };

/**
 * Creates a file that writes all lines of one tick together and retries failed ones with the next line. `fallback` stores
 * what cannot be written on another disk; lines stored there by an earlier run are written first.
 */
export function createAppendFile(
  path: string,
  fs: AppendFs,
  onStatus: (status: AppendFileStatus) => void,
  fallback?: UnsavedLines,
) {
  const file = createReopeningFile(path, fs, () => onStatus({ type: 'restored' }));
  let pending: string[] = (fallback?.read() ?? []).map((line) => `${line}\n`);
  /** Number of pending lines already stored on the other disk. */
  let storedCount = pending.length;
  let isFallbackUsed = fallback?.exists() === true;
  /** Lines that are written and may be in the cache of the disk only. */
  let unsynced: string[] = [];
  /** A system may forget what it could not sync and report success for the next try: the copy stays for the next run. */
  let isCopyKept = false;
  let writing: Promise<void> | undefined;
  let failing: 'write' | 'sync' | undefined;
  let isClosed = false;

  function reportFailure(step: 'write' | 'sync', { thrown }: Failure, fallbackPath: string | undefined): void {
    if (failing === undefined) onStatus({ type: 'failed', problem: getErrorMessage(thrown), fallbackPath });
    failing = step;
  }

  function reportSuccess(step: 'write' | 'sync'): void {
    if (failing !== step) return;
    failing = undefined;
    onStatus({ type: 'works' });
  }

  /** Syncs what is written; if that fails, the lines are stored on the other disk as well. */
  async function syncWritten(): Promise<void> {
    const count = unsynced.length;
    const failure = await catchFailure(file.sync());
    if (failure === undefined) {
      unsynced = unsynced.slice(count);
      return reportSuccess('sync');
    }
    const keptIn = unsynced.length === 0 ? undefined : await fallback?.save(unsynced.join(''));
    if (keptIn !== undefined) {
      unsynced = [];
      isCopyKept = true;
    }
    reportFailure('sync', failure, keptIn);
  }

  async function writePending(): Promise<void> {
    // Waiting for one microtask lets the lines of a burst go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      const failure = await catchFailure(file.write(batch.join('')));
      if (failure !== undefined) {
        const unstored = batch.slice(storedCount).join('');
        const keptIn = unstored === '' ? undefined : await fallback?.save(unstored);
        if (keptIn !== undefined) {
          storedCount = batch.length;
          isFallbackUsed = true;
        }
        pending = [...batch, ...pending];
        reportFailure('write', failure, keptIn);
        break;
      }
      reportSuccess('write');
      if (fallback !== undefined) unsynced.push(...batch);
      storedCount = 0;
      // The only other copy may go when the lines are on the disk, not only in its cache.
      if (isFallbackUsed && !isCopyKept && (await catchFailure(file.sync())) === undefined) {
        fallback?.clear();
        isFallbackUsed = false;
      }
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
      await syncWritten();
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
  let syncing: Promise<unknown> = Promise.resolve();

  async function close(): Promise<void> {
    const old = handle;
    handle = undefined;
    // A descriptor that is closed meanwhile makes the system call fail, or sync another file.
    await syncing;
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
    async sync() {
      const done = handle?.sync();
      syncing = Promise.allSettled([syncing, done]);
      await done;
    },
    close,
  };
}

type Failure = { readonly thrown: unknown };

async function catchFailure(pending: Promise<void>): Promise<Failure | undefined> {
  try {
    await pending;
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}
