import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Content-addressed storage: equal bytes are stored once, under their SHA-256 in hex. */
export type ContentStore = {
  put(bytes: Uint8Array): string;
  /** Returns the bytes; `undefined` if they are missing or no longer match their hash. */
  read(hash: string): Buffer | undefined;
};

/** Creates a store with one file per content, for contents that must outlive the process. */
export function createContentStore(folder: string): ContentStore & {
  /** Copies a content from another store; does nothing if this store has it. */
  copyFrom(hash: string, from: ContentStore): void;
  /** Path of the file that holds a content; shown to the user. */
  getPath(hash: string): string;
} {
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
        return verifyContent(readFileSync(getPath(hash)), hash);
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

/** Returns the SHA-256 of a content in hex. */
export function hashContent(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the bytes if they match their hash; damaged contents count as missing. */
export function verifyContent(bytes: Buffer, hash: string): Buffer | undefined {
  return hashContent(bytes) === hash ? bytes : undefined;
}
