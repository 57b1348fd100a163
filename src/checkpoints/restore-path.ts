import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { CheckpointPathState, FileAccessMetadata } from '../contracts/session.ts';
import { copyExtendedAttributes, setExtendedAttributes } from '../lib/files/extended-attributes.ts';
import { decodeFileName, encodeFsPath } from '../lib/files/non-utf8-paths.ts';
import { recordTemporaryFile, writeInPlace } from '../lib/files/write-journal.ts';
import type { ContentStore } from './content-store.ts';

type StoredState = Exclude<CheckpointPathState, { kind: 'absent' | 'not-kept' }>;

/** Removes a file or an empty folder. */
export function removePath(path: string, openedFolders: Map<string, number>): void {
  const current = lstat(path);
  if (current === undefined) return;
  assertNotLinked(dirname(path));
  makeWritable(dirname(path), openedFolders);
  if (current.isDirectory()) removeEmpty(path);
  else unlinkSync(encodeFsPath(path));
}

function removeEmpty(folder: string): void {
  if (readdirSync(encodeFsPath(folder)).length > 0) throw new Error('it still holds files that were never recorded.');
  rmdirSync(encodeFsPath(folder));
}

/** Context of `restorePath`; `opened` holds the modes of the read-only folders that were made writable. */
export type RestoreContext = {
  readonly store: ContentStore;
  readonly opened: Map<string, number>;
  readonly unfinished: string | undefined;
};

/** Gives a path its recorded state; the access of a folder is restored last, by `restoreFolderAccess`. */
export function restorePath(
  path: string,
  state: StoredState,
  { store, opened: openedFolders, unfinished }: RestoreContext,
): void {
  const parent = dirname(path);
  if (lstat(parent) === undefined) mkdirSync(encodeFsPath(parent), { recursive: true });
  assertNotLinked(parent);
  makeWritable(parent, openedFolders);
  const current = lstat(path);
  switch (state.kind) {
    case 'folder':
      if (current?.isDirectory() === true) return;
      if (current !== undefined) unlinkSync(encodeFsPath(path));
      mkdirSync(encodeFsPath(path));
      chmodSync(encodeFsPath(path), state.mode | 0o700);
      return;
    case 'pipe':
      if (current?.isFIFO() !== true) makePipe(path, current);
      assertAccessSet(restoreAccess(path, state));
      return;
    case 'link':
      clearTarget(path, current);
      symlinkSync(encodeFsPath(state.target), encodeFsPath(path));
      return;
    default: {
      const bytes = store.read(state.hash);
      if (bytes === undefined) throw new Error('its stored content is gone.');
      clearTarget(path, current);
      assertAccessSet(writeFile(path, bytes, state, unfinished));
    }
  }
}

/** Restores the mode, owner and attributes of a folder, unless a link is in its place. */
export function restoreFolderAccess(path: string, state: FileAccessMetadata): void {
  if (isRealPath(path)) assertAccessSet(restoreAccess(path, state));
}

function makePipe(path: string, current: ReturnType<typeof lstat>): void {
  clearTarget(path, current);
  if (current?.isFile() === true) unlinkSync(encodeFsPath(path));
  const { status } = spawnSync('mkfifo', ['--', path]);
  if (status !== 0) throw new Error('the system could not create a named pipe there.');
}

function assertNotLinked(folder: string): void {
  if (!isRealPath(folder)) throw new Error('its folder is a link now, and files behind links are not changed.');
}

/** Tells whether the path of an existing folder goes through a symbolic link. */
export function isBelowSymlink(folder: string): boolean {
  return lstat(folder) !== undefined && !isRealPath(folder);
}

function isRealPath(folder: string): boolean {
  try {
    return decodeFileName(realpathSync(encodeFsPath(folder), { encoding: 'buffer' })) === folder;
  } catch {
    return false;
  }
}

/** Removes a link or an empty folder from a path; a folder with files may hold unrecorded ones. */
function clearTarget(path: string, current: ReturnType<typeof lstat>): void {
  if (current?.isDirectory() === true) removeEmpty(path);
  else if (current?.isSymbolicLink() === true) unlinkSync(encodeFsPath(path));
}

/** Writes a file atomically, or in place if it has hard links or another owner. */
function writeFile(
  path: string,
  bytes: Uint8Array,
  access: FileAccessMetadata,
  unfinished: string | undefined,
): readonly string[] {
  const current = lstat(path);
  if (current?.isFile() === true && (current.nlink > 1 || current.uid !== process.geteuid?.())) {
    writeInPlace(unfinished, path, bytes);
    return restoreAccess(path, access);
  }
  const draft = join(dirname(path), `.${randomBytes(9).toString('hex')}.tmp`);
  const clearNote = recordTemporaryFile(unfinished, draft);
  const file = openSync(encodeFsPath(draft), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeFileSync(file, bytes);
    if (current?.isFile() === true && access.owner === undefined) {
      fchownSync(file, current.uid, current.gid);
      copyExtendedAttributes(path, draft);
    }
    const refused = restoreAccess(draft, access);
    renameSync(encodeFsPath(draft), encodeFsPath(path));
    return refused;
  } catch (thrown) {
    rmSync(encodeFsPath(draft), { force: true });
    throw thrown;
  } finally {
    closeSync(file);
    clearNote();
  }
}

function assertAccessSet(refused: readonly string[]): void {
  if (refused.length > 0) throw new Error(`it is restored, but the system refused to set ${refused.join(' and ')}.`);
}

/** Makes a read-only folder writable and notes its mode, which is restored at the end. */
function makeWritable(folder: string, openedFolders: Map<string, number>): void {
  const { mode } = lstatSync(encodeFsPath(folder));
  if ((mode & 0o300) === 0o300 || openedFolders.has(folder)) return;
  openedFolders.set(folder, mode & 0o7777);
  chmodSync(encodeFsPath(folder), (mode & 0o7777) | 0o700);
}

/** Returns the stats of a path itself; `undefined` if it does not exist. */
export function lstat(path: string) {
  try {
    return lstatSync(encodeFsPath(path));
  } catch {
    return undefined;
  }
}

const ACL_ATTRIBUTE = 'system.posix_acl_access';
const GROUP_BITS = 0o070;
const SET_ID_BITS = 0o6000;

/**
 * Restores the recorded owner, extended attributes and mode of a path. Returns what the system refused to set; the mode
 * is then narrowed so that access is never wider than it was.
 */
function restoreAccess(path: string, { mode, owner, attributes = {} }: FileAccessMetadata): readonly string[] {
  if (owner === undefined) {
    chmodSync(encodeFsPath(path), mode);
    return [];
  }
  const hasOwner = setOwner(path, owner);
  // After the owner, because chown drops capabilities, and before the mode.
  const refused = setExtendedAttributes(
    path,
    new Map(Object.entries(attributes).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  );
  // With an ACL the group bits are its mask; without the ACL they would grant that much to the group itself.
  const safeMode = refused.includes(ACL_ATTRIBUTE) ? mode & ~GROUP_BITS : mode;
  chmodSync(encodeFsPath(path), hasOwner ? safeMode : safeMode & ~SET_ID_BITS);
  return [...(hasOwner ? [] : [`its owner ${owner}`]), ...refused.map((name) => `its attribute ${name}`)];
}

function setOwner(path: string, owner: string): boolean {
  const diskFile = encodeFsPath(path);
  const now = lstatSync(diskFile);
  if (`${now.uid}:${now.gid}` === owner) return true;
  const [uid = now.uid, gid = now.gid] = owner.split(':').map(Number);
  try {
    lchownSync(diskFile, uid, gid);
    return true;
  } catch {
    // Only root may change the owner of a file.
    return false;
  }
}
