import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What the tools of every ouro write, told to the others: while their commands run it would seem to be theirs. */
export type SharedWrites = {
  note(path: string, hash: string): void;
  /** The last content that another ouro wrote to each path, by its hash. */
  others(): ReadonlyMap<string, string>;
};

const line = z.tuple([z.string(), z.string()]);
const OLD_MS = 86_400_000;
const MOST_BYTES = 4_000_000;

/** One file for each process that writes; without a folder nothing is told to anybody. */
export function openSharedWrites(folder: string | undefined): SharedWrites {
  if (folder === undefined) return { note: () => undefined, others: () => new Map() };
  const own = `${randomUUID()}.jsonl`;
  return {
    note(path, hash) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        appendFileSync(join(folder, own), `${JSON.stringify([path, hash])}\n`, { mode: 0o600 });
      } catch {
        // Others may take it for their own then, as they would without this.
      }
    },
    others() {
      const texts = namesIn(folder).flatMap((name) => (name === own ? [] : textOf(join(folder, name))));
      return new Map(texts.flatMap((text) => text.split('\n').flatMap(parsed)));
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): readonly string[] {
  try {
    const { mtimeMs, size } = statSync(path);
    if (Date.now() - mtimeMs < OLD_MS) return size > MOST_BYTES ? [] : [readFileSync(path, 'utf8')];
    rmSync(path);
  } catch {
    // Gone meanwhile.
  }
  return [];
}

function parsed(text: string): readonly (readonly [string, string])[] {
  try {
    return [line.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}
