import { createHash } from 'node:crypto';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

const MAX_FILES = 5_000;

/**
 * Copies a plugin without its `.git` folder. Links are resolved when they stay inside the published folder; links that
 * leave it, or form a cycle, throw an error.
 */
export async function copyPlugin(from: string, to: string, publishedIn: string): Promise<void> {
  const boundary = await realpath(publishedIn);
  let files = 0;

  async function copy(source: string, target: string, ancestors: readonly string[]): Promise<void> {
    const name = relative(from, source);
    const real = await realpath(source).catch(() => undefined);
    if (real === undefined) throw new Error(`${name} is a broken link.`);
    if (real !== boundary && !real.startsWith(`${boundary}${sep}`))
      throw new Error(`${name} is a link to a path outside ${publishedIn}.`);
    const stats = await stat(real);
    if (stats.isDirectory()) {
      if (ancestors.includes(real)) throw new Error(`${name} is a link to its own parent folder.`);
      await mkdir(target, { recursive: true, mode: 0o700 });
      for (const entry of await readdir(real))
        if (entry !== '.git') await copy(join(source, entry), join(target, entry), [...ancestors, real]);
      return;
    }
    if (!stats.isFile()) return;
    files += 1;
    if (files > MAX_FILES) throw new Error(`${from} has more than ${MAX_FILES} files.`);
    await copyFile(real, target);
    await chmod(target, stats.mode & 0o777);
  }

  await copy(from, to, []);
}

const MAX_HASHED_FILES = 5_000;
const MAX_HASHED_BYTES = 100_000_000;

/** Hashes all files of an installed plugin; throws for links and for plugins above the limits. */
export async function hashPlugin(root: string): Promise<string> {
  const hash = createHash('sha256');
  let [files, bytes] = [0, 0];
  for (const path of await listFiles(root, root)) {
    const content = await readFile(path);
    files += 1;
    bytes += content.length;
    if (files > MAX_HASHED_FILES || bytes > MAX_HASHED_BYTES)
      throw new Error(`${root} has more than ${MAX_HASHED_FILES} files or ${MAX_HASHED_BYTES} bytes.`);
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Lists all files in sorted order, without the `.git` folder. */
async function listFiles(folder: string, root: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).toSorted();
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      if (name === '.git') return [];
      const stats = await lstat(path);
      if (stats.isSymbolicLink()) throw new Error(`${relative(root, path)} is a link; a plugin may not contain links.`);
      if (stats.isDirectory()) return listFiles(path, root);
      return stats.isFile() ? [path] : [];
    }),
  );
  return found.flat();
}
