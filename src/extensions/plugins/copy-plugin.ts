import { chmod, copyFile, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

const MOST_FILES = 5_000;

/**
 * Copies a plugin without what git keeps of itself. A link becomes what it leads to, as long as that lies where the plugin
 * was published; one that leads elsewhere, or in a circle, throws a sentence.
 */
export async function copyPlugin(from: string, to: string, publishedIn: string): Promise<void> {
  const bounds = await realpath(publishedIn);
  let files = 0;

  async function copy(source: string, target: string, above: readonly string[]): Promise<void> {
    const name = relative(from, source);
    const real = await realpath(source).catch(() => undefined);
    if (real === undefined) throw new Error(`${name} is a link that leads nowhere.`);
    if (real !== bounds && !real.startsWith(`${bounds}/`))
      throw new Error(`${name} is a link that leads out of ${publishedIn}.`);
    const facts = await stat(real);
    if (facts.isDirectory()) {
      if (above.includes(real)) throw new Error(`${name} is a link that leads in a circle.`);
      await mkdir(target, { recursive: true, mode: 0o700 });
      for (const one of await readdir(real))
        if (one !== '.git') await copy(join(source, one), join(target, one), [...above, real]);
      return;
    }
    if (!facts.isFile()) return;
    files += 1;
    if (files > MOST_FILES) throw new Error(`${from} holds more than a plugin may.`);
    await copyFile(real, target);
    await chmod(target, facts.mode & 0o777);
  }

  await copy(from, to, []);
}
