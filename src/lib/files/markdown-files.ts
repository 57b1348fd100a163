import { access } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { getErrorPhrase } from '../errors.ts';
import { readRegularFile } from './read-regular-file.ts';

/** A Markdown file below a folder. `name` is its path without extension, with colons between folders. */
export type MarkdownFile = { readonly path: string; readonly name: string; readonly text: string };

const MAX_FILES = 500;
const MAX_BYTES = 256_000;

/** Limits the search, because links are followed and may be circular. */
const MAX_DEPTH = 6;

/** Resolves the path to read a file from (the target of its links), or returns `undefined` to skip it. */
export type MarkdownFilePathResolver = (path: string) => string | undefined;

/** Admits every file at the path where it was found. */
export const admitEveryPath: MarkdownFilePathResolver = (path) => path;

/** The files of a folder, and the reasons why others were skipped. */
export type MarkdownFolder = {
  readonly files: readonly MarkdownFile[];
  readonly skipped: readonly { readonly path: string; readonly text: string }[];
};

/** Reads all Markdown files below a folder, sorted by path. A missing folder has none; too large files are skipped. */
export async function readMarkdownFiles(
  folder: string,
  admit: MarkdownFilePathResolver = admitEveryPath,
): Promise<MarkdownFolder> {
  const paths = (await findMarkdownFiles(folder)).toSorted();
  const results = await Promise.all(
    paths.slice(0, MAX_FILES).map(async (path) => {
      const name = relative(folder, path).replace(/\.md$/, '').split(sep).join(':');
      const realPath = admit(path);
      if (realPath === undefined) return [];
      const text = await readRegularFile(realPath, MAX_BYTES).catch((thrown) => ({
        path,
        text: describeSkippedFile(thrown),
      }));
      if (text === undefined) return [];
      return [typeof text === 'string' ? { path, name, text } : text];
    }),
  );
  const found = results.flat();
  const tooMany = { path: folder, text: `has ${paths.length} Markdown files; only the first ${MAX_FILES} are read.` };
  return {
    files: found.flatMap((result) => ('name' in result ? [result] : [])),
    skipped: [...found.filter((result) => !('name' in result)), ...(paths.length > MAX_FILES ? [tooMany] : [])],
  };
}

/** Describes why a file was skipped. */
export function describeSkippedFile(thrown: unknown): string {
  return `is left out: ${getErrorPhrase(thrown)}.`;
}

async function findMarkdownFiles(folder: string): Promise<readonly string[]> {
  const exists = await access(folder).then(
    () => true,
    () => false,
  );
  if (!exists) return [];
  // Loaded on demand: most projects have no such folder.
  const { glob } = (await import('fast-glob')).default;
  return glob('**/*.md', { cwd: folder, absolute: true, dot: false, deep: MAX_DEPTH, suppressErrors: true });
}
