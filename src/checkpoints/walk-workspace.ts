import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { diskPath, mayBeLost, nameOf } from '../lib/files/byte-names.ts';
import { formatBytes } from '../lib/text/format.ts';
import { type IgnoredFolders, ignoredFolders } from './ignored-folders.ts';

/** One thing in the workspace, by what tells a changed one from an unchanged one. */
export type Entry =
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

/** Everything that stands below some folders. What is under `unknown` was not looked at. */
export type Found = {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly unknown: ReadonlyMap<string, string>;
};

export type WalkLimits = {
  readonly files: number;
  readonly fileBytes: number;
  readonly totalBytes: number;
  /** For each ignored folder: what is more than this can be made again. */
  readonly ignoredFiles: number;
  readonly ignoredBytes: number;
};

export const WALK_LIMITS: WalkLimits = {
  files: 20_000,
  fileBytes: 20_000_000,
  totalBytes: 500_000_000,
  ignoredFiles: 1_000,
  ignoredBytes: 20_000_000,
};

/** Others get a turn this often. */
const SLICE_MS = 10;

/** Looks at everything below these folders but git's own, which nobody but git may touch; never stops others for long. */
export async function walkWorkspace(
  roots: readonly string[],
  skip: readonly string[],
  limits: WalkLimits = WALK_LIMITS,
): Promise<Found> {
  const entries = new Map<string, Entry>();
  const unknown = new Map<string, string>();
  const total = { files: 0, bytes: 0 };
  let sliceEnds = performance.now() + SLICE_MS;

  for (const root of roots) await visit(root, ignoredFolders(), undefined);
  return { entries, unknown };

  async function visit(folder: string, ignored: IgnoredFolders, own: Budget | undefined): Promise<void> {
    if (performance.now() > sliceEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnds = performance.now() + SLICE_MS;
    }
    const inside = namesIn(folder);
    if (inside === undefined) return void unknown.set(folder, 'nobody may read it');
    const names = inside.map(({ name }) => name);
    const rules = own === undefined ? ignored.within(folder, names) : ignored;
    for (const { name, kind } of inside) {
      const path = join(folder, name);
      if (name === '.git' || skip.includes(path)) continue;
      if (own?.isSpent === true) return;
      await look(path, kind, rules, own);
    }
  }

  async function look(path: string, kind: Kind, ignored: IgnoredFolders, own: Budget | undefined): Promise<void> {
    if (kind.isDirectory()) return enter(path, ignored, own);
    const entry = entryOf(path, kind, limits);
    if (entry === undefined) return;
    const bytes = entry.kind === 'file' ? entry.size : 0;
    if (own !== undefined) own.take(bytes);
    total.files += 1;
    total.bytes += bytes;
    if (total.files > limits.files || total.bytes > limits.totalBytes) {
      entries.set(path, { kind: 'not-kept', why: 'the workspace is too large to keep all of it' });
    } else entries.set(path, entry);
  }

  async function enter(path: string, ignored: IgnoredFolders, own: Budget | undefined): Promise<void> {
    const entry = entryAt(path, limits);
    if (entry === undefined) return;
    if (total.files > limits.files) return void unknown.set(path, 'the workspace is too large to keep all of it');
    entries.set(path, entry);
    if (own !== undefined || !ignored.isIgnored(path)) return visit(path, ignored, own);
    const budget = createBudget(limits);
    const before = { ...total, known: new Set(entries.keys()) };
    await visit(path, ignored, budget);
    if (!budget.isSpent) return;
    // Half of it would be of no use: it is left out whole.
    for (const known of entries.keys()) if (!before.known.has(known)) entries.delete(known);
    total.files = before.files;
    total.bytes = before.bytes;
    unknown.set(path, `ignored, and more than ${limits.ignoredFiles} files or ${formatBytes(limits.ignoredBytes)}`);
  }
}

type Budget = { readonly isSpent: boolean; take(bytes: number): void };

function createBudget({ ignoredFiles, ignoredBytes }: WalkLimits): Budget {
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

/** What something is, as a list or a look tells it. */
type Kind = Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink' | 'isFIFO'>;
type Named = { readonly name: string; readonly kind: Kind };

function namesIn(folder: string): readonly Named[] | undefined {
  const place = diskPath(folder);
  try {
    const listed = readdirSync(place, { withFileTypes: true }).map((kind) => ({ name: kind.name, kind }));
    if (!listed.some(({ name }) => mayBeLost(name))) return listed;
    const lost = readdirSync(place, { encoding: 'buffer' })
      .filter((bytes) => mayBeLost(bytes.toString('utf8')))
      .map((bytes) => ({ name: nameOf(bytes), kind: lstatSync(diskPath(join(folder, nameOf(bytes)))) }));
    return [...listed.filter(({ name }) => !mayBeLost(name)), ...lost];
  } catch {
    return undefined;
  }
}

/** How one path stands now; `undefined` when nothing is there. */
export function entryAt(path: string, limits: WalkLimits = WALK_LIMITS): Entry | undefined {
  try {
    const stat = lstatSync(diskPath(path));
    if (stat.isDirectory()) return { kind: 'folder', ...accessOf(stat) };
    return entryOf(path, stat, limits);
  } catch {
    return undefined;
  }
}

function entryOf(path: string, kind: Kind, limits: WalkLimits): Entry | undefined {
  const place = diskPath(path);
  try {
    if (kind.isSymbolicLink()) return { kind: 'link', target: nameOf(readlinkSync(place, { encoding: 'buffer' })) };
    if (kind.isFIFO()) return { kind: 'pipe', ...accessOf(lstatSync(place)) };
    if (!kind.isFile()) return { kind: 'not-kept', why: 'it is neither a file nor a folder' };
    const stat = lstatSync(place);
    const { size, mtimeMs, ctimeMs, ino } = stat;
    if (size > limits.fileBytes) return { kind: 'not-kept', why: `it has ${formatBytes(size)}` };
    return { kind: 'file', ...accessOf(stat), size, mtimeMs, ctimeMs, ino };
  } catch {
    // It is gone since it was listed.
    return undefined;
  }
}

const accessOf = ({ mode, uid, gid }: Stats) => ({ mode: mode & 0o7777, owner: `${uid}:${gid}` });
