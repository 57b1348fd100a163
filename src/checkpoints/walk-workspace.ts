import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { createMountHealth, MOUNT_NOT_ANSWERING, type MountHealth } from '../lib/files/mount-health.ts';
import { decodeFileName, encodeFsPath, mayBeLossyFileName } from '../lib/files/non-utf8-paths.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';
import { type IgnoreRules, parseIgnoreRules } from '../lib/patterns/glob.ts';
import { formatBytes } from '../lib/text/format.ts';
import { splitLines } from '../lib/text/lines.ts';

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
  await mounts.check();
  const entries = new Map<string, WorkspaceEntry>();
  const unknown = new Map<string, string>();
  const total = { files: 0, bytes: 0 };
  let sliceEnds = performance.now() + SLICE_MS;

  for (const root of roots) await walkFolder(root, createFolderIgnoreRules(), undefined);
  return { entries, unknown };

  async function walkFolder(folder: string, ignored: FolderIgnoreRules, budget: Budget | undefined): Promise<void> {
    if (performance.now() > sliceEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnds = performance.now() + SLICE_MS;
    }
    if (mounts.findHung(folder) !== undefined) return void unknown.set(folder, MOUNT_NOT_ANSWERING);
    const children = listFolder(folder);
    if (children === undefined) return void unknown.set(folder, 'it cannot be read');
    const names = children.map(({ name }) => name);
    const rules = budget === undefined ? ignored.extendWith(folder, names) : ignored;
    for (const { name, kind } of children) {
      const path = join(folder, name);
      if (name === '.git' || skip.includes(path)) continue;
      if (budget?.isSpent === true) return;
      await addEntry(path, kind, rules, budget);
    }
  }

  async function addEntry(
    path: string,
    kind: FileKind,
    ignored: FolderIgnoreRules,
    budget: Budget | undefined,
  ): Promise<void> {
    if (kind.isDirectory()) return announcePresence(path, ignored, budget);
    const entry = readEntry(path, kind, limits);
    if (entry === undefined) return;
    const bytes = entry.kind === 'file' ? entry.size : 0;
    if (budget !== undefined) budget.take(bytes);
    total.files += 1;
    total.bytes += bytes;
    if (total.files > limits.files || total.bytes > limits.totalBytes) {
      entries.set(path, { kind: 'not-kept', why: WORKSPACE_TOO_LARGE });
    } else entries.set(path, entry);
  }

  async function announcePresence(path: string, ignored: FolderIgnoreRules, budget: Budget | undefined): Promise<void> {
    if (mounts.findHung(path) !== undefined) return void unknown.set(path, MOUNT_NOT_ANSWERING);
    const entry = readWorkspaceEntry(path, limits);
    if (entry === undefined) return;
    if (total.files > limits.files) return void unknown.set(path, WORKSPACE_TOO_LARGE);
    entries.set(path, entry);
    if (budget !== undefined || !ignored.isIgnored(path)) return walkFolder(path, ignored, budget);
    const folderBudget = createBudget(limits);
    const before = { ...total, known: new Set(entries.keys()) };
    await walkFolder(path, ignored, folderBudget);
    if (!folderBudget.isSpent) return;
    // Part of the folder would be of no use, so all of it is skipped.
    for (const known of entries.keys()) if (!before.known.has(known)) entries.delete(known);
    total.files = before.files;
    total.bytes = before.bytes;
    unknown.set(path, `ignored, and more than ${limits.ignoredFiles} files or ${formatBytes(limits.ignoredBytes)}`);
  }
}

const WORKSPACE_TOO_LARGE = 'the workspace is too large to store all of it';

type Budget = { readonly isSpent: boolean; take(bytes: number): void };

function createBudget({ ignoredFiles, ignoredBytes }: WorkspaceWalkLimits): Budget {
  let files = 0;
  let total = 0;
  return {
    get isSpent() {
      return files > ignoredFiles || total > ignoredBytes;
    },
    take(bytes) {
      files += 1;
      total += bytes;
    },
  };
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

type IgnoreFile = { readonly folder: string; readonly rules: IgnoreRules };

/** The ignore rules that apply to a folder, from the ignore files of its ancestors. */
type FolderIgnoreRules = {
  isIgnored(folder: string): boolean;
  /** Returns the rules for the contents of a folder: these plus its own ignore file. */
  extendWith(folder: string, names: readonly string[]): FolderIgnoreRules;
};

/** Folders that tools generate; ignored even if no ignore file names them. */
const GENERATED = new Set(['node_modules', '.venv', 'venv', '__pycache__', '.mypy_cache', '.pytest_cache', '.gradle']);

/** Creates ignore rules from ignore files, outermost first. */
function createFolderIgnoreRules(ignoreFiles: readonly IgnoreFile[] = []): FolderIgnoreRules {
  return {
    isIgnored(folder) {
      if (GENERATED.has(folder.slice(folder.lastIndexOf(sep) + 1))) return true;
      // The nearest ignore file that matches decides.
      for (const { folder: base, rules } of ignoreFiles.toReversed()) {
        const verdict = rules(`${relative(base, folder).split(sep).join('/')}/`);
        if (verdict !== undefined) return verdict === 'ignored';
      }
      return false;
    },
    extendWith(folder, names) {
      if (!names.includes('.gitignore')) return createFolderIgnoreRules(ignoreFiles);
      const rules = readIgnoreFile(join(folder, '.gitignore'));
      return rules === undefined
        ? createFolderIgnoreRules(ignoreFiles)
        : createFolderIgnoreRules([...ignoreFiles, { folder, rules }]);
    },
  };
}

function readIgnoreFile(path: string): IgnoreRules | undefined {
  try {
    return parseIgnoreRules(splitLines(readRegularFileSync(path).toString('utf8')));
  } catch {
    // A folder of that name, or an unreadable file: no rules.
    return undefined;
  }
}
