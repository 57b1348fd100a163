import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere } from './errno.ts';

/** Replaces a file that is nobody else's business, in one step: mode 0600, and never through a link. */
export async function writePrivately(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseLink(folder);
  await refuseLink(file);
  const draft = join(folder, `.${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(draft, flags, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(draft, file);
  } catch (thrown) {
    await handle.close().catch(() => undefined);
    await unlink(draft).catch(() => undefined);
    throw thrown;
  }
}

/** Throws when a path is a link: who put it there decides where writing goes. */
export async function refuseLink(path: string): Promise<void> {
  const entry = await ifThere(lstat(path));
  if (entry?.isSymbolicLink() === true) throw new Error(`${path} is a link, and links are not written through.`);
}
