import { mkdir, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { writePrivateFile } from '../../lib/files/private-file.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { escapeImport, parseMemory } from './parse-memory.ts';

/** The names of imported files, and messages about those not imported. */
export type ClaudeMemoryImport = { readonly imported: readonly string[]; readonly skipped: readonly string[] };

const NAME = 'CLAUDE.md';
/** Extensions of files that are copied. Imports of other files are rewritten to point to the originals. */
const COPIED = ['.md', '.mdc', '.txt'];
const DEPTH = 5;

/** Copies `CLAUDE.md` and the text files it imports from the same folder; other imports keep their targets. */
export async function importClaudeMemory(from: string, ouroHome: string): Promise<ClaudeMemoryImport> {
  const imported: string[] = [];
  const skipped: string[] = [];

  async function copy(name: string, depth: number): Promise<void> {
    const source = join(from, name);
    const destination = join(ouroHome, name);
    if (imported.includes(name) || !(await isFile(source))) return;
    if ((await ignoreMissingFile(stat(destination))) !== undefined) {
      const message = `${name}: you have one already`;
      if (!skipped.includes(message)) skipped.push(message);
      return;
    }
    imported.push(name);
    let text = (await readRegularFile(source)) ?? '';
    const { imports } = await parseMemory(text);
    for (const importPath of imports.filter((path) => !/^[~/]/.test(path))) {
      const target = resolve(dirname(source), importPath);
      if (isPathBelow(from, target) && COPIED.includes(extname(target))) {
        if (depth < DEPTH) await copy(relative(from, target), depth + 1);
      } else if (resolve(dirname(destination), importPath) !== target && (await isFile(target))) {
        text = replaceImport(text, importPath, target);
      }
    }
    await mkdir(dirname(destination), { recursive: true, mode: 0o700 });
    await writePrivateFile(destination, text);
  }

  await copy(NAME, 0);
  return { imported: imported, skipped: skipped };
}

async function isFile(path: string): Promise<boolean> {
  return (await ignoreMissingFile(stat(path)))?.isFile() === true;
}

function replaceImport(text: string, importPath: string, target: string): string {
  const written = `@${escapeImport(importPath)}`;
  return text
    .split(/(?<=(?<!\\)[\s(])|^/m)
    .map((part) => {
      const suffix = part.startsWith(written) ? part.slice(written.length) : undefined;
      return suffix === undefined || !/^[.,;:!?'")]*\s*$/.test(suffix) ? part : `@${escapeImport(target)}${suffix}`;
    })
    .join('');
}
