import { stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { parseMemory } from './memory-parse.ts';
import { foldersDown, type MemoryPlace } from './memory-places.ts';
import { isInside, readMemoryFile } from './memory-read.ts';
import { type KnownFile, type MemoryEvent, NO_MEMORY, reduceMemory } from './memory-state.ts';
import type { MemoryFile } from './memory-text.ts';
import { guardOf, type MemoryParts, type MemoryWalk, readFolder, readPlace, readRules } from './memory-walk.ts';

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
      const { managedFile, userFiles } = parts;
      await readPlace(walk, { path: managedFile, scope: 'managed' }, dirname(managedFile));
      for (const path of userFiles) await readPlace(walk, { path, scope: 'user' }, dirname(path));
      const folders = foldersDown(parts.root, parts.cwd());
      for (const folder of folders) await readFolder(walk, folder, 'project');
      for (const folder of folders) await readRules(walk, folder);
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
      const source = await readMemoryFile(place.path, guardOf(place, parts));
      if (source?.ok !== true) return;
      const { realPath, mtimeMs } = source;
      const { text } = await parseMemory(source.text);
      const known = state.loaded.find(({ file }) => file.path === place.path);
      const file = { ...place, ...known?.file, text };
      tell({ type: 'edit_accepted', known: { folder: dirname(place.path), ...known, file, realPath, mtimeMs } });
    },
    compacted: () => tell({ type: 'compacted' }),
    report: () => ({
      files: [...state.loaded.map(asLoaded), ...state.waiting.map(asWaiting)],
      problems: state.problems,
    }),
  };
}

/** Brings in the memory of the folders above a path, and the rules that wait for it. */
async function touchPath(walk: MemoryWalk, path: string): Promise<void> {
  const { parts, now, tell } = walk;
  if (!isInside(parts.root, path)) return;
  for (const folder of foldersDown(parts.root, dirname(path))) {
    if (now().folders.has(folder)) continue;
    await readFolder(walk, folder, 'nested');
    await readRules(walk, folder);
  }
  for (const rule of now().waiting) {
    const way = relative(rule.folder, path).split(sep).join('/');
    if (await matchesGlobs(rule.file.paths ?? [], way)) tell({ type: 'rule_matched', rule });
  }
}

/** The file as it reads now; nothing when it was not written since. */
async function lookAgain(known: KnownFile, parts: MemoryParts): Promise<KnownFile | undefined> {
  const mtimeMs = await stat(known.file.path).then(
    (facts) => facts.mtimeMs,
    () => -1,
  );
  if (mtimeMs === known.mtimeMs) return undefined;
  const source = await readMemoryFile(known.file.path, guardOf(known.file, parts));
  const text = source?.ok === true ? (await parseMemory(source.text)).text : '';
  return { ...known, file: { ...known.file, text }, mtimeMs };
}

function asLoaded({ file }: KnownFile) {
  return { ...file, state: 'loaded' as const, chars: file.text.length };
}

function asWaiting({ file }: KnownFile) {
  return { ...file, state: 'waiting' as const, chars: file.text.length };
}

/** Does a path (relative, with `/`) match one of the globs? `*.ts` matches at any depth, `{a,b}` are alternatives. */
async function matchesGlobs(globs: readonly string[], path: string): Promise<boolean> {
  if (path === '' || path.startsWith('..')) return false;
  const { default: ignore } = await import('ignore');
  const rules = ignore({ ignorecase: false }).add(globs.flatMap(withoutBraces));
  return ignore.isPathValid(path) && rules.ignores(path);
}

function withoutBraces(glob: string): readonly string[] {
  const match = /\{([^{}]*)\}/.exec(glob);
  if (match === null) return [glob];
  const before = glob.slice(0, match.index);
  const after = glob.slice(match.index + match[0].length);
  return (match[1] ?? '').split(',').flatMap((choice) => withoutBraces(`${before}${choice.trim()}${after}`));
}
