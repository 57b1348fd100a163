import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseMemory } from './memory-parse.ts';
import { type MemoryPlace, placesIn, rulesIn } from './memory-places.ts';
import { type MayRead, readMemoryFile } from './memory-read.ts';
import type { MemoryEvent, MemoryState } from './memory-state.ts';
import type { MemoryFile, MemoryScope } from './memory-text.ts';

/** Where memory files may lie. */
export type MemoryParts = {
  readonly cwd: () => string;
  /** The top of the project: the root of the repository, or the working directory without one. */
  readonly root: string;
  readonly home: string;
  /** The files of the organisation and the person, read whatever the project is. */
  readonly ownFiles: readonly MemoryPlace[];
  /** In a folder that is not trusted none of its files is read. */
  readonly trusted: () => boolean;
  readonly mayRead: (file: AskedFile) => ReturnType<MayRead>;
};

/** A file on its way to the model, and why it would be read. */
export type AskedFile = {
  readonly path: string;
  readonly realPath: string;
  readonly scope: MemoryScope;
  readonly importedBy?: string;
};

/** Reads files and tells what it found. */
export type MemoryWalk = {
  readonly parts: MemoryParts;
  readonly now: () => MemoryState;
  readonly tell: (event: MemoryEvent) => void;
};

const IMPORT_DEPTH = 5;

/** Asks for one place, wherever its links lead. */
export function mayReadAt(
  { path, scope }: MemoryPlace,
  { mayRead }: Pick<MemoryParts, 'mayRead'>,
  importedBy?: string,
): MayRead {
  return (realPath) => mayRead({ path, realPath, scope, ...(importedBy === undefined ? {} : { importedBy }) });
}

/** May what lies in this scope be read at all? What a person or an organisation wrote always is. */
export function counts(scope: MemoryScope, { trusted }: Pick<MemoryParts, 'trusted'>): boolean {
  return trusted() || scope === 'managed' || scope === 'user';
}

/** The memory files of one folder, once. */
export async function readFolder(walk: MemoryWalk, folder: string, scope: 'project' | 'nested'): Promise<void> {
  if (walk.now().folders.has(folder)) return;
  walk.tell({ type: 'folder_read', folder });
  for (const place of placesIn(folder, scope)) await readPlace(walk, place, folder);
}

export async function readRules(walk: MemoryWalk, folder: string): Promise<void> {
  for (const place of await rulesIn(folder)) await readPlace(walk, place, folder);
}

type Import = { readonly depth: number; readonly importedBy?: string };

/** One file, then what it imports. */
export async function readPlace(
  walk: MemoryWalk,
  place: MemoryPlace,
  folder: string,
  { depth, ...via }: Import = { depth: 0 },
): Promise<void> {
  const { parts, now, tell } = walk;
  const source = await readMemoryFile(place.path, mayReadAt(place, parts, via.importedBy));
  if (source !== undefined && 'leftOut' in source) {
    tell({ type: 'left_out', folder, file: { ...place, text: '', ...via, leftOut: source.leftOut } });
    return;
  }
  if (source?.problem !== undefined) tell({ type: 'problem', words: `${place.path} ${source.problem}` });
  if (source?.ok !== true || now().realPaths.has(source.realPath)) return;
  const { text, imports, paths, problem } = await parseMemory(source.text);
  if (problem !== undefined) tell({ type: 'problem', words: `${place.path} ${problem}` });
  const file: MemoryFile = { ...place, text, ...via, ...(paths === undefined ? {} : { paths }) };
  tell({ type: 'file_read', known: { file, folder, realPath: source.realPath, mtimeMs: source.mtimeMs } });
  for (const target of imports) {
    const path = await importedPath(walk, target, place, depth);
    if (path !== undefined)
      await readPlace(walk, { path, scope: place.scope }, folder, { depth: depth + 1, importedBy: place.path });
  }
}

/** Where `@target` leads; nothing, and a problem told, where it may not be followed. */
async function importedPath(
  { parts, tell }: MemoryWalk,
  target: string,
  from: MemoryPlace,
  depth: number,
): Promise<string | undefined> {
  const path = target.startsWith('~/') ? resolve(parts.home, target.slice(2)) : resolve(dirname(from.path), target);
  const refuse = (why: string) => tell({ type: 'problem', words: `${from.path} imports ${target}${why}` });
  if (depth >= IMPORT_DEPTH) refuse(` deeper than ${IMPORT_DEPTH} levels; it is left out`);
  else if (await isFile(path)) return path;
  else if (/\.md$|^[./~]/.test(target)) refuse(', which is not there');
  return undefined;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}
