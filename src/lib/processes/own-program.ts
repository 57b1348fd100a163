import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What starts this very program again: the executable itself, or the launcher beside its sources. */
export function ownProgram(): string {
  if (/\/(?:\$bunfs|~BUN)\//.test(import.meta.url)) return process.execPath;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const launcher = join(folder, 'bin', 'ouro');
    if (existsSync(launcher) && existsSync(join(folder, 'package.json'))) return launcher;
    if (folder === dirname(folder)) throw new Error('The program ouro that belongs to this one was not found.');
  }
}
