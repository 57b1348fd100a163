import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../lib/errno.ts';

/** Bytes by their hash: the same content is kept once. */
export type ContentStore = {
  put(bytes: Uint8Array): string;
  has(hash: string): boolean;
  /** The bytes, or nothing when they are gone or no longer what their name says. */
  read(hash: string): Buffer | undefined;
  /** Takes a content over from another store, without a copy where the disk can do that. */
  adopt(hash: string, from: ContentStore): void;
  pathOf(hash: string): string;
};

export function createContentStore(folder: string): ContentStore {
  const pathOf = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2));
  const known = new Set<string>();

  function has(hash: string): boolean {
    if (known.has(hash)) return true;
    if (!existsSync(pathOf(hash))) return false;
    known.add(hash);
    return true;
  }

  return {
    has,
    pathOf,
    put(bytes) {
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
    },
    read(hash) {
      try {
        const bytes = readFileSync(pathOf(hash));
        return hashOf(bytes) === hash ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
    adopt(hash, from) {
      if (has(hash)) return;
      const path = pathOf(hash);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      try {
        linkSync(from.pathOf(hash), path);
      } catch (thrown) {
        if (errnoOf(thrown) === 'EEXIST') return;
        if (errnoOf(thrown) === 'ENOENT') throw thrown;
        copyFileSync(from.pathOf(hash), path);
      }
      known.add(hash);
    },
  };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
