import { readdir, readFile } from 'node:fs/promises';

const FOLDER = new URL('../../../docs/', import.meta.url);

/** Returns the pages of docs/ by topic. The build replaces this module by one that contains the pages. */
export async function loadHelpPages(): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.md') && name !== 'README.md').toSorted();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER), 'utf8')));
  return new Map(names.map((name, index) => [name.slice(0, -'.md'.length), texts[index] ?? '']));
}
