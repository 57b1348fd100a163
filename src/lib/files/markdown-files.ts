import { access } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { messageOf } from '../errors.ts';
import { readRegular } from './read-regular.ts';

/** A Markdown file below a folder; `name` is its path without the ending, folders joined by a colon. */
export type MarkdownFile = { readonly path: string; readonly name: string; readonly text: string };

const MAX_FILES = 500;
const MAX_BYTES = 256_000;

/** Links are followed, a folder that links to itself not for ever. */
const MAX_DEPTH = 6;

/** Where a file is to be read in place of this path: where its links lead. `undefined`: it is not to be read. */
export type Admit = (path: string) => string | undefined;

/** Every file, by the path it is found at. */
export const asItIs: Admit = (path) => path;

/** What a folder holds, and the sentences about what it holds and nobody can read. */
export type MarkdownFolder = {
  readonly files: readonly MarkdownFile[];
  readonly leftOut: readonly { readonly path: string; readonly text: string }[];
};

/** All Markdown files below a folder, in the order of their names. Missing folders hold none; huge files are left out. */
export async function markdownFiles(folder: string, admit: Admit = asItIs): Promise<MarkdownFolder> {
  const all = (await pathsBelow(folder)).toSorted();
  const read = await Promise.all(
    all.slice(0, MAX_FILES).map(async (path) => {
      const name = relative(folder, path).replace(/\.md$/, '').split(sep).join(':');
      const at = admit(path);
      if (at === undefined) return [];
      const text = await readRegular(at, MAX_BYTES).catch((thrown) => ({ path, text: leftOutWords(thrown) }));
      if (text === undefined) return [];
      return [typeof text === 'string' ? { path, name, text } : text];
    }),
  );
  const found = read.flat();
  const many = { path: folder, text: `holds ${all.length} files; the first ${MAX_FILES} are read.` };
  return {
    files: found.flatMap((one) => ('name' in one ? [one] : [])),
    leftOut: [...found.filter((one) => !('name' in one)), ...(all.length > MAX_FILES ? [many] : [])],
  };
}

/** The sentence about a file that is there and cannot be read. */
export function leftOutWords(thrown: unknown): string {
  return `is left out: ${messageOf(thrown)}.`;
}

async function pathsBelow(folder: string): Promise<readonly string[]> {
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return [];
  // Most starts find no such folder and need not load this.
  const { glob } = (await import('fast-glob')).default;
  return glob('**/*.md', { cwd: folder, absolute: true, dot: false, deep: MAX_DEPTH, suppressErrors: true });
}
