import { close, constants, fdatasync, fstatSync, open, readSync, write, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';

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
  let needsNewline = false;
  let pending: string[] = [];
  let writing: Promise<void> | undefined;
  let health: 'good' | 'failing' = 'good';
  let isOver = false;

  async function write(): Promise<void> {
    // One turn of the microtask queue later the lines of a burst go out together.
    await Promise.resolve();
    let ended: 'written' | 'failed' = 'written';
    while (pending.length > 0 && ended === 'written') {
      ended = await writeBatch();
      // What is told after the end is kept too, but nobody would close the file behind it.
      if (isOver) await drop();
    }
    writing = undefined;
  }

  async function writeBatch(): Promise<'written' | 'failed'> {
    const batch = pending;
    pending = [];
    try {
      if (handle === undefined) {
        handle = await fs.open(path);
        needsNewline = !handle.endsClean;
      }
      await handle.write((needsNewline ? '\n' : '') + batch.join(''));
      needsNewline = false;
      if (health === 'failing') tell(undefined);
      health = 'good';
      return 'written';
    } catch (thrown) {
      pending = [...batch, ...pending];
      fail(thrown);
      await drop();
      return 'failed';
    }
  }

  function fail(thrown: unknown): void {
    if (health === 'good') tell(messageOf(thrown));
    health = 'failing';
  }

  /** After a failed write nobody knows what reached the file: open anew and let the newline check decide. */
  async function drop(): Promise<void> {
    const broken = handle;
    handle = undefined;
    await broken?.close().catch(() => undefined);
  }

  function flush(): Promise<void> {
    writing ??= write();
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
        fail(thrown);
      }
    },
    async close() {
      isOver = true;
      await flush();
      // The last chance: what was refused a moment ago may go through now.
      if (pending.length > 0) await flush();
      await drop();
    },
    waiting: () => pending.length,
  };
}

const opened = promisify(open);
const written = promisify(write);

/**
 * The real disk: private folders and files, never through a link that somebody planted. The file is held by its number,
 * because a handle that is forgotten ends the program when it is collected.
 */
export const diskAppendFs: AppendFs = {
  async open(path) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await openPrivate(path);
    return {
      endsClean: endsClean(file),
      write: (text) => writeAll(file, Buffer.from(text)),
      sync: () => promisify(fdatasync)(file),
      close: () => promisify(close)(file),
    };
  },
};

/** So much goes to the memory of the system in less time than another thread would take to begin. */
const AT_ONCE_BYTES = 64 * 1024;

async function writeAll(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length <= AT_ONCE_BYTES) at += writeSync(file, bytes, at);
    else at += (await written(file, bytes, at)).bytesWritten;
  }
}

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;

/** What is there is appended to; what is not is made by us and nobody else. */
async function openPrivate(path: string): Promise<number> {
  try {
    return await opened(path, APPENDING, 0o600);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    return opened(path, APPENDING | constants.O_CREAT | constants.O_EXCL, 0o600);
  }
}

function endsClean(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
