import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchownSync,
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
import { dirname, join, sep } from 'node:path';
import type { FileAccess, FileBefore } from '../contracts/session.ts';
import { messageOf } from '../lib/errors.ts';
import { copyAttributes } from '../lib/files/attributes.ts';
import { diskPath, nameOf } from '../lib/files/byte-names.ts';
import { noteDraft, writeInPlace } from '../lib/files/unfinished.ts';
import type { ContentStore } from './content-store.ts';
import { giveAccess } from './give-access.ts';

/** What came of going back. */
export type Restored = {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  /** What could not be brought back, in words. */
  readonly problems: readonly string[];
};

type Kept = Exclude<FileBefore, { kind: 'absent' | 'not-kept' }>;

/** Makes every path what it was. Nothing is written through a link, and nothing is left half. */
export function restore(
  plan: ReadonlyMap<string, FileBefore>,
  store: ContentStore,
  unfinished: string | undefined,
): Restored {
  const restored: string[] = [];
  const removed: string[] = [];
  const problems: string[] = [];
  const wrong = [...plan];
  const opened = new Map<string, number>();
  const attempt = (path: string, work: () => void, done: string[]) => {
    try {
      work();
      done.push(path);
    } catch (thrown) {
      problems.push(`${path}: ${messageOf(thrown)}`);
    }
  };

  for (const [path, before] of wrong) {
    if (before.kind === 'not-kept') problems.push(`${path}: it was not kept (${before.why}).`);
  }
  // From the bottom up what was not there goes, so that folders are empty when their turn comes.
  for (const [path, before] of wrong.toSorted(deepestFirst)) {
    if (before.kind === 'absent') attempt(path, () => remove(path, opened), removed);
  }
  // From the top down what was there comes back.
  for (const [path, before] of wrong.toSorted(deepestFirst).toReversed()) {
    if (before.kind === 'absent' || before.kind === 'not-kept') continue;
    attempt(path, () => bringBack(path, before, { store, opened, unfinished }), restored);
  }
  // Modes of folders last: one that forbids writing would have forbidden all of the above.
  for (const [path, mode] of opened)
    if (lstat(path) !== undefined) attempt(path, () => chmodSync(diskPath(path), mode), []);
  for (const [path, before] of wrong.toSorted(deepestFirst)) {
    if (before.kind === 'folder' && isItself(path)) attempt(path, () => allGiven(giveAccess(path, before)), []);
  }
  return { restored, removed, problems };
}

const deepestFirst = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
  depth(b) - depth(a) || (a < b ? -1 : 1);
const depth = (path: string) => path.split(sep).length;

function remove(path: string, opened: Map<string, number>): void {
  const now = lstat(path);
  if (now === undefined) return;
  refuseLinked(dirname(path));
  makeWritable(dirname(path), opened);
  if (now.isDirectory()) removeEmpty(path);
  else unlinkSync(diskPath(path));
}

function removeEmpty(folder: string): void {
  if (readdirSync(diskPath(folder)).length > 0) throw new Error('it holds files that were never kept, so it stays.');
  rmdirSync(diskPath(folder));
}

type Means = {
  readonly store: ContentStore;
  readonly opened: Map<string, number>;
  readonly unfinished: string | undefined;
};

function bringBack(path: string, before: Kept, { store, opened, unfinished }: Means): void {
  const parent = dirname(path);
  if (lstat(parent) === undefined) mkdirSync(diskPath(parent), { recursive: true });
  refuseLinked(parent);
  makeWritable(parent, opened);
  const now = lstat(path);
  switch (before.kind) {
    case 'folder':
      if (now?.isDirectory() === true) return;
      if (now !== undefined) unlinkSync(diskPath(path));
      mkdirSync(diskPath(path));
      chmodSync(diskPath(path), before.mode | 0o700);
      return;
    case 'pipe':
      if (now?.isFIFO() !== true) makePipe(path, now);
      allGiven(giveAccess(path, before));
      return;
    case 'link':
      clear(path, now);
      symlinkSync(diskPath(before.target), diskPath(path));
      return;
    default: {
      const bytes = store.read(before.hash);
      if (bytes === undefined) throw new Error('its kept content is gone.');
      clear(path, now);
      allGiven(writeFile(path, bytes, before, unfinished));
    }
  }
}

function makePipe(path: string, now: ReturnType<typeof lstat>): void {
  clear(path, now);
  if (now?.isFile() === true) unlinkSync(diskPath(path));
  const { status } = spawnSync('mkfifo', ['--', path]);
  if (status !== 0) throw new Error('the system could not make a named pipe there.');
}

function refuseLinked(folder: string): void {
  if (!isItself(folder)) throw new Error('its folder is a link now, and nothing is changed through it.');
}

/** A link stands somewhere on the way to a folder. */
export function leadsElsewhere(folder: string): boolean {
  return lstat(folder) !== undefined && !isItself(folder);
}

function isItself(folder: string): boolean {
  try {
    return nameOf(realpathSync(diskPath(folder), { encoding: 'buffer' })) === folder;
  } catch {
    return false;
  }
}

/** A folder that stands where a file was may hold what was never looked at: then it stays. */
function clear(path: string, now: ReturnType<typeof lstat>): void {
  if (now?.isDirectory() === true) removeEmpty(path);
  else if (now?.isSymbolicLink() === true) unlinkSync(diskPath(path));
}

/** As tools write: a file that has several names, or that somebody else owns, stays the same file. */
function writeFile(
  path: string,
  bytes: Uint8Array,
  access: FileAccess,
  unfinished: string | undefined,
): readonly string[] {
  const now = lstat(path);
  if (now?.isFile() === true && (now.nlink > 1 || now.uid !== process.geteuid?.())) {
    writeInPlace(unfinished, path, bytes);
    return giveAccess(path, access);
  }
  const draft = join(dirname(path), `.${randomBytes(9).toString('hex')}.tmp`);
  const done = noteDraft(unfinished, draft);
  const file = openSync(diskPath(draft), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeFileSync(file, bytes);
    if (now?.isFile() === true && access.owner === undefined) {
      fchownSync(file, now.uid, now.gid);
      copyAttributes(path, draft);
    }
    const refused = giveAccess(draft, access);
    renameSync(diskPath(draft), diskPath(path));
    return refused;
  } catch (thrown) {
    rmSync(diskPath(draft), { force: true });
    throw thrown;
  } finally {
    closeSync(file);
    done();
  }
}

function allGiven(refused: readonly string[]): void {
  if (refused.length > 0) throw new Error(`it is back, but the system does not give it ${refused.join(' and ')}.`);
}

/** A read-only folder is opened for as long as it takes. */
function makeWritable(folder: string, opened: Map<string, number>): void {
  const { mode } = lstatSync(diskPath(folder));
  if ((mode & 0o300) === 0o300 || opened.has(folder)) return;
  opened.set(folder, mode & 0o7777);
  chmodSync(diskPath(folder), (mode & 0o7777) | 0o700);
}

function lstat(path: string) {
  try {
    return lstatSync(diskPath(path));
  } catch {
    return undefined;
  }
}
