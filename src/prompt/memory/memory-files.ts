import { lstat, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { readIgnore } from '../../lib/patterns/gitignore.ts';
import { parseMemory } from './memory-parse.ts';
import { foldersDown, type MemoryPlace, placesIn, rulesIn } from './memory-places.ts';
import { isInside, readMemoryFile } from './memory-read.ts';
import { type KnownFile, type MemoryEvent, NO_MEMORY, reduceMemory } from './memory-state.ts';
import type { MemoryFile } from './memory-text.ts';
import {
  counts,
  type MemoryParts,
  type MemoryWalk,
  mayReadAt,
  readFolder,
  readPlace,
  readRules,
} from './memory-walk.ts';

export type MemoryReport = {
  readonly files: readonly (MemoryFile & { readonly state: 'loaded' | 'waiting'; readonly chars: number })[];
  readonly problems: readonly string[];
};

export type Memory = {
  /** What belongs into the system prompt. */
  load(): Promise<readonly MemoryFile[]>;
  /** Memory files and rules that these paths bring in, each given once. */
  touch(paths: readonly string[]): Promise<readonly MemoryFile[]>;
  /** Files that read differently now; a file that is gone comes with empty text. */
  changed(): Promise<readonly MemoryFile[]>;
  /** A file was made or changed by the user through us, so that it reads differently is no news. */
  accept(place: MemoryPlace): Promise<void>;
  /** Only what is in the system prompt is still in the conversation: the rest is given again when it is due. */
  compacted(): void;
  /** Files of the project that lie where they are looked for, its rules included, read or not. */
  found(): Promise<readonly string[]>;
  /** Files of a folder nobody trusts: they are there and are not read. */
  unread(): Promise<readonly string[]>;
  report(): MemoryReport;
};

/** The memory files of a session: found, read once each, with what they import. */
export function createMemory(parts: MemoryParts): Memory {
  let state = NO_MEMORY;
  const tell = (event: MemoryEvent) => {
    state = reduceMemory(state, event);
  };
  const walk: MemoryWalk = { parts, now: () => state, tell };

  return {
    load: async () => {
      tell({ type: 'started' });
      for (const place of parts.ownFiles) await readPlace(walk, place, dirname(place.path));
      const folders = parts.trusted() ? foldersDown(parts.root, parts.cwd()) : [];
      for (const folder of folders) await readFolder(walk, folder, 'project');
      for (const folder of folders) await readRules(walk, folder);
      for (const path of await unreadFiles(parts))
        tell({ type: 'problem', words: `${path} is not read: ${UNTRUSTED}` });
      tell({ type: 'prompt_rendered' });
      return state.loaded.map(({ file }) => file);
    },
    touch: async (paths) => {
      const before = state.loaded;
      for (const path of paths) await touchPath(walk, resolve(parts.cwd(), path));
      return state.loaded.filter((known) => !before.includes(known)).map(({ file }) => file);
    },
    changed: async () => {
      const changes: MemoryFile[] = [];
      for (const known of state.loaded) {
        const fresh = await lookAgain(known, parts);
        if (fresh === undefined) continue;
        tell({ type: 'file_changed', known: fresh });
        if (fresh.file.text !== known.file.text) changes.push(fresh.file);
      }
      return changes;
    },
    accept: async (place) => {
      if (!counts(place.scope, parts)) return;
      const source = await readMemoryFile(place.path, mayReadAt(place, parts));
      if (source?.ok !== true) return;
      const { realPath, mtimeMs } = source;
      const { text } = await parseMemory(source.text);
      const known = state.loaded.find(({ file }) => file.path === place.path);
      const file = { ...place, ...known?.file, text };
      tell({ type: 'edit_accepted', known: { folder: dirname(place.path), ...known, file, realPath, mtimeMs } });
    },
    compacted: () => tell({ type: 'compacted' }),
    found: async () => (parts.trusted() ? foundFiles(parts) : []),
    unread: () => unreadFiles(parts),
    report: () => ({
      files: [...state.loaded.map(asLoaded), ...state.waiting.map(asWaiting)],
      problems: state.problems,
    }),
  };
}

const UNTRUSTED = 'this folder is not trusted';

async function unreadFiles(parts: MemoryParts): Promise<readonly string[]> {
  return parts.trusted() ? [] : foundFiles(parts);
}

async function foundFiles(parts: MemoryParts): Promise<readonly string[]> {
  const folders = foldersDown(parts.root, parts.cwd());
  const rules = await Promise.all(folders.map(rulesIn));
  const places = [...folders.flatMap((folder) => placesIn(folder, 'project')), ...rules.flat()];
  const found = await Promise.all(places.map(async ({ path }) => ((await isThere(path)) ? [path] : [])));
  return found.flat();
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Brings in the memory of the folders above a path, and the rules that wait for it. */
async function touchPath(walk: MemoryWalk, path: string): Promise<void> {
  const { parts, now, tell } = walk;
  if (!parts.trusted() || !isInside(parts.root, path)) return;
  for (const folder of foldersDown(parts.root, dirname(path))) {
    if (now().folders.has(folder)) continue;
    await readFolder(walk, folder, 'nested');
    await readRules(walk, folder);
  }
  for (const rule of now().waiting) {
    const way = relative(rule.folder, path).split(sep).join('/');
    if (matchesGlobs(rule.file.paths ?? [], way)) tell({ type: 'rule_matched', rule });
  }
}

/** The file as it reads now; nothing when it was not written since. */
async function lookAgain(known: KnownFile, parts: MemoryParts): Promise<KnownFile | undefined> {
  if (known.file.leftOut !== undefined) return undefined;
  const mtimeMs = await stat(known.file.path).then(
    (facts) => facts.mtimeMs,
    () => -1,
  );
  if (mtimeMs === known.mtimeMs) return undefined;
  const source = await readMemoryFile(known.file.path, mayReadAt(known.file, parts, known.file.importedBy));
  const text = source?.ok === true ? (await parseMemory(source.text)).text : '';
  const leftOut = source !== undefined && 'leftOut' in source ? { leftOut: source.leftOut } : {};
  return { ...known, file: { ...known.file, text, ...leftOut }, mtimeMs };
}

function asLoaded({ file }: KnownFile) {
  return { ...file, state: 'loaded' as const, chars: file.text.length };
}

function asWaiting({ file }: KnownFile) {
  return { ...file, state: 'waiting' as const, chars: file.text.length };
}

/** Does a path (relative, with `/`) match one of the globs? `*.ts` matches at any depth, `{a,b}` are alternatives. */
export function matchesGlobs(globs: readonly string[], path: string): boolean {
  const written = globs.map((glob) => glob.replaceAll(', ', ','));
  return path !== '' && !path.startsWith('..') && readIgnore(written, 'alternatives')(path) === 'ignored';
}
