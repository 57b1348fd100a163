import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Bytes by their hash: the same content is kept once. */
export type ContentStore = {
  put(bytes: Uint8Array): string;
  /** The bytes, or nothing when they are gone or no longer what their name says. */
  read(hash: string): Buffer | undefined;
};

/** One file for each content, for what has to stay. */
export function createContentStore(folder: string): ContentStore & {
  /** Takes a content over from where it was only waiting. */
  adopt(hash: string, from: ContentStore): void;
  /** Where a person finds it. */
  pathOf(hash: string): string;
} {
  const pathOf = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2));
  const known = new Set<string>();

  function has(hash: string): boolean {
    if (!known.has(hash) && existsSync(pathOf(hash))) known.add(hash);
    return known.has(hash);
  }

  function put(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    if (has(hash)) return hash;
    const path = pathOf(hash);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Never half a content under a whole one's name.
    const draft = `${path}.${randomBytes(4).toString('hex')}`;
    try {
      writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
      renameSync(draft, path);
    } catch (thrown) {
      rmSync(draft, { force: true });
      throw thrown;
    }
    known.add(hash);
    return hash;
  }

  return {
    put,
    pathOf,
    read(hash) {
      try {
        return checked(readFileSync(pathOf(hash)), hash);
      } catch {
        return undefined;
      }
    },
    adopt(hash, from) {
      if (has(hash)) return;
      const bytes = from.read(hash);
      if (bytes === undefined) throw new Error('Its content is not there any more.');
      put(bytes);
    },
  };
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What was damaged on disk is as good as gone. */
export function checked(bytes: Buffer, hash: string): Buffer | undefined {
  return hashOf(bytes) === hash ? bytes : undefined;
}
