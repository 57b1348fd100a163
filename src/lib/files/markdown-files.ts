import { access } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { readRegular } from './read-regular.ts';

/** A Markdown file below a folder; `name` is its path without the ending, folders joined by a colon. */
export type MarkdownFile = { readonly path: string; readonly name: string; readonly text: string };

const MAX_FILES = 500;
const MAX_BYTES = 256_000;

/** Links are followed, a folder that links to itself not for ever. */
const MAX_DEPTH = 6;

/** All Markdown files below a folder, in the order of their names. Missing folders hold none; huge files are left out. */
export async function markdownFiles(folder: string): Promise<readonly MarkdownFile[]> {
  const paths = (await pathsBelow(folder)).toSorted().slice(0, MAX_FILES);
  const files = await Promise.all(
    paths.map(async (path) => {
      const text = await readRegular(path, MAX_BYTES).catch(() => undefined);
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
