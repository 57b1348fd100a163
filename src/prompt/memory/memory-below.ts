import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMemoryName } from './memory-places.ts';

const MAX_FOLDERS = 5_000;
const MAX_MS = 2_000;
/** What others have written and nobody works in; instructions in there are met, not looked for. */
const PASSED = new Set(['.git', 'node_modules', '.venv', 'venv', 'target', 'dist', 'build', '__pycache__']);

/** Memory files and rules below a folder, as far as it is looked through: what is not found is asked about when it is met. */
export async function memoryBelow(top: string): Promise<readonly string[]> {
  const startedAt = performance.now();
  const folders = [top];
  const found: string[] = [];
  for (let at = 0; at < Math.min(folders.length, MAX_FOLDERS); at += 1) {
    if (performance.now() - startedAt > MAX_MS) break;
    const folder = folders[at] ?? top;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    if (entries.some(({ name }) => isMemoryName(name))) found.push(join(folder, 'file'));
    for (const entry of entries)
      if (entry.isDirectory() && !PASSED.has(entry.name) && entry.name !== '.claude')
        folders.push(join(folder, entry.name));
  }
  return found;
}
