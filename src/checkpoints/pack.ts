import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type ContentStore, checked, hashOf } from './content-store.ts';

/**
 * Contents of the whole workspace one behind the other in one file, waiting for being changed: making a file for each
 * would take fifty times as long. It lasts as long as the process, and after a crash until somebody has looked.
 */
export type Pack = ContentStore & {
  /** What was put since is found again after a crash. */
  flush(): void;
  drop(): void;
};

type Place = { readonly offset: number; readonly length: number };

export function createPack(folder: string): Pack {
  const dataPath = join(folder, 'pack');
  const indexPath = join(folder, 'pack-index');
  let places: Map<string, Place> | undefined;
  let file: number | undefined;
  let fresh: string[] = [];

  function known(): Map<string, Place> {
    places ??= readIndex(indexPath);
    return places;
  }

  function opened(): number {
    if (file !== undefined) return file;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    file = openSync(dataPath, 'a+', 0o600);
    return file;
  }

  return {
    put(bytes) {
      const hash = hashOf(bytes);
      if (known().has(hash)) return hash;
      const target = opened();
      // Asked each time: what a full disk cut off is behind the last whole content.
      const place = { offset: fstatSync(target).size, length: bytes.length };
      for (let done = 0; done < bytes.length; ) done += writeSync(target, bytes, done);
      known().set(hash, place);
      fresh.push(`${hash} ${place.offset} ${place.length}\n`);
      return hash;
    },
    read(hash) {
      const place = known().get(hash);
      if (place === undefined) return undefined;
      try {
        const bytes = Buffer.alloc(place.length);
        readSync(opened(), bytes, 0, place.length, place.offset);
        return checked(bytes, hash);
      } catch {
        return undefined;
      }
    },
    flush() {
      if (fresh.length === 0) return;
      // A line of its own, also behind one that a full disk cut off.
      appendFileSync(indexPath, `\n${fresh.join('')}`, { mode: 0o600 });
      fresh = [];
    },
    drop() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      places = new Map();
      fresh = [];
      removeIfThere(indexPath);
      removeIfThere(dataPath);
    },
  };
}

/** In a folder that could never be made there is nothing to remove either. */
export function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What cannot be removed is only in the way of the disk's space.
  }
}

const LINE = /^([0-9a-f]{64}) (\d+) (\d+)$/;

function readIndex(path: string): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const line of textOf(path).split('\n')) {
    const [, hash, offset, length] = LINE.exec(line) ?? [];
    if (hash !== undefined) places.set(hash, { offset: Number(offset), length: Number(length) });
  }
  return places;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // There is none yet.
    return '';
  }
}
