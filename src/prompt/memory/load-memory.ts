import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { getErrnoCode } from '../../lib/errors.ts';
import { expandHomePath } from '../../lib/files/path-style.ts';
import type { StateHolder } from '../../lib/state-holder.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { listMemoryLocations, listMemoryRuleFiles, type MemoryLocation } from './memory-locations.ts';
import type { MemoryEvent, MemoryState } from './memory-state.ts';
import { parseMemory } from './parse-memory.ts';
import type { MemoryFile, MemoryFileScope } from './render-memory.ts';

/** The locations of memory files and the decisions about reading them. */
export type MemoryDeps = {
  readonly cwd: () => string;
  /** Top folder of the project: the repository root, or the working directory outside a repository. */
  readonly root: string;
  readonly home: string;
  /** Files of the organisation and the user, read in every project. */
  readonly globalFiles: readonly MemoryLocation[];
  /** Further files that the settings name. */
  readonly listNamedFiles?: () => Promise<readonly MemoryLocation[]>;
  /** Returns true if the folder is trusted; otherwise none of its files is read. */
  readonly isTrusted: () => boolean;
  readonly mayRead: (file: MemoryReadRequest) => ReturnType<MemoryReadCheck>;
};

/** A file that would be given to the model, and its origin. */
export type MemoryReadRequest = {
  readonly path: string;
  readonly realPath: string;
  readonly scope: MemoryFileScope;
  readonly importedBy?: string;
};

/** The loading of memory files: reads the state and dispatches events about files found. */
export type MemoryLoader = StateHolder<MemoryState, MemoryEvent> & { readonly deps: MemoryDeps };

const IMPORT_DEPTH = 5;

/** Creates the read check of one location, to be called with its real path. */
export function createMemoryReadCheck(
  { path, scope }: MemoryLocation,
  { mayRead }: MemoryDeps,
  importedBy?: string,
): MemoryReadCheck {
  return (realPath) => mayRead({ path, realPath, scope, ...(importedBy === undefined ? {} : { importedBy }) });
}

/** Returns whether files of a scope may be read: always those of the user and the organisation, others with trust. */
export function isMemoryScopeAllowed(scope: MemoryFileScope, { isTrusted }: MemoryDeps): boolean {
  return isTrusted() || scope === 'managed' || scope === 'user';
}

/** Reads the memory files of a folder, once. */
export async function loadMemoryFolder(
  loader: MemoryLoader,
  folder: string,
  scope: 'project' | 'nested',
): Promise<void> {
  if (loader.current().folders.has(folder)) return;
  loader.update({ type: 'folder_read', folder });
  for (const location of listMemoryLocations(folder, scope)) await loadMemoryLocation(loader, location, folder);
}

/** Loads the rule files of a folder, and the files they import. */
export async function loadMemoryRuleFiles(loader: MemoryLoader, folder: string): Promise<void> {
  for (const location of await listMemoryRuleFiles(folder)) await loadMemoryLocation(loader, location, folder);
}

type ImportContext = { readonly depth: number; readonly importedBy?: string };

/** Reads one file and the files it imports. */
export async function loadMemoryLocation(
  loader: MemoryLoader,
  location: MemoryLocation,
  folder: string,
  { depth, ...via }: ImportContext = { depth: 0 },
): Promise<void> {
  const { deps, current, update } = loader;
  const source = await readMemoryFile(location.path, createMemoryReadCheck(location, deps, via.importedBy));
  if (source?.excludedReason !== undefined) {
    update({
      type: 'excluded',
      folder,
      file: { ...location, text: '', ...via, excludedReason: source.excludedReason },
    });
    return;
  }
  if (source?.problem !== undefined) update({ type: 'problem', message: `${location.path} ${source.problem}` });
  if (source?.ok !== true || current().realPaths.has(source.realPath)) return;
  const { text, imports, paths, problem } = await parseMemory(source.text);
  if (problem !== undefined) update({ type: 'problem', message: `${location.path} ${problem}` });
  const file: MemoryFile = { ...location, text, ...via, ...(paths === undefined ? {} : { paths }) };
  update({ type: 'file_read', known: { file, folder, realPath: source.realPath, mtimeMs: source.mtimeMs } });
  for (const target of imports) {
    const path = await resolveImport(loader, target, location, depth);
    if (path !== undefined)
      await loadMemoryLocation(loader, { path, scope: location.scope }, folder, {
        depth: depth + 1,
        importedBy: location.path,
      });
  }
}

/** Resolves an import; reports a problem and returns `undefined` when it cannot be followed. */
async function resolveImport(
  { deps, update }: MemoryLoader,
  target: string,
  from: MemoryLocation,
  depth: number,
): Promise<string | undefined> {
  const path = resolve(expandHomePath(target, deps.home, dirname(from.path)));
  const reportProblem = (why: string) => update({ type: 'problem', message: `${from.path} imports ${target}${why}` });
  if (depth >= IMPORT_DEPTH) reportProblem(` more than ${IMPORT_DEPTH} levels deep; it is ignored`);
  else if (await isFile(path)) return path;
  else if (/\.md$|^[./~]/.test(target)) reportProblem(', which does not exist');
  return undefined;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** The text of a memory file, or the reason it is not used. */
type MemoryReadResult =
  | {
      readonly ok: true;
      readonly realPath: string;
      readonly text: string;
      readonly mtimeMs: number;
      readonly problem?: string;
      readonly excludedReason?: undefined;
    }
  | { readonly ok: false; readonly problem: string; readonly excludedReason?: undefined }
  /** The file may not be given to the model, for this reason. */
  | { readonly ok: false; readonly problem?: undefined; readonly excludedReason: string };

/** Decides whether a file may be given to the model without asking; `realPath` has all symbolic links resolved. */
type MemoryReadCheck = (realPath: string) => { readonly ok: true } | { readonly ok: false; readonly problem: string };

const MAX_BYTES = 40_000;
/** Does not follow symbolic links: the decision was made about the real path, and a link may have replaced it since. */
const NON_BLOCKING_READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Reads at most 40 KB of a regular text file, if allowed; `undefined` when the file does not exist. */
export async function readMemoryFile(path: string, mayRead: MemoryReadCheck): Promise<MemoryReadResult | undefined> {
  try {
    const realPath = await realpath(path);
    const permission = mayRead(realPath);
    return permission.ok ? await readText(realPath) : { ok: false, excludedReason: permission.problem };
  } catch (thrown) {
    const code = getErrnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return {
      ok: false,
      problem: code === 'ELOOP' ? 'is a circular symbolic link' : `cannot be read (${code ?? 'unknown'})`,
    };
  }
}

async function readText(realPath: string): Promise<MemoryReadResult | undefined> {
  // Opened without blocking, so that a named pipe instead of a file cannot block the start.
  const file = await open(realPath, NON_BLOCKING_READ);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return stats.isDirectory() ? undefined : { ok: false, problem: 'is not a regular file' };
    const bytes = Buffer.alloc(Math.min(stats.size, MAX_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const text = decode(bytes.subarray(0, bytesRead), stats.size > MAX_BYTES);
    if (text === undefined) return { ok: false, problem: 'is not text' };
    const result = { ok: true as const, realPath, text, mtimeMs: stats.mtimeMs };
    if (stats.size <= MAX_BYTES) return result;
    return {
      ...result,
      text: `${text}\n(cut here: the file has ${formatBytes(stats.size)})`,
      problem: `has ${formatBytes(stats.size)}; only the first ${formatBytes(MAX_BYTES)} are used`,
    };
  } finally {
    await file.close();
  }
}

/** Decodes UTF-8 without its BOM; `undefined` for anything else. A truncated file may end within a character. */
function decode(bytes: Buffer, isTruncated: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isTruncated });
    return text.replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}
