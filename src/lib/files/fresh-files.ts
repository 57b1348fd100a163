import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const DEPTH = 4;
const MOST_ENTRIES = 2_000;

/** Tells whether any of the files and folders changed since it was last asked. A look costs a few stats. */
export function createFreshness(paths: readonly string[]) {
  let known: Promise<string> = markOf(paths);
  return {
    async changed(): Promise<boolean> {
      const before = await known;
      known = markOf(paths);
      return before !== (await known);
    },
  };
}

async function markOf(paths: readonly string[]): Promise<string> {
  const marks: string[] = [];
  for (const path of paths) await collect(path, DEPTH, marks);
  return marks.join('\n');
}

async function collect(path: string, depth: number, marks: string[]): Promise<void> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined || marks.length > MOST_ENTRIES) return;
  marks.push(`${path} ${facts.mtimeMs} ${facts.size}`);
  if (!facts.isDirectory() || depth === 0) return;
  const names = await readdir(path).catch(() => []);
  for (const name of names.toSorted()) await collect(join(path, name), depth - 1, marks);
}
