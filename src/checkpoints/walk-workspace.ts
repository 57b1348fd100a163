import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { createMountHealth, MOUNT_NOT_ANSWERING, type MountHealth } from '../lib/files/mount-health.ts';
import { decodeFileName, encodeFsPath, mayBeLossyFileName } from '../lib/files/non-utf8-paths.ts';
import { formatBytes } from '../lib/text/format.ts';
import { createFolderIgnoreRules, type FolderIgnoreRules } from './folder-ignore-rules.ts';

/** An entry of the workspace, with the metadata that shows whether it changed. */
export type WorkspaceEntry =
  | {
      readonly kind: 'file';
      readonly mode: number;
      readonly owner: string;
      readonly size: number;
      readonly mtimeMs: number;
      readonly ctimeMs: number;
      readonly ino: number;
    }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' | 'pipe'; readonly mode: number; readonly owner: string }
  | { readonly kind: 'not-kept'; readonly why: string };

/** All entries below some folders; the folders in `unknown` were skipped, for the reason given. */
export type WorkspaceWalkResult = {
  readonly entries: ReadonlyMap<string, WorkspaceEntry>;
  readonly unknown: ReadonlyMap<string, string>;
};

/** Limits of a workspace walk; what exceeds them is not stored. */
export type WorkspaceWalkLimits = {
  readonly files: number;
  readonly fileBytes: number;
  readonly totalBytes: number;
  /** Limit per ignored folder; larger ones are skipped, because tools can generate them again. */
  readonly ignoredFiles: number;
  readonly ignoredBytes: number;
};

/** Default limits of a workspace walk. */
export const WORKSPACE_WALK_LIMITS: WorkspaceWalkLimits = {
  files: 20_000,
  fileBytes: 20_000_000,
  totalBytes: 500_000_000,
  ignoredFiles: 1_000,
  ignoredBytes: 20_000_000,
};

/** Time after which the walk yields to the event loop. */
const SLICE_MS = 10;

/** Lists all entries below some folders, except `.git` folders; yields to the event loop regularly. */
export async function walkWorkspace(
  roots: readonly string[],
  skip: readonly string[],
  limits: WorkspaceWalkLimits = WORKSPACE_WALK_LIMITS,
  mounts: MountHealth = createMountHealth(),
): Promise<WorkspaceWalkResult> {
  const total = createWalkedEntries();
  const unknown = new Map<string, string>();
  let sliceEnds = performance.now() + SLICE_MS;

  async function walkFolder(folder: string, scope: WalkScope): Promise<void> {
    if (performance.now() > sliceEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnds = performance.now() + SLICE_MS;
    }
    if (mounts.findHung(folder) !== undefined) return void unknown.set(folder, MOUNT_NOT_ANSWERING);
    const children = listFolder(folder);
    if (children === undefined) return void unknown.set(folder, 'it cannot be read');
    const names = children.map(({ name }) => name);
    const inner: WalkScope =
      scope.kind === 'normal' ? { kind: 'normal', rules: scope.rules.extendWith(folder, names) } : scope;
    for (const { name, kind } of children) {
      if (inner.kind === 'ignored' && isOverBudget(inner.walked, limits)) return;
      const path = join(folder, name);
      if (name === '.git' || skip.includes(path)) continue;
      if (kind.isDirectory()) await addFolder(path, inner);
      else addEntry(path, readEntry(path, kind, limits), inner);
    }
  }

  async function addFolder(path: string, scope: WalkScope): Promise<void> {
    if (mounts.findHung(path) !== undefined) return void unknown.set(path, MOUNT_NOT_ANSWERING);
    const entry = readWorkspaceEntry(path, limits);
    if (entry === undefined) return;
    const walkedFiles = total.files + (scope.kind === 'ignored' ? scope.walked.files : 0);
    if (walkedFiles > limits.files) return void unknown.set(path, WORKSPACE_TOO_LARGE);
    addEntry(path, entry, scope);
    if (scope.kind === 'normal' && scope.rules.isIgnored(path)) await addIgnoredFolder(path);
    else await walkFolder(path, scope);
  }

  /** Adds the contents of an ignored folder. Part of them would be of no use, so they are added all or not at all. */
  async function addIgnoredFolder(path: string): Promise<void> {
    const walked = createWalkedEntries();
    await walkFolder(path, { kind: 'ignored', walked });
    if (isOverBudget(walked, limits)) {
      const { ignoredFiles, ignoredBytes } = limits;
      unknown.set(path, `ignored, and more than ${ignoredFiles} files or ${formatBytes(ignoredBytes)}`);
    } else for (const [inner, entry] of walked.entries) addToTotal(inner, entry);
  }

  function addEntry(path: string, entry: WorkspaceEntry | undefined, scope: WalkScope): void {
    if (entry === undefined) return;
    if (scope.kind === 'normal') addToTotal(path, entry);
    else countEntry(scope.walked, path, entry);
  }

  function addToTotal(path: string, entry: WorkspaceEntry): void {
    countEntry(total, path, entry);
    const isTooLarge = total.files > limits.files || total.bytes > limits.totalBytes;
    if (isTooLarge && entry.kind !== 'folder') total.entries.set(path, { kind: 'not-kept', why: WORKSPACE_TOO_LARGE });
  }

  await mounts.check();
  for (const root of roots) await walkFolder(root, { kind: 'normal', rules: createFolderIgnoreRules() });
  return { entries: total.entries, unknown };
}

/** A walk reads ignore files until it enters an ignored folder, whose contents are limited together. */
type WalkScope =
  | { readonly kind: 'normal'; readonly rules: FolderIgnoreRules }
  | { readonly kind: 'ignored'; readonly walked: WalkedEntries };

const WORKSPACE_TOO_LARGE = 'the workspace is too large to store all of it';

/** Entries and their sum. Folders count for nothing. */
type WalkedEntries = { readonly entries: Map<string, WorkspaceEntry>; files: number; bytes: number };

const createWalkedEntries = (): WalkedEntries => ({ entries: new Map(), files: 0, bytes: 0 });

function countEntry(walked: WalkedEntries, path: string, entry: WorkspaceEntry): void {
  walked.entries.set(path, entry);
  if (entry.kind === 'folder') return;
  walked.files += 1;
  if (entry.kind === 'file') walked.bytes += entry.size;
}

function isOverBudget({ files, bytes }: WalkedEntries, { ignoredFiles, ignoredBytes }: WorkspaceWalkLimits): boolean {
  return files > ignoredFiles || bytes > ignoredBytes;
}

/** File type tests, from a directory listing or from `lstat`. */
type FileKind = Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink' | 'isFIFO'>;
type NamedEntry = { readonly name: string; readonly kind: FileKind };

function listFolder(folder: string): readonly NamedEntry[] | undefined {
  const diskFile = encodeFsPath(folder);
  try {
    const listed = readdirSync(diskFile, { withFileTypes: true }).map((kind) => ({ name: kind.name, kind }));
    if (!listed.some(({ name }) => mayBeLossyFileName(name))) return listed;
    const byteNamed = readdirSync(diskFile, { encoding: 'buffer' })
      .filter((bytes) => mayBeLossyFileName(bytes.toString('utf8')))
      .map((bytes) => ({
        name: decodeFileName(bytes),
        kind: lstatSync(encodeFsPath(join(folder, decodeFileName(bytes)))),
      }));
    return [...listed.filter(({ name }) => !mayBeLossyFileName(name)), ...byteNamed];
  } catch {
    return undefined;
  }
}

/** Reads the current entry of one path; `undefined` if nothing exists there. */
export function readWorkspaceEntry(
  path: string,
  limits: WorkspaceWalkLimits = WORKSPACE_WALK_LIMITS,
): WorkspaceEntry | undefined {
  try {
    const stat = lstatSync(encodeFsPath(path));
    if (stat.isDirectory()) return { kind: 'folder', ...describeAccess(stat) };
    return readEntry(path, stat, limits);
  } catch {
    return undefined;
  }
}

function readEntry(path: string, kind: FileKind, limits: WorkspaceWalkLimits): WorkspaceEntry | undefined {
  const diskFile = encodeFsPath(path);
  try {
    if (kind.isSymbolicLink())
      return { kind: 'link', target: decodeFileName(readlinkSync(diskFile, { encoding: 'buffer' })) };
    if (kind.isFIFO()) return { kind: 'pipe', ...describeAccess(lstatSync(diskFile)) };
    if (!kind.isFile()) return { kind: 'not-kept', why: 'it is neither a file nor a folder' };
    const stat = lstatSync(diskFile);
    const { size, mtimeMs, ctimeMs, ino } = stat;
    if (size > limits.fileBytes) return { kind: 'not-kept', why: `it has ${formatBytes(size)}` };
    return { kind: 'file', ...describeAccess(stat), size, mtimeMs, ctimeMs, ino };
  } catch {
    // Deleted since it was listed.
    return undefined;
  }
}

const describeAccess = ({ mode, uid, gid }: Stats) => ({ mode: mode & 0o7777, owner: `${uid}:${gid}` });
