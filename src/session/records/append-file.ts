import { messageOf } from '../../lib/errors.ts';
import type { AppendFs, AppendHandle } from './append-fs.ts';
import type { Aside } from './aside.ts';

/** Lines on their way to disk: in order, never lost from memory until they are there. */
export type AppendFile = {
  /** Resolves when the line is written, or when writing failed and was told. */
  append(line: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
  /** How many lines wait because the disk refuses them. */
  waiting(): number;
};

/** What happened to the file that people should know. */
export type AppendNews =
  /** `keptIn` is another disk that has the lines meanwhile. */
  | { readonly what: 'failed'; readonly why: string; readonly keptIn: string | undefined }
  | { readonly what: 'works' }
  | { readonly what: 'restored' };

export type AppendOptions = {
  /** Where lines are kept while the disk refuses them. */
  readonly aside?: Aside | undefined;
  /** Lines that are aside since an earlier run: they are written first. */
  readonly unsaved?: readonly string[] | undefined;
};

/** Batches what comes within a tick, and retries what failed with the next line. `tell` hears the first failure and the recovery. */
export function createAppendFile(
  path: string,
  fs: AppendFs,
  tell: (news: AppendNews) => void,
  { aside, unsaved = [] }: AppendOptions = {},
): AppendFile {
  const file = reopening(path, fs, () => tell({ what: 'restored' }));
  let pending: string[] = unsaved.map((line) => `${line}\n`);
  /** How many of those that wait are aside already. */
  let asideCount = pending.length;
  let writing: Promise<void> | undefined;
  let isFailing = false;
  let isClosed = false;

  function report(failure: { readonly thrown: unknown } | undefined, keptIn?: string): void {
    if (!isFailing && failure !== undefined) tell({ what: 'failed', why: messageOf(failure.thrown), keptIn });
    if (isFailing && failure === undefined) tell({ what: 'works' });
    isFailing = failure !== undefined;
  }

  async function writePending(): Promise<void> {
    // One turn of the microtask queue later the lines of a burst go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      const failure = await failureOf(file.write(batch.join('')));
      if (failure !== undefined) {
        const keptIn = await aside?.keep(batch.slice(asideCount).join(''));
        if (keptIn !== undefined) asideCount = batch.length;
        pending = [...batch, ...pending];
        report(failure, keptIn);
        break;
      }
      report(failure);
      if (asideCount > 0) await aside?.clear();
      asideCount = 0;
      // Lines that come after the end are kept too, but nobody would close the file behind them.
      if (isClosed) await file.close();
    }
    writing = undefined;
  }

  function flush(): Promise<void> {
    writing ??= writePending();
    return writing;
  }

  return {
    append(line) {
      pending.push(line);
      return flush();
    },
    async sync() {
      await flush();
      const failure = await failureOf(file.sync());
      if (failure !== undefined) report(failure);
    },
    async close() {
      isClosed = true;
      await flush();
      // The last chance: what was refused a moment ago may go through now.
      if (pending.length > 0) await flush();
      await file.close();
    },
    waiting: () => pending.length,
  };
}

/** A file that is opened when it is first written to, and anew after a failed write. */
function reopening(path: string, fs: AppendFs, onRestored: () => void) {
  let handle: AppendHandle | undefined;
  let needsNewline = false;

  async function close(): Promise<void> {
    const old = handle;
    handle = undefined;
    await old?.close().catch(() => undefined);
  }

  return {
    async write(text: string): Promise<void> {
      // While this fails the handle stays: it is all there is of the file.
      const moved = await handle?.moved?.();
      if (moved === 'restored') onRestored();
      if (moved !== undefined && moved !== 'no') await close();
      try {
        if (handle === undefined) {
          handle = await fs.open(path);
          needsNewline = !handle.endsClean;
        }
        await handle.write((needsNewline ? '\n' : '') + text);
        needsNewline = false;
      } catch (thrown) {
        // Nobody knows what reached the file: the next opening looks at how it ends.
        await close();
        throw thrown;
      }
    },
    sync: async () => handle?.sync(),
    close,
  };
}

async function failureOf(work: Promise<void>): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}
