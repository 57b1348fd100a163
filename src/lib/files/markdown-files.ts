import { access } from 'node:fs/promises';
import { relative, sep } from 'node:path';
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

/** All Markdown files below a folder, in the order of their names. Missing folders hold none; huge files are left out. */
export async function markdownFiles(folder: string, admit: Admit = asItIs): Promise<readonly MarkdownFile[]> {
  const paths = (await pathsBelow(folder)).toSorted().slice(0, MAX_FILES);
  const files = await Promise.all(
    paths.map(async (path) => {
      const at = admit(path);
      const text = at === undefined ? undefined : await readRegular(at, MAX_BYTES).catch(() => undefined);
      const name = relative(folder, path).replace(/\.md$/, '').split(sep).join(':');
      return text === undefined ? [] : [{ path, name, text }];
    }),
  );
  return files.flat();
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
