import { readdir, readFile } from 'node:fs/promises';

const FOLDER = new URL('../../../docs/', import.meta.url);

/** The pages of docs/ by topic. A build holds them in place of this function, because docs/ is not beside it. */
export async function helpPages(): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.md') && name !== 'README.md').toSorted();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER), 'utf8')));
  return new Map(names.map((name, at) => [name.slice(0, -'.md'.length), texts[at] ?? '']));
}
