import { exhaustive } from '../../lib/errors.ts';
import type { MemoryFile } from './render-memory.ts';

/** A memory file with the data needed to check it for changes. */
export type TrackedMemoryFile = {
  readonly file: MemoryFile;
  /** Base folder of its globs. */
  readonly folder: string;
  readonly realPath: string;
  readonly mtimeMs: number;
};

/** The state of a session's memory. */
export type MemoryState = {
  /** Files given to the model, in the system prompt or in a later message. */
  readonly loaded: readonly TrackedMemoryFile[];
  /** Rules that wait until a matching file is touched. */
  readonly waiting: readonly TrackedMemoryFile[];
  /** Texts in the system prompt, by path. */
  readonly inPrompt: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
  /** Files and folders already read; none is read twice. */
  readonly realPaths: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
};

/** The state before anything was loaded. */
export const EMPTY_MEMORY: MemoryState = {
  loaded: [],
  waiting: [],
  inPrompt: new Map(),
  problems: [],
  realPaths: new Set(),
  folders: new Set(),
};

/** An event that changes the memory state. */
export type MemoryEvent =
  | { readonly type: 'started' }
  | { readonly type: 'problem'; readonly message: string }
  | { readonly type: 'folder_read'; readonly folder: string }
  | { readonly type: 'file_read'; readonly known: TrackedMemoryFile }
  /** A file was found that may not be given to the model; the reason is shown instead. */
  | { readonly type: 'excluded'; readonly folder: string; readonly file: MemoryFile }
  /** A touched file matches a waiting rule. */
  | { readonly type: 'rule_matched'; readonly rule: TrackedMemoryFile }
  | { readonly type: 'prompt_rendered' }
  | { readonly type: 'file_changed'; readonly known: TrackedMemoryFile }
  /** The user created or changed a file through ouro, so the change need not be reported. */
  | { readonly type: 'edit_accepted'; readonly known: TrackedMemoryFile }
  /** Files given outside the system prompt were removed from the conversation. */
  | { readonly type: 'compacted' };

const TOTAL_CHARS = 120_000;

/** Returns the state after an event. */
export function reduceMemoryState(state: MemoryState, event: MemoryEvent): MemoryState {
  switch (event.type) {
    case 'started':
      return EMPTY_MEMORY;
    case 'problem':
      return { ...state, problems: [...state.problems, event.message] };
    case 'folder_read':
      return { ...state, folders: new Set([...state.folders, event.folder]) };
    case 'file_read':
      return addFile(markVisited(state, event.known), event.known);
    case 'excluded':
      return addExcluded(state, event);
    case 'rule_matched':
      return loadFile({ ...state, waiting: state.waiting.filter((rule) => rule !== event.rule) }, event.rule);
    case 'prompt_rendered':
      return { ...state, inPrompt: new Map(state.loaded.map(({ file }) => [file.path, file.text])) };
    case 'file_changed':
      return { ...state, loaded: state.loaded.map((known) => (isSameFile(known, event.known) ? event.known : known)) };
    case 'edit_accepted':
      return acceptEdit(markVisited(state, event.known), event.known);
    case 'compacted':
      return resetToPrompt(state);
    default:
      return exhaustive(event);
  }
}

function isSameFile({ file }: TrackedMemoryFile, { file: other }: TrackedMemoryFile): boolean {
  return file.path === other.path;
}

function markVisited(state: MemoryState, { realPath }: TrackedMemoryFile): MemoryState {
  return { ...state, realPaths: new Set([...state.realPaths, realPath]) };
}

function addExcluded(state: MemoryState, { file, folder }: Pick<TrackedMemoryFile, 'file' | 'folder'>): MemoryState {
  if (state.loaded.some((known) => known.file.path === file.path)) return state;
  return { ...state, loaded: [...state.loaded, { file, folder, realPath: file.path, mtimeMs: Number.NaN }] };
}

function addFile(state: MemoryState, known: TrackedMemoryFile): MemoryState {
  const { text, paths } = known.file;
  const isRepeated = [...state.loaded, ...state.waiting].some(({ file }) => file.text === text);
  if (text === '' || isRepeated) return state;
  return paths === undefined ? loadFile(state, known) : { ...state, waiting: [...state.waiting, known] };
}

function loadFile(state: MemoryState, known: TrackedMemoryFile): MemoryState {
  const loaded = [...state.loaded, known];
  if (loaded.reduce((chars, { file }) => chars + file.text.length, 0) <= TOTAL_CHARS) return { ...state, loaded };
  const message = `${known.file.path} is ignored: memory files exceed ${TOTAL_CHARS} characters in total`;
  return { ...state, problems: [...state.problems, message] };
}

function acceptEdit(state: MemoryState, known: TrackedMemoryFile): MemoryState {
  const others = state.loaded.filter((other) => !isSameFile(other, known));
  const isNew = others.length === state.loaded.length;
  const inPrompt = isNew ? new Map([...state.inPrompt, [known.file.path, known.file.text]]) : state.inPrompt;
  return { ...state, inPrompt, loaded: [...others, known] };
}

/** Resets the state to the files in the system prompt; the others are loaded again when they apply. */
function resetToPrompt(state: MemoryState): MemoryState {
  const { inPrompt } = state;
  const dropped = state.loaded.filter(({ file }) => !inPrompt.has(file.path));
  const rules = dropped.filter(({ file }) => file.paths !== undefined);
  const unread = new Set(dropped.filter((known) => !rules.includes(known)).map(({ realPath }) => realPath));
  return {
    ...state,
    loaded: state.loaded.flatMap((known) => {
      const text = inPrompt.get(known.file.path);
      if (text === undefined) return [];
      // Without a modification time it is compared with the file on disk again.
      return text === known.file.text ? [known] : [{ ...known, file: { ...known.file, text }, mtimeMs: Number.NaN }];
    }),
    waiting: [...state.waiting, ...rules],
    realPaths: subtract(state.realPaths, unread),
    folders: subtract(state.folders, new Set(dropped.map(({ folder }) => folder))),
  };
}

function subtract(items: ReadonlySet<string>, removed: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...items].filter((item) => !removed.has(item)));
}
