import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { listFolderNames } from '../lib/files/read-or-default.ts';

/**
 * Writes made by the file tools of all running ouro processes, shared through files: without them, a process would take
 * the writes of another one for changes made by its own command.
 */
export type CrossProcessWrites = {
  record(path: string, hash: string): void;
  /** Returns the hash that another process last wrote to each path. */
  readOthers(): ReadonlyMap<string, string>;
};

const line = z.tuple([z.string(), z.string()]);
const MAX_AGE_MS = 86_400_000;
const MAX_BYTES = 4_000_000;

/** Opens the shared writes: one file per writing process. Without a folder nothing is shared. */
export function openCrossProcessWrites(folder: string | undefined): CrossProcessWrites {
  if (folder === undefined) return { record: () => undefined, readOthers: () => new Map() };
  const ownFile = `${randomUUID()}.jsonl`;
  return {
    record(path, hash) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        appendFileSync(join(folder, ownFile), `${JSON.stringify([path, hash])}\n`, { mode: 0o600 });
      } catch {
        // Best effort: other processes may then attribute this write to their own command.
      }
    },
    readOthers() {
      const texts = listFolderNames(folder).flatMap((name) => (name === ownFile ? [] : readRecent(join(folder, name))));
      return new Map(texts.flatMap((text) => text.split('\n').flatMap(parseLine)));
    },
  };
}

function readRecent(path: string): readonly string[] {
  try {
    const { mtimeMs, size } = statSync(path);
    if (Date.now() - mtimeMs < MAX_AGE_MS) return size > MAX_BYTES ? [] : [readFileSync(path, 'utf8')];
    rmSync(path);
  } catch {
    // Removed in the meantime.
  }
  return [];
}

function parseLine(text: string): readonly (readonly [string, string])[] {
  try {
    return [line.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}
