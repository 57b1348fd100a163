import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import path from 'node:path';
import { copyAttributes } from './attributes.ts';
import { errnoOf, ifThere } from './errno.ts';
import { noteDraft, writeInPlace } from './unfinished.ts';

/** What is looked at before and after: the same file keeps all of these. */
type Entry = {
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
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

/** Where it is noted what a write is in the middle of, and what the disk can do. */
export type WriteParts = { readonly fs?: WriteFs | undefined; readonly unfinished?: string | undefined };

/**
 * Replaces a file's bytes in one step: after any failure the old content is still there and no other file is left.
 * Mode, owner and attributes stay; a link keeps pointing where it did and its target is written. A file that cannot be
 * replaced so, or that has several names, is written in place. Answers with the path written to.
 */
export async function writeAtomically(file: string, bytes: Uint8Array, parts: WriteParts = {}): Promise<string> {
  const { fs = nodeFs, unfinished } = parts;
  const target = await resolveTarget(file, fs);
  const before = await ifThere(fs.lstat(target));
  if (before !== undefined && !before.isFile()) throw new WriteRefused(`${target} is not a regular file.`);
  const inPlace = async () => {
    await (await fs.open(target, constants.O_WRONLY | constants.O_NOFOLLOW, 0)).close();
    writeInPlace(unfinished, target, bytes);
  };
  if (before !== undefined && before.nlink > 1) {
    await inPlace();
    return target;
  }
  try {
    await replace(target, bytes, before, { fs, unfinished });
  } catch (thrown) {
    if (before === undefined || !mustStay(thrown)) throw thrown;
    await checkTarget(target, before, fs);
    await inPlace();
  }
  return target;
}

/** The folder takes no new file or gives none up, the file is a place where another one is mounted, or is not ours. */
const STAYS: readonly string[] = ['EACCES', 'EPERM', 'EBUSY', 'EXDEV', 'EROFS'];

const mustStay = (thrown: unknown) => thrown instanceof NotAlike || STAYS.includes(errnoOf(thrown) ?? '');

/** A new file could not be given what the old one had: its owner, or who else may use it. */
class NotAlike extends Error {}

async function replace(
  target: string,
  bytes: Uint8Array,
  before: Entry | undefined,
  { fs, unfinished }: { readonly fs: WriteFs; readonly unfinished: string | undefined },
): Promise<void> {
  const parents = await lookAtParents(target, fs);
  const temporary = path.join(path.dirname(target), `.${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const done = noteDraft(unfinished, temporary);
  try {
    const handle = await fs.open(temporary, flags, before === undefined ? 0o666 : 0o600);
    await fill(handle, bytes, before, { from: target, to: temporary });
    await checkParents(parents, fs);
    await checkTarget(target, before, fs);
    await fs.rename(temporary, target);
  } catch (thrown) {
    // The first failure is the one worth telling.
    await fs.unlink(temporary).catch(() => undefined);
    throw thrown;
  } finally {
    done();
  }
  await syncDirectory(path.dirname(target), fs);
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

async function fill(
  handle: WriteHandle,
  bytes: Uint8Array,
  before: Entry | undefined,
  paths: { readonly from: string; readonly to: string },
): Promise<void> {
  try {
    await handle.writeFile(bytes);
    if (before !== undefined) await makeAlike(handle, before, paths);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Attributes before the mode: with an access list, the bits of the group say what others in the list may. */
async function makeAlike(
  handle: WriteHandle,
  before: Entry,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const made = await handle.stat();
  if (made.uid !== before.uid || made.gid !== before.gid) {
    // Only root may give files away.
    await handle.chown(before.uid, before.gid).catch(() => {
      throw new NotAlike();
    });
  }
  if (!copyAttributes(from, to)) throw new NotAlike();
  await handle.chmod(before.mode & 0o7777);
}

/** Makes the rename last. The new content is in place, so a file system that cannot do this is no failure. */
async function syncDirectory(directory: string, fs: WriteFs): Promise<void> {
  const handle = await fs.open(directory, constants.O_RDONLY, 0).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close().catch(() => undefined);
}
