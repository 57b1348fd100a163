import { lstat, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { parseIgnoreRules } from '../../lib/patterns/glob.ts';
import { createStateHolder } from '../../lib/state-holder.ts';
import {
  createMemoryReadCheck,
  isMemoryScopeAllowed,
  loadMemoryFolder,
  loadMemoryLocation,
  loadMemoryRuleFiles,
  type MemoryDeps,
  type MemoryLoader,
  readMemoryFile,
} from './load-memory.ts';
import { listFoldersDown, listMemoryLocations, listMemoryRuleFiles, type MemoryLocation } from './memory-locations.ts';
import { EMPTY_MEMORY, reduceMemoryState, type TrackedMemoryFile } from './memory-state.ts';
import { parseMemory } from './parse-memory.ts';
import type { MemoryFile } from './render-memory.ts';

/** The memory files of a session with their state, as shown by `/memory`. */
export type MemoryReport = {
  readonly files: readonly (MemoryFile & { readonly state: 'loaded' | 'waiting'; readonly chars: number })[];
  readonly problems: readonly string[];
};

/** The memory files of a session. */
export type SessionMemory = ReturnType<typeof createSessionMemory>;

/** Creates the memory of a session, which reads every file once, including its imports. */
export function createSessionMemory(deps: MemoryDeps) {
  const { current, update } = createStateHolder(EMPTY_MEMORY, reduceMemoryState);
  const loader: MemoryLoader = { deps, current, update };

  return {
    /** Loads the files for the system prompt. */
    load: async (): Promise<readonly MemoryFile[]> => {
      update({ type: 'started' });
      for (const location of deps.globalFiles) await loadMemoryLocation(loader, location, dirname(location.path));
      const folders = deps.isTrusted() ? listFoldersDown(deps.root, deps.cwd()) : [];
      for (const folder of folders) await loadMemoryFolder(loader, folder, 'project');
      for (const folder of folders) await loadMemoryRuleFiles(loader, folder);
      for (const location of await listNamedLocations(deps)) await loadMemoryLocation(loader, location, deps.root);
      for (const path of await listUnreadFiles(deps))
        update({ type: 'problem', message: `${path} is not read: ${UNTRUSTED_REASON}` });
      update({ type: 'prompt_rendered' });
      return current().loaded.map(({ file }) => file);
    },
    /** Loads the memory files and rules that apply to these paths; each is returned once. */
    touch: async (paths: readonly string[]): Promise<readonly MemoryFile[]> => {
      const before = current().loaded;
      for (const path of paths) await loadForPath(loader, resolve(deps.cwd(), path));
      return current()
        .loaded.filter((known) => !before.includes(known))
        .map(({ file }) => file);
    },
    /** Returns files changed on disk; a deleted file has an empty text. */
    changed: async (): Promise<readonly MemoryFile[]> => {
      const changes: MemoryFile[] = [];
      for (const known of current().loaded) {
        const reread = await rereadFile(known, deps);
        if (reread === undefined) continue;
        update({ type: 'file_changed', known: reread });
        if (reread.file.text !== known.file.text) changes.push(reread.file);
      }
      return changes;
    },
    /** Adopts a change the user made through ouro, so that it is not reported as changed. */
    acceptEdit: async (location: MemoryLocation) => {
      if (!isMemoryScopeAllowed(location.scope, deps)) return;
      const source = await readMemoryFile(location.path, createMemoryReadCheck(location, deps));
      if (source?.ok !== true) return;
      const { realPath, mtimeMs } = source;
      const { text } = await parseMemory(source.text);
      const known = current().loaded.find(({ file }) => file.path === location.path);
      const file = { ...location, ...known?.file, text };
      update({ type: 'edit_accepted', known: { folder: dirname(location.path), ...known, file, realPath, mtimeMs } });
    },
    /** Forgets files outside the system prompt after a compaction; they are returned again when they apply. */
    compacted: () => void update({ type: 'compacted' }),
    /** Lists the existing memory files and rules of the project, whether read or not. */
    listFound: async (): Promise<readonly string[]> => (deps.isTrusted() ? listExistingFiles(deps) : []),
    /** Lists the files that are not read because the folder is not trusted. */
    listUnread: (): Promise<readonly string[]> => listUnreadFiles(deps),
    report: (): MemoryReport => ({
      files: [...current().loaded.map(toLoadedReport), ...current().waiting.map(toWaitingReport)],
      problems: current().problems,
    }),
  };
}

const UNTRUSTED_REASON = 'this folder is not trusted';

async function listUnreadFiles(deps: MemoryDeps): Promise<readonly string[]> {
  return deps.isTrusted() ? [] : listExistingFiles(deps);
}

async function listExistingFiles(deps: MemoryDeps): Promise<readonly string[]> {
  const folders = listFoldersDown(deps.root, deps.cwd());
  const rules = await Promise.all(folders.map(listMemoryRuleFiles));
  const named = (await deps.listNamedFiles?.())?.filter(({ scope }) => scope === 'project') ?? [];
  const locations = [...folders.flatMap((folder) => listMemoryLocations(folder, 'project')), ...rules.flat(), ...named];
  const found = await Promise.all(locations.map(async ({ path }) => ((await exists(path)) ? [path] : [])));
  return found.flat();
}

/** Lists the files that the settings name, of an untrusted folder only those of the user. */
async function listNamedLocations(deps: MemoryDeps): Promise<readonly MemoryLocation[]> {
  const named = (await deps.listNamedFiles?.()) ?? [];
  return named.filter(({ scope }) => isMemoryScopeAllowed(scope, deps));
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Loads the memory of the folders above a path and activates the rules that match it. */
async function loadForPath(loader: MemoryLoader, path: string): Promise<void> {
  const { deps, current, update } = loader;
  if (!deps.isTrusted() || !isPathBelow(deps.root, path)) return;
  for (const folder of listFoldersDown(deps.root, dirname(path))) {
    if (current().folders.has(folder)) continue;
    await loadMemoryFolder(loader, folder, 'nested');
    await loadMemoryRuleFiles(loader, folder);
  }
  for (const rule of current().waiting) {
    const relativePath = relative(rule.folder, path).split(sep).join('/');
    if (isMatchedByGlobs(rule.file.paths ?? [], relativePath)) update({ type: 'rule_matched', rule });
  }
}

/** Reads a file again; `undefined` when it has not changed. */
async function rereadFile(known: TrackedMemoryFile, deps: MemoryDeps): Promise<TrackedMemoryFile | undefined> {
  if (known.file.excludedReason !== undefined) return undefined;
  const mtimeMs = await stat(known.file.path).then(
    (stats) => stats.mtimeMs,
    () => -1,
  );
  if (mtimeMs === known.mtimeMs) return undefined;
  const source = await readMemoryFile(known.file.path, createMemoryReadCheck(known.file, deps, known.file.importedBy));
  const text = source?.ok === true ? (await parseMemory(source.text)).text : '';
  const file: MemoryFile = { ...known.file, text };
  const isExcluded = source?.excludedReason !== undefined;
  return { ...known, file: isExcluded ? { ...file, excludedReason: source.excludedReason } : file, mtimeMs };
}

function toLoadedReport({ file }: TrackedMemoryFile) {
  return { ...file, state: 'loaded' as const, chars: file.text.length };
}

function toWaitingReport({ file }: TrackedMemoryFile) {
  return { ...file, state: 'waiting' as const, chars: file.text.length };
}

/** Returns whether a relative path with `/` matches a glob. `*.ts` matches at any depth, `{a,b}` are alternatives. */
export function isMatchedByGlobs(globs: readonly string[], path: string): boolean {
  const normalized = globs.map((glob) => glob.replaceAll(', ', ','));
  return path !== '' && !path.startsWith('..') && parseIgnoreRules(normalized, 'alternatives')(path) === 'ignored';
}
