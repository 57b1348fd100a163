import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

const MOST_FILES = 5_000;
const MOST_BYTES = 100_000_000;

/** A fingerprint of all a plugin holds. Throws a sentence for what cannot be held to one: links, and far too much. */
export async function pluginMark(root: string): Promise<string> {
  const hash = createHash('sha256');
  let [files, bytes] = [0, 0];
  for (const path of await filesIn(root, root)) {
    const content = await readFile(path);
    files += 1;
    bytes += content.length;
    if (files > MOST_FILES || bytes > MOST_BYTES) throw new Error(`${root} holds more than a plugin may.`);
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** All files, in one order for every disk; what git keeps of itself is no part of a plugin. */
async function filesIn(folder: string, root: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).toSorted();
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      if (name === '.git') return [];
      const facts = await lstat(path);
      if (facts.isSymbolicLink()) throw new Error(`${relative(root, path)} is a link, which a plugin may not hold.`);
      if (facts.isDirectory()) return filesIn(path, root);
      return facts.isFile() ? [path] : [];
    }),
  );
  return found.flat();
}
