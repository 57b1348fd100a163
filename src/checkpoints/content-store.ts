import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Content-addressed storage: equal bytes are stored once, under their SHA-256 in hex. */
export type ContentStore = {
  put(bytes: Uint8Array): string;
  /** Returns the bytes; `undefined` if they are missing or no longer match their hash. */
  read(hash: string): Buffer | undefined;
};

/** Contents that must outlive the process, one file each. */
export type SessionContentStore = ContentStore & {
  /** Copies a content from another store; does nothing if this store has it. */
  copyFrom(hash: string, from: ContentStore): void;
  /** Path of the file that holds a content; shown to the user. */
  getPath(hash: string): string;
};

/** Creates a store with one file per content. */
export function createContentStore(folder: string): SessionContentStore {
  const getPath = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2));
  const storedHashes = new Set<string>();

  function has(hash: string): boolean {
    if (!storedHashes.has(hash) && existsSync(getPath(hash))) storedHashes.add(hash);
    return storedHashes.has(hash);
  }

  function put(bytes: Uint8Array): string {
    const hash = hashContent(bytes);
    if (has(hash)) return hash;
    const path = getPath(hash);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // A draft that is renamed: a crash never leaves a partial content under a hash.
    const draft = `${path}.${randomBytes(4).toString('hex')}`;
    try {
      writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
      renameSync(draft, path);
    } catch (thrown) {
      rmSync(draft, { force: true });
      throw thrown;
    }
    storedHashes.add(hash);
    return hash;
  }

  return {
    put,
    getPath,
    read(hash) {
      try {
        const path = getPath(hash);
        // Reading a pipe would wait for a writer.
        return lstatSync(path).isFile() ? verifyContent(readFileSync(path), hash) : undefined;
      } catch {
        return undefined;
      }
    },
    copyFrom(hash, from) {
      if (has(hash)) return;
      const bytes = from.read(hash);
      if (bytes === undefined) throw new Error('The content is no longer available.');
      put(bytes);
    },
  };
}

/**
 * The contents of the whole workspace before a command runs, in one file. Deleted at the end of the process; after a
 * crash, at the end of the next run of the session.
 */
export type SingleFileContentStore = ContentStore & {
  /** Writes the index of the contents put since the last flush, so that they survive a crash. */
  flush(): void;
  delete(): void;
};

/**
 * Creates the single-file store of a session. After a crash it opens the contents of the earlier run.
 *
 * One file per content took fifty times as long, and a hard-linked copy changes when a command appends to the original.
 */
export function createSingleFileContentStore(folder: string): SingleFileContentStore {
  const dataPath = join(folder, 'pack');
  const indexPath = join(folder, 'pack-index');
  let ranges: Map<string, Range> | undefined;
  let file: number | undefined;
  let unflushed: string[] = [];

  function loadIndex(): Map<string, Range> {
    ranges ??= readIndex(indexPath);
    return ranges;
  }

  function openFile(): number {
    if (file !== undefined) return file;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    file = openSync(dataPath, 'a+', 0o600);
    return file;
  }

  return {
    put(bytes) {
      const hash = hashContent(bytes);
      if (loadIndex().has(hash)) return hash;
      const target = openFile();
      // The size is read each time: a full disk may have left a partial content at the end.
      const range = { offset: fstatSync(target).size, length: bytes.length };
      for (let written = 0; written < bytes.length; ) written += writeSync(target, bytes, written);
      loadIndex().set(hash, range);
      unflushed.push(`${hash} ${range.offset} ${range.length}\n`);
      return hash;
    },
    read(hash) {
      const range = loadIndex().get(hash);
      if (range === undefined) return undefined;
      try {
        const bytes = Buffer.alloc(range.length);
        readSync(openFile(), bytes, 0, range.length, range.offset);
        return verifyContent(bytes, hash);
      } catch {
        return undefined;
      }
    },
    flush() {
      if (unflushed.length === 0) return;
      // A newline first: a full disk may have cut off the last line.
      appendFileSync(indexPath, `\n${unflushed.join('')}`, { mode: 0o600 });
      unflushed = [];
    },
    delete() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      ranges = new Map();
      unflushed = [];
      removeIfExists(indexPath);
      removeIfExists(dataPath);
    },
  };
}

type Range = { readonly offset: number; readonly length: number };

const LINE = /^([0-9a-f]{64}) (\d+) (\d+)$/;

function readIndex(path: string): Map<string, Range> {
  const ranges = new Map<string, Range>();
  for (const line of readIfExists(path).split('\n')) {
    const [, hash, offset, length] = LINE.exec(line) ?? [];
    if (hash !== undefined) ranges.set(hash, { offset: Number(offset), length: Number(length) });
  }
  return ranges;
}

function readIfExists(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not written yet.
    return '';
  }
}

/** Removes a file; ignores errors. */
export function removeIfExists(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A leftover file only takes disk space.
  }
}

/** Returns the SHA-256 of a content in hex. */
export function hashContent(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the bytes if they match their hash; damaged contents count as missing. */
function verifyContent(bytes: Buffer, hash: string): Buffer | undefined {
  return hashContent(bytes) === hash ? bytes : undefined;
}
