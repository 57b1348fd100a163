import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ignoreMissingFile } from '../errors.ts';

/**
 * Replaces a private file (mode 0600) atomically. Follows links of the user, who may keep settings elsewhere, but
 * rejects links of other users, because they could redirect the write.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await mkdir(await resolveTrustedLinks(dirname(file)), { recursive: true, mode: 0o700 });
  const target = await resolveTrustedLinks(file);
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

const MAX_LINKS = 40;

/** Resolves the links of a path that may not exist yet. Throws at a link that belongs to another user than root. */
export async function resolveTrustedLinks(path: string): Promise<string> {
  let current = resolve(path);
  for (let hops = 0; hops < MAX_LINKS; hops += 1) {
    const folder = dirname(current);
    if (current !== folder)
      current = join(
        (await ignoreMissingFile(realpath(folder))) ?? (await resolveTrustedLinks(folder)),
        basename(current),
      );
    const entry = await ignoreMissingFile(lstat(current));
    if (entry?.isSymbolicLink() !== true) return current;
    if (entry.uid !== 0 && entry.uid !== process.getuid?.()) {
      throw new Error(`${current} is a symbolic link of another user, so it is not written. Remove the link.`);
    }
    current = resolve(dirname(current), await readlink(current));
  }
  throw new Error(`${path} is a circular symbolic link.`);
}

/** Throws if a path is a symlink, because the link could redirect a write. */
export async function rejectSymlink(path: string): Promise<void> {
  const entry = await ignoreMissingFile(lstat(path));
  if (entry?.isSymbolicLink() === true) throw new Error(`${path} is a symbolic link, so it is not written.`);
}
