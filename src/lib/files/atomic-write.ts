import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from './errno.ts';

/** What is looked at before and after: the same file keeps all of these. */
type Entry = {
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly uid: number;
  readonly gid: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
};

export type WriteHandle = {
  stat(): Promise<Entry>;
  writeFile(bytes: Uint8Array): Promise<void>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
};

/** The few calls a write needs; tests hand in ones that fail. */
export type WriteFs = {
  lstat(path: string): Promise<Entry>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  open(path: string, flags: number, mode: number): Promise<WriteHandle>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
};

/** The path is not what it was, or not a file; nothing was written. */
export class WriteRefused extends Error {
  override readonly name = 'WriteRefused';
}

const LINK_LIMIT = 40;

/**
 * Replaces a file's bytes in one step: after any failure the old content is still there and no other file is left.
 * Mode and owner stay; a link keeps pointing where it did and its target is written. Answers with the path written to.
 */
export async function writeAtomically(file: string, bytes: Uint8Array, fs: WriteFs = nodeFs): Promise<string> {
  const target = await resolveTarget(file, fs);
  const before = await ifThere(fs.lstat(target));
  if (before !== undefined && !before.isFile()) throw new WriteRefused(`${target} is not a regular file.`);
  const parents = await lookAtParents(target, fs);
  const temporary = path.join(path.dirname(target), `.${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await fs.open(temporary, flags, before === undefined ? 0o666 : 0o600);
  try {
    await fill(handle, bytes, before);
    await checkParents(parents, fs);
    await checkTarget(target, before, fs);
    await fs.rename(temporary, target);
  } catch (thrown) {
    // The first failure is the one worth telling.
    await fs.unlink(temporary).catch(() => undefined);
    throw thrown;
  }
  await syncDirectory(path.dirname(target), fs);
  return target;
}

/** Where the bytes really go: links followed by hand, so that a link to nothing works too. */
async function resolveTarget(file: string, fs: WriteFs): Promise<string> {
  let target = path.resolve(file);
  for (let hops = 0; hops < LINK_LIMIT; hops += 1) {
    target = path.join(await fs.realpath(path.dirname(target)), path.basename(target));
    const entry = await ifThere(fs.lstat(target));
    if (!entry?.isSymbolicLink()) return target;
    target = path.resolve(path.dirname(target), await fs.readlink(target));
  }
  throw new WriteRefused(`${file} is a link that leads in a circle.`);
}

type Parent = { readonly path: string; readonly entry: Entry };

async function lookAtParents(target: string, fs: WriteFs): Promise<readonly Parent[]> {
  const parents: Parent[] = [];
  let directory = path.dirname(target);
  while (true) {
    parents.push({ path: directory, entry: await fs.lstat(directory) });
    const up = path.dirname(directory);
    if (up === directory) break;
    directory = up;
  }
  const swapped = parents.find((parent) => !parent.entry.isDirectory());
  if (swapped !== undefined) throw new WriteRefused(`${swapped.path} became a link while the file was being written.`);
  return parents;
}

async function checkParents(parents: readonly Parent[], fs: WriteFs): Promise<void> {
  for (const parent of parents) {
    const now = await fs.lstat(parent.path);
    if (now.isDirectory() && now.dev === parent.entry.dev && now.ino === parent.entry.ino) continue;
    throw new WriteRefused(`${parent.path} was replaced while the file was being written.`);
  }
}

async function checkTarget(target: string, before: Entry | undefined, fs: WriteFs): Promise<void> {
  const now = await ifThere(fs.lstat(target));
  if (now === undefined && before === undefined) return;
  const same =
    now !== undefined &&
    before !== undefined &&
    now.isFile() &&
    now.dev === before.dev &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs;
  if (!same) throw new WriteRefused(`${target} was changed by somebody else while it was being written.`);
}

async function fill(handle: WriteHandle, bytes: Uint8Array, before: Entry | undefined): Promise<void> {
  try {
    await handle.writeFile(bytes);
    if (before !== undefined) await keepOwnerAndMode(handle, before);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepOwnerAndMode(handle: WriteHandle, before: Entry): Promise<void> {
  const made = await handle.stat();
  if (made.uid !== before.uid || made.gid !== before.gid) {
    // Only root may give files away; for everybody else the content matters more than the group.
    await handle.chown(before.uid, before.gid).catch(() => undefined);
  }
  await handle.chmod(before.mode & 0o7777);
}

/** Makes the rename last. The new content is in place, so a file system that cannot do this is no failure. */
async function syncDirectory(directory: string, fs: WriteFs): Promise<void> {
  const handle = await fs.open(directory, constants.O_RDONLY, 0).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close().catch(() => undefined);
}
