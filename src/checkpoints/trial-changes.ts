import { readdirSync, readFileSync, readlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointPathState } from '../contracts/session.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import { decodeFileName, encodeFsPath } from '../lib/files/non-utf8-paths.ts';
import { formatBytes } from '../lib/text/format.ts';
import type { LayeredFolder } from '../sandbox/trial-layer.ts';
import { hashContent } from './content-store.ts';
import { type RestoreDeps, restoreFiles } from './restore-files.ts';
import { lstat } from './restore-path.ts';
import { isSameFileState } from './workspace-snapshot.ts';

/** A path that differs in a layer from the folder below. */
export type TrialChange = {
  readonly path: string;
  readonly before: CheckpointPathState;
  readonly after: CheckpointPathState;
  readonly mtimeMs?: number;
};

/** The changes in layers with the contents of files before and after them, by their hashes. */
export type TrialChanges = {
  readonly changes: readonly TrialChange[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
};

/** The changes cannot be taken over, for the reason given. */
class UnusableLayer extends Error {
  override readonly name = 'UnusableLayer';
}

const MAX_CHANGES = 2_000;
const MAX_FILE_BYTES = 20_000_000;
const MAX_TOTAL_BYTES = 100_000_000;
/** Folders and files that programs make anew when they are gone. */
const CACHES =
  /(?:^|\/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.eslintcache|node_modules\/\.cache)(?:\/|$)/;
const SET_ID_BITS = 0o6000;

/** Collects what layers change, besides what they write in caches; the reason if it cannot be taken over. */
export function collectTrialChanges(folders: readonly LayeredFolder[]): TrialChanges | { readonly unusable: string } {
  const found = createFoundChanges();
  try {
    for (const folder of folders) collectFolder(folder, '', found);
    return { changes: found.changes.toSorted((a, b) => (a.path < b.path ? -1 : 1)), contents: found.contents };
  } catch (thrown) {
    if (thrown instanceof UnusableLayer) return { unusable: thrown.message };
    return { unusable: `left files that cannot be read (${getErrorPhrase(thrown)})` };
  }
}

type FoundChanges = ReturnType<typeof createFoundChanges>;

function createFoundChanges() {
  const changes: TrialChange[] = [];
  const contents = new Map<string, Uint8Array>();
  let totalBytes = 0;
  return {
    changes,
    contents,
    add(change: TrialChange): void {
      changes.push(change);
      if (changes.length > MAX_CHANGES) throw new UnusableLayer(`changed more than ${MAX_CHANGES} files`);
    },
    store(bytes: Uint8Array): string {
      totalBytes += bytes.length;
      if (totalBytes > MAX_TOTAL_BYTES)
        throw new UnusableLayer(`changed files of more than ${formatBytes(MAX_TOTAL_BYTES)}`);
      const hash = hashContent(bytes);
      contents.set(hash, bytes);
      return hash;
    },
  };
}

function collectFolder(folder: LayeredFolder, relative: string, found: FoundChanges): void {
  const { path, upper, merged } = folder;
  const below = join(path, relative);
  const names = new Set(listNames(join(merged, relative)));
  for (const name of listNames(below))
    if (!names.has(name)) collectDeleted(join(below, name), join(relative, name), found);
  // Besides what the folder still has, the layer holds marks of what is deleted.
  for (const name of listNames(join(upper, relative))) {
    const inner = join(relative, name);
    if (!names.has(name) || CACHES.test(inner)) continue;
    collectPath(folder, inner, found);
  }
}

function collectPath(folder: LayeredFolder, relative: string, found: FoundChanges): void {
  const path = join(folder.path, relative);
  const place = join(folder.merged, relative);
  const [before, after] = [readState(path, found), readState(place, found)];
  const entry = lstat(place);
  if (after.kind === 'absent' || entry === undefined) return;
  if (after.kind === 'not-kept') throw new UnusableLayer(`${after.why}: ${relative}`);
  if (before.kind === 'not-kept') throw new UnusableLayer(`replaced ${relative}, of which ${before.why}`);
  if (entry.isFile() && entry.nlink > 1 && (lstat(path)?.nlink ?? 1) < entry.nlink)
    throw new UnusableLayer(`made hard links: ${relative}`);
  if ('mode' in after && (after.mode & SET_ID_BITS) > 0) throw new UnusableLayer(`sets the user of ${relative}`);
  if (before.kind === 'folder' && after.kind !== 'folder') collectDeleted(path, relative, found, 'contents');
  if (!isSameFileState(before, after))
    found.add({ path, before, after, ...(after.kind === 'file' ? { mtimeMs: entry.mtimeMs } : {}) });
  if (after.kind === 'folder') collectFolder(folder, relative, found);
}

/** Collects a deleted path, after everything in it. */
function collectDeleted(path: string, relative: string, found: FoundChanges, what: 'all' | 'contents' = 'all'): void {
  const before = readState(path, found);
  if (before.kind === 'not-kept') throw new UnusableLayer(`deleted ${relative}, of which ${before.why}`);
  if (before.kind === 'folder')
    for (const name of listNames(path)) collectDeleted(join(path, name), join(relative, name), found);
  if (what === 'all') found.add({ path, before, after: { kind: 'absent' } });
}

function listNames(folder: string): readonly string[] {
  if (lstat(folder)?.isDirectory() !== true) return [];
  return readdirSync(encodeFsPath(folder), { encoding: 'buffer' }).map(decodeFileName);
}

/** Reads the state of a path, and keeps the content of a file. Owners stay as they are. */
function readState(path: string, { store }: Pick<FoundChanges, 'store'>): CheckpointPathState {
  const entry = lstat(path);
  if (entry === undefined) return { kind: 'absent' };
  const mode = entry.mode & 0o7777;
  const diskPath = encodeFsPath(path);
  if (entry.isDirectory()) return { kind: 'folder', mode };
  if (entry.isSymbolicLink())
    return { kind: 'link', target: decodeFileName(readlinkSync(diskPath, { encoding: 'buffer' })) };
  if (!entry.isFile()) return { kind: 'not-kept', why: 'something is neither a file nor a folder' };
  if (entry.size > MAX_FILE_BYTES) return { kind: 'not-kept', why: `a file has ${formatBytes(entry.size)}` };
  return { kind: 'file', hash: store(readFileSync(diskPath)), mode };
}

/** The end of an attempt to make changes: made, given up because something else changed meanwhile, or made in part. */
type ApplyResult =
  | { readonly is: 'made' }
  | { readonly is: 'outdated'; readonly paths: readonly string[] }
  | { readonly is: 'incomplete'; readonly problems: readonly string[] };

/** Makes changes on the disk if it still is as it was when they were collected. Links in folders are not followed. */
export async function applyTrialChanges(
  { changes, contents }: TrialChanges,
  { locks, unfinished }: Pick<RestoreDeps, 'locks' | 'unfinished'>,
): Promise<ApplyResult> {
  const captureState = (path: string) => readState(path, { store: hashContent });
  const outdated = changes.filter(({ path, before }) => !isSameFileState(before, captureState(path)));
  if (outdated.length > 0) return { is: 'outdated', paths: outdated.map(({ path }) => path) };
  const read = (hash: string) => {
    const bytes = contents.get(hash);
    return bytes && Buffer.from(bytes);
  };
  const deps = { store: { put: hashContent, read }, captureState, unfinished, locks };
  // Once begun, all of it is done.
  const { problems } = await restoreFiles(changes, deps, new AbortController().signal);
  // Programs that build compare times.
  for (const { path, mtimeMs } of changes)
    if (mtimeMs !== undefined && lstat(path)?.isFile() === true)
      utimesSync(encodeFsPath(path), mtimeMs / 1_000, mtimeMs / 1_000);
  return problems.length === 0 ? { is: 'made' } : { is: 'incomplete', problems };
}
