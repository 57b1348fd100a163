import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import path from 'node:path';
import { getErrnoCode, ignoreMissingFile } from '../errors.ts';
import { copyExtendedAttributes } from './extended-attributes.ts';
import { recordTemporaryFile, writeInPlace } from './write-journal.ts';

/** The properties of a file that are compared before and after a write. */
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

/** The operations on an open file. */
export type WritableFileHandle = {
  stat(): Promise<Entry>;
  writeFile(bytes: Uint8Array): Promise<void>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
};

/** The file system calls of a write; tests pass failing ones. */
export type AtomicWriteFs = {
  lstat(path: string): Promise<Entry>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  open(path: string, flags: number, mode: number): Promise<WritableFileHandle>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
};

/** A write was refused because the path is not a file or was changed meanwhile. Nothing was written. */
export class WriteRefused extends Error {
  override readonly name = 'WriteRefused';
}

const MAX_LINKS = 40;

/** The dependencies of a write. */
export type AtomicWriteDeps = {
  readonly fs?: AtomicWriteFs | undefined;
  /** Folder of the write journal. */
  readonly unfinished?: string | undefined;
  /** The content that the write replaces: with another one in the file, nothing is written. */
  readonly expected?: ExpectedContent | undefined;
};

/** The content of a file that was looked at before it is replaced. */
export type ExpectedContent = Uint8Array | 'no file';

/** The path that was written, behind symlinks, and whether another file took its place or its bytes were overwritten. */
export type AtomicWriteResult = {
  readonly path: string;
  readonly method: 'replaced' | 'overwritten-to-keep-hard-links' | 'overwritten-as-not-replaceable';
};

/**
 * Replaces the content of a file atomically: after a failure the old content is intact and no temporary file is left.
 * Preserves mode, owner and extended attributes; through a symlink its target is written. A file that cannot be
 * replaced, or that has hard links, is written in place.
 */
export async function writeAtomically(
  file: string,
  bytes: Uint8Array,
  parts: AtomicWriteDeps = {},
): Promise<AtomicWriteResult> {
  const { fs = nodeFs, unfinished, expected } = parts;
  const target = await resolveTarget(file, fs);
  const before = await ignoreMissingFile(fs.lstat(target));
  if (before !== undefined && !before.isFile()) throw new WriteRefused(`${target} is not a regular file.`);
  const check = (content: Uint8Array | undefined) => checkContent(target, expected, content);
  // From here on `checkTarget` sees any other write.
  if (expected !== undefined) check(before === undefined ? undefined : await nodeFs.readFile(target));
  const overwrite = async () => {
    await (await fs.open(target, constants.O_WRONLY | constants.O_NOFOLLOW, 0)).close();
    writeInPlace(unfinished, target, bytes, check);
  };
  if (before !== undefined && before.nlink > 1) {
    await overwrite();
    return { path: target, method: 'overwritten-to-keep-hard-links' };
  }
  try {
    await replace(target, bytes, before, { fs, unfinished });
    return { path: target, method: 'replaced' };
  } catch (thrown) {
    if (before === undefined || !needsOverwrite(thrown)) throw thrown;
    await checkTarget(target, before, fs);
    await overwrite();
    return { path: target, method: 'overwritten-as-not-replaceable' };
  }
}

/** Throws if a file does not have the content that the write replaces. */
function checkContent(target: string, expected: ExpectedContent | undefined, content: Uint8Array | undefined): void {
  if (expected === undefined || (expected === 'no file' && content === undefined)) return;
  if (expected === 'no file') throw new WriteRefused(`${target} was created by another program meanwhile.`);
  if (content === undefined) throw new WriteRefused(`${target} was deleted by another program meanwhile.`);
  if (!Buffer.from(expected.buffer, expected.byteOffset, expected.byteLength).equals(content))
    throw new WriteRefused(`${target} was changed by another program meanwhile.`);
}

/** Errors of a file that cannot be replaced: a read-only folder, a mount point, or a file of another user. */
const NOT_REPLACEABLE: readonly string[] = ['EACCES', 'EPERM', 'EBUSY', 'EXDEV', 'EROFS'];

const needsOverwrite = (thrown: unknown) =>
  thrown instanceof AttributesNotCopied || NOT_REPLACEABLE.includes(getErrnoCode(thrown) ?? '');

/** The owner or the extended attributes of the old file could not be given to the new one. */
class AttributesNotCopied extends Error {}

async function replace(
  target: string,
  bytes: Uint8Array,
  before: Entry | undefined,
  { fs, unfinished }: { readonly fs: AtomicWriteFs; readonly unfinished: string | undefined },
): Promise<void> {
  const parents = await statParents(target, fs);
  const temporary = path.join(path.dirname(target), `.${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const clearDraft = recordTemporaryFile(unfinished, temporary);
  try {
    const handle = await fs.open(temporary, flags, before === undefined ? 0o666 : 0o600);
    await writeContent(handle, bytes, before, { from: target, to: temporary });
    await checkParents(parents, fs);
    await checkTarget(target, before, fs);
    await fs.rename(temporary, target);
  } catch (thrown) {
    // The first error is the one to report.
    await fs.unlink(temporary).catch(() => undefined);
    throw thrown;
  } finally {
    clearDraft();
  }
  await syncDirectory(path.dirname(target), fs);
}

/** Follows symlinks to the path to write. Done step by step, so that a dangling link works too. */
async function resolveTarget(file: string, fs: AtomicWriteFs): Promise<string> {
  let target = path.resolve(file);
  for (let hops = 0; hops < MAX_LINKS; hops += 1) {
    target = path.join(await fs.realpath(path.dirname(target)), path.basename(target));
    const entry = await ignoreMissingFile(fs.lstat(target));
    if (!entry?.isSymbolicLink()) return target;
    target = path.resolve(path.dirname(target), await fs.readlink(target));
  }
  throw new WriteRefused(`${file} is a link that leads in a circle.`);
}

type Parent = { readonly path: string; readonly entry: Entry };

async function statParents(target: string, fs: AtomicWriteFs): Promise<readonly Parent[]> {
  const parents: Parent[] = [];
  let directory = path.dirname(target);
  while (true) {
    parents.push({ path: directory, entry: await fs.lstat(directory) });
    const parent = path.dirname(directory);
    if (parent === directory) break;
    directory = parent;
  }
  const swapped = parents.find((parent) => !parent.entry.isDirectory());
  if (swapped !== undefined) throw new WriteRefused(`${swapped.path} became a link while the file was being written.`);
  return parents;
}

async function checkParents(parents: readonly Parent[], fs: AtomicWriteFs): Promise<void> {
  for (const parent of parents) {
    const now = await fs.lstat(parent.path);
    if (now.isDirectory() && now.dev === parent.entry.dev && now.ino === parent.entry.ino) continue;
    throw new WriteRefused(`${parent.path} was replaced while the file was being written.`);
  }
}

async function checkTarget(target: string, before: Entry | undefined, fs: AtomicWriteFs): Promise<void> {
  const now = await ignoreMissingFile(fs.lstat(target));
  if (now === undefined && before === undefined) return;
  const same =
    now !== undefined &&
    before !== undefined &&
    now.isFile() &&
    now.dev === before.dev &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs;
  if (!same) throw new WriteRefused(`${target} was changed by another program while it was being written.`);
}

async function writeContent(
  handle: WritableFileHandle,
  bytes: Uint8Array,
  before: Entry | undefined,
  paths: { readonly from: string; readonly to: string },
): Promise<void> {
  try {
    await handle.writeFile(bytes);
    if (before !== undefined) await copyMetadata(handle, before, paths);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Copies owner, extended attributes and mode. The mode comes last: with an ACL its group bits are the ACL mask. */
async function copyMetadata(
  handle: WritableFileHandle,
  before: Entry,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const created = await handle.stat();
  if (created.uid !== before.uid || created.gid !== before.gid) {
    // Only root may change the owner.
    await handle.chown(before.uid, before.gid).catch(() => {
      throw new AttributesNotCopied();
    });
  }
  if (!copyExtendedAttributes(from, to)) throw new AttributesNotCopied();
  await handle.chmod(before.mode & 0o7777);
}

/** Syncs a directory to make a rename durable. File systems that do not support this are ignored. */
async function syncDirectory(directory: string, fs: AtomicWriteFs): Promise<void> {
  const handle = await fs.open(directory, constants.O_RDONLY, 0).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close().catch(() => undefined);
}
