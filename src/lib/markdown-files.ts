import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A Markdown file below a folder; `name` is its path without the ending, folders joined by a colon. */
export type MarkdownFile = { readonly path: string; readonly name: string; readonly text: string };

const MAX_FILES = 500;
const MAX_BYTES = 256_000;

/** All Markdown files below a folder, in the order of their names. Missing folders hold none; huge files are left out. */
export async function markdownFiles(folder: string): Promise<readonly MarkdownFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .slice(0, MAX_FILES);
  const files = await Promise.all(
    paths.map(async (path) => {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      const name = relative(folder, path).replace(/\.md$/, '').split(sep).join(':');
      return text === undefined || text.length > MAX_BYTES ? [] : [{ path, name, text }];
    }),
  );
  return files.flat();
}
