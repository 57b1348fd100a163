import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ifThere } from './errno.ts';

/**
 * Replaces a file that is nobody else's business, in one step: mode 0600. Links that its owner made are followed, as
 * people keep their settings in other places; one of somebody else would decide where writing goes.
 */
export async function writePrivately(file: string, text: string): Promise<void> {
  await mkdir(await behindLinks(dirname(file)), { recursive: true, mode: 0o700 });
  const target = await behindLinks(file);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(draft, flags, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(draft, target);
  } catch (thrown) {
    await handle.close().catch(() => undefined);
    await unlink(draft).catch(() => undefined);
    throw thrown;
  }
}

const LINK_LIMIT = 40;

/** Where a path leads, also when nothing is there yet. Throws at a link that is neither ours nor the system's. */
export async function behindLinks(path: string): Promise<string> {
  let at = resolve(path);
  for (let hops = 0; hops < LINK_LIMIT; hops += 1) {
    if (at !== dirname(at))
      at = join((await ifThere(realpath(dirname(at)))) ?? (await behindLinks(dirname(at))), basename(at));
    const entry = await ifThere(lstat(at));
    if (entry?.isSymbolicLink() !== true) return at;
    if (entry.uid !== 0 && entry.uid !== process.getuid?.()) {
      throw new Error(`${at} is a link of somebody else, and nothing is written through it. Remove the link.`);
    }
    at = resolve(dirname(at), await readlink(at));
  }
  throw new Error(`${path} is a link that leads in a circle.`);
}

/** Throws when a path is a link: who put it there decides where writing goes. */
export async function refuseLink(path: string): Promise<void> {
  const entry = await ifThere(lstat(path));
  if (entry?.isSymbolicLink() === true) throw new Error(`${path} is a link, and links are not written through.`);
}
