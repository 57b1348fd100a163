import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { expandHomePath } from '../../lib/files/path-style.ts';
import { listMemoryLocations, listMemoryRuleFiles, type MemoryLocation } from './memory-locations.ts';
import type { MemoryEvent, MemoryState } from './memory-state.ts';
import { parseMemory } from './parse-memory.ts';
import { type MemoryReadCheck, readMemoryFile } from './read-memory-file.ts';
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
export type MemoryLoader = {
  readonly deps: MemoryDeps;
  readonly getState: () => MemoryState;
  readonly dispatch: (event: MemoryEvent) => void;
};

const IMPORT_DEPTH = 5;

/** Creates the read check of one location, to be called with its real path. */
export function createMemoryReadCheck(
  { path, scope }: MemoryLocation,
  { mayRead }: Pick<MemoryDeps, 'mayRead'>,
  importedBy?: string,
): MemoryReadCheck {
  return (realPath) => mayRead({ path, realPath, scope, ...(importedBy === undefined ? {} : { importedBy }) });
}

/** Returns whether files of a scope may be read: always those of the user and the organisation, others with trust. */
export function isMemoryScopeAllowed(scope: MemoryFileScope, { isTrusted }: Pick<MemoryDeps, 'isTrusted'>): boolean {
  return isTrusted() || scope === 'managed' || scope === 'user';
}

/** Reads the memory files of a folder, once. */
export async function loadMemoryFolder(
  loader: MemoryLoader,
  folder: string,
  scope: 'project' | 'nested',
): Promise<void> {
  if (loader.getState().folders.has(folder)) return;
  loader.dispatch({ type: 'folder_read', folder });
  for (const location of listMemoryLocations(folder, scope)) await loadMemoryLocation(loader, location, folder);
}

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
  const { deps, getState, dispatch } = loader;
  const source = await readMemoryFile(location.path, createMemoryReadCheck(location, deps, via.importedBy));
  if (source?.excludedReason !== undefined) {
    dispatch({
      type: 'excluded',
      folder,
      file: { ...location, text: '', ...via, excludedReason: source.excludedReason },
    });
    return;
  }
  if (source?.problem !== undefined) dispatch({ type: 'problem', message: `${location.path} ${source.problem}` });
  if (source?.ok !== true || getState().realPaths.has(source.realPath)) return;
  const { text, imports, paths, problem } = await parseMemory(source.text);
  if (problem !== undefined) dispatch({ type: 'problem', message: `${location.path} ${problem}` });
  const file: MemoryFile = { ...location, text, ...via, ...(paths === undefined ? {} : { paths }) };
  dispatch({ type: 'file_read', known: { file, folder, realPath: source.realPath, mtimeMs: source.mtimeMs } });
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
  { deps, dispatch }: MemoryLoader,
  target: string,
  from: MemoryLocation,
  depth: number,
): Promise<string | undefined> {
  const path = resolve(expandHomePath(target, deps.home, dirname(from.path)));
  const reportProblem = (why: string) => dispatch({ type: 'problem', message: `${from.path} imports ${target}${why}` });
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
