import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../lib/errors.ts';

/** The little of a file system that appending needs; tests put a failing one here. */
export type AppendFs = {
  readonly open: (path: string) => Promise<AppendHandle>;
};

export type AppendHandle = {
  readonly write: (text: string) => Promise<void>;
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** The last byte is a newline, or there is none. */
  readonly endsClean: boolean;
};

/** Lines on their way to disk: in order, never lost from memory until they are there. */
export type AppendFile = {
  /** Resolves when the line is written, or when writing failed and was told. */
  append(line: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
  /** How many lines wait because the disk refuses them. */
  waiting(): number;
};

/** Opens lazily, batches what comes within a tick, and retries what failed with the next line. */
export function createAppendFile(path: string, fs: AppendFs, tell: (why: string | undefined) => void): AppendFile {
  let handle: AppendHandle | undefined;
  let pending: string[] = [];
  let writing: Promise<void> | undefined;
  let failing = false;

  async function write(): Promise<void> {
    // One turn of the event loop later the lines of a burst go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const batch = pending;
      try {
        handle ??= await fs.open(path);
        const start = handle.endsClean ? '' : '\n';
        await handle.write(start + batch.join(''));
        if (start !== '') handle = { ...handle, endsClean: true };
        pending = pending.slice(batch.length);
        if (failing) tell(undefined);
        failing = false;
      } catch (thrown) {
        if (!failing) tell(messageOf(thrown));
        failing = true;
        await drop();
        return;
      }
    }
  }

  /** After a failed write nobody knows what reached the file: open anew and let the newline check decide. */
  async function drop(): Promise<void> {
    const broken = handle;
    handle = undefined;
    await broken?.close().catch(() => undefined);
  }

  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    append(line) {
      pending.push(line);
      return flush();
    },
    async sync() {
      await flush();
      try {
        await handle?.sync();
      } catch (thrown) {
        if (!failing) tell(messageOf(thrown));
        failing = true;
      }
    },
    async close() {
      await flush();
      await drop();
    },
    waiting: () => pending.length,
  };
}

/** The real disk: private folders and files, never through a link that somebody planted. */
export const diskAppendFs: AppendFs = {
  async open(path) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW,
      0o600,
    );
    return {
      endsClean: await endsClean(file),
      write: async (text) => {
        await file.appendFile(text);
      },
      sync: () => file.datasync(),
      close: () => file.close(),
    };
  },
};

async function endsClean(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 0x0a;
}
