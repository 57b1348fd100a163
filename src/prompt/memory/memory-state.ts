import { exhaustive } from '../../lib/exhaustive.ts';
import type { MemoryFile } from './memory-text.ts';

/** A memory file with what is needed to look at it again. */
export type KnownFile = {
  readonly file: MemoryFile;
  /** Where its globs begin. */
  readonly folder: string;
  readonly realPath: string;
  readonly mtimeMs: number;
};

/** The memory of one session. */
export type MemoryState = {
  /** What the model has been given, in the system prompt or later in a message. */
  readonly loaded: readonly KnownFile[];
  /** Rules that wait until a file that matches is touched. */
  readonly waiting: readonly KnownFile[];
  /** The texts in the system prompt, by path. */
  readonly inPrompt: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
  /** Files and folders that were read; none is read twice. */
  readonly realPaths: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
};

export const NO_MEMORY: MemoryState = {
  loaded: [],
  waiting: [],
  inPrompt: new Map(),
  problems: [],
  realPaths: new Set(),
  folders: new Set(),
};

export type MemoryEvent =
  | { readonly type: 'started' }
  | { readonly type: 'problem'; readonly words: string }
  | { readonly type: 'folder_read'; readonly folder: string }
  | { readonly type: 'file_read'; readonly known: KnownFile }
  /** Found, and not to be given to the model: in its place stands why. */
  | { readonly type: 'left_out'; readonly folder: string; readonly file: MemoryFile }
  /** A file was touched that a waiting rule is about. */
  | { readonly type: 'rule_matched'; readonly rule: KnownFile }
  | { readonly type: 'prompt_rendered' }
  | { readonly type: 'file_changed'; readonly known: KnownFile }
  /** The user made or changed a file through us: that it reads differently is no news. */
  | { readonly type: 'edit_accepted'; readonly known: KnownFile }
  /** Whatever was given outside of the system prompt has left the conversation. */
  | { readonly type: 'compacted' };

const TOTAL_CHARS = 120_000;

/** The memory after an event; pure. */
export function reduceMemory(state: MemoryState, event: MemoryEvent): MemoryState {
  switch (event.type) {
    case 'started':
      return NO_MEMORY;
    case 'problem':
      return { ...state, problems: [...state.problems, event.words] };
    case 'folder_read':
      return { ...state, folders: new Set([...state.folders, event.folder]) };
    case 'file_read':
      return keep(visited(state, event.known), event.known);
    case 'left_out':
      return leaveOut(state, event);
    case 'rule_matched':
      return admit({ ...state, waiting: state.waiting.filter((rule) => rule !== event.rule) }, event.rule);
    case 'prompt_rendered':
      return { ...state, inPrompt: new Map(state.loaded.map(({ file }) => [file.path, file.text])) };
    case 'file_changed':
      return { ...state, loaded: state.loaded.map((known) => (isSame(known, event.known) ? event.known : known)) };
    case 'edit_accepted':
      return acceptEdit(visited(state, event.known), event.known);
    case 'compacted':
      return backToPrompt(state);
    default:
      return exhaustive(event);
  }
}

function isSame({ file }: KnownFile, { file: other }: KnownFile): boolean {
  return file.path === other.path;
}

function visited(state: MemoryState, { realPath }: KnownFile): MemoryState {
  return { ...state, realPaths: new Set([...state.realPaths, realPath]) };
}

function leaveOut(state: MemoryState, { file, folder }: Pick<KnownFile, 'file' | 'folder'>): MemoryState {
  if (state.loaded.some((known) => known.file.path === file.path)) return state;
  return { ...state, loaded: [...state.loaded, { file, folder, realPath: file.path, mtimeMs: Number.NaN }] };
}

function keep(state: MemoryState, known: KnownFile): MemoryState {
  const { text, paths } = known.file;
  const isRepeated = [...state.loaded, ...state.waiting].some(({ file }) => file.text === text);
  if (text === '' || isRepeated) return state;
  return paths === undefined ? admit(state, known) : { ...state, waiting: [...state.waiting, known] };
}

function admit(state: MemoryState, known: KnownFile): MemoryState {
  const loaded = [...state.loaded, known];
  if (loaded.reduce((chars, { file }) => chars + file.text.length, 0) <= TOTAL_CHARS) return { ...state, loaded };
  const words = `${known.file.path} is left out: memory files have more than ${TOTAL_CHARS} characters together`;
  return { ...state, problems: [...state.problems, words] };
}

function acceptEdit(state: MemoryState, known: KnownFile): MemoryState {
  const others = state.loaded.filter((other) => !isSame(other, known));
  const isNew = others.length === state.loaded.length;
  const inPrompt = isNew ? new Map([...state.inPrompt, [known.file.path, known.file.text]]) : state.inPrompt;
  return { ...state, inPrompt, loaded: [...others, known] };
}

/** Only what the system prompt shows is still known; the rest waits to be given again. */
function backToPrompt(state: MemoryState): MemoryState {
  const { inPrompt } = state;
  const gone = state.loaded.filter(({ file }) => !inPrompt.has(file.path));
  const rules = gone.filter(({ file }) => file.paths !== undefined);
  const unread = new Set(gone.filter((known) => !rules.includes(known)).map(({ realPath }) => realPath));
  return {
    ...state,
    loaded: state.loaded.flatMap((known) => {
      const text = inPrompt.get(known.file.path);
      if (text === undefined) return [];
      // With no known time it is compared with the disk again.
      return text === known.file.text ? [known] : [{ ...known, file: { ...known.file, text }, mtimeMs: Number.NaN }];
    }),
    waiting: [...state.waiting, ...rules],
    realPaths: without(state.realPaths, unread),
    folders: without(state.folders, new Set(gone.map(({ folder }) => folder))),
  };
}

function without(all: ReadonlySet<string>, gone: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...all].filter((one) => !gone.has(one)));
}
