import type { Todo } from '../contracts/display.ts';
import type { PermissionMode } from '../contracts/permission.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { type Answering, answeringNews } from './answering.ts';
import { type Catalog, catalogChanges } from './catalog-changes.ts';

/** Facts the model goes by: kept with the session, so that a resume does not repeat them. */
export type KnownFacts = {
  readonly date: string;
  readonly branch?: string | undefined;
  readonly mode: PermissionMode;
  /** Absent in sessions of older versions. */
  readonly answering?: Answering | undefined;
  readonly catalog: Catalog;
};

/** A file that no longer reads as the model saw it. */
export type FileChange = {
  readonly path: string;
  /** Distinguishes this state of the file from later ones. */
  readonly version: string;
  readonly kind: 'changed' | 'deleted';
  /** A short diff, when there is one worth showing. */
  readonly diff?: string;
};

/** What the model knows already, so that only what differs is news. */
export type NewsState = {
  readonly facts: KnownFacts | undefined;
  /** The facts without any news: what a compaction goes back to. */
  readonly firstFacts: KnownFacts | undefined;
  /** The version of each changed file that was told, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly todos: string;
  /** Turns in which the to-do list did not move. */
  readonly quietTurns: number;
};

type NewsStep = { readonly state: NewsState; readonly news: readonly string[] };

const QUIET_TURNS = 10;
const MAX_FILES = 20;
const MAX_DIFF_CHARS = 4_000;

export function initialNews(before: KnownFacts | undefined): NewsState {
  // The mode is never part of the prompt, so a resumed conversation that was compacted is told it again.
  const firstFacts = before && asBeginning(before);
  return { facts: before, firstFacts, files: new Map(), todos: '', quietTurns: 0 };
}

/** Unless facts are known already, these are what the conversation begins with. */
export function beginWith(state: NewsState, current: KnownFacts): NewsState {
  const facts = state.facts ?? asBeginning(current);
  return { ...state, facts, firstFacts: state.firstFacts ?? facts };
}

/** The date, the branch, the mode, how to answer, and what can be called by name. */
export function factNews(before: NewsState, current: KnownFacts, planInstructions?: string): NewsStep {
  const state = beginWith(before, current);
  const known = state.facts ?? current;
  const news = [
    ...(current.date === known.date ? [] : [`The date is now ${current.date}.`]),
    ...branchNews(known.branch, current.branch),
    ...(current.mode === known.mode ? [] : [modeWords(current.mode, planInstructions)]),
    ...answeringNews(known.answering, current.answering ?? {}),
    ...catalogChanges(known.catalog, current.catalog),
  ];
  return { state: { ...state, facts: current }, news };
}

/** Files that somebody else changed, each once for every state it is in. */
export function fileNews(state: NewsState, changes: readonly FileChange[]): NewsStep {
  const fresh = changes.filter(({ path, version }) => state.files.get(path) !== version);
  const files = new Map([...state.files, ...fresh.map(({ path, version }) => [path, version] as const)]);
  const hidden = fresh.length - MAX_FILES;
  const more = hidden > 0 ? [`And ${hidden} more files you have read were changed.`] : [];
  return { state: { ...state, files }, news: [...fresh.slice(0, MAX_FILES).map(fileWords), ...more] };
}

/** A to-do list that has not moved for a while is brought to mind. */
export function todoNews(before: NewsState, list: readonly Todo[]): NewsStep {
  const todos = JSON.stringify(list);
  const quietTurns = todos === before.todos ? before.quietTurns + 1 : 0;
  const state = { ...before, todos, quietTurns };
  if (quietTurns < QUIET_TURNS || list.every((todo) => todo.status === 'completed')) return { state, news: [] };
  const lines = list.map((todo) => `- [${todo.status}] ${todo.content}`).join('\n');
  const words = `The to-do list has not moved for a while. If it is no longer true, correct it with TodoWrite:\n${lines}`;
  return { state: { ...state, quietTurns: 0 }, news: [words] };
}

/** A conversation begins in the ordinary mode; any other one has to be told. */
function asBeginning(facts: KnownFacts): KnownFacts {
  return { ...facts, mode: 'default' };
}

/** Somebody else switched it: files may read differently now. */
function branchNews(before: string | undefined, now: string | undefined): readonly string[] {
  return now === undefined || before === undefined || now === before ? [] : [`The git branch is now ${oneLine(now)}.`];
}

function fileWords({ path, kind, diff }: FileChange): string {
  if (kind === 'deleted') return `${path} was deleted outside this conversation after you read it.`;
  const intro = `${path} was changed outside this conversation after you read it. Work from how it is now.`;
  if (diff === undefined || diff.trim() === '') return `${intro} Read it again before you edit it.`;
  if (diff.length > MAX_DIFF_CHARS) return `${intro} Much is different; read it again before you edit it.`;
  return `${intro} What is different:\n${diff}`;
}

/** What the model should know about the permission mode it now works in. */
const HOW_TO_PLAN = 'what will change, where, how it will be checked, and what is still open.';

function modeWords(mode: PermissionMode, planInstructions: string | undefined): string {
  switch (mode) {
    case 'plan':
      return [
        'Plan mode is on: look and think, but change nothing, neither files nor anything a command could change.',
        ...(planInstructions === undefined ? [] : [planInstructions]),
        `When you know what to do, put a plan before the user with ExitPlanMode${planInstructions === undefined ? `: ${HOW_TO_PLAN}` : '.'}`,
      ].join(planInstructions === undefined ? ' ' : '\n\n');
    case 'acceptEdits':
      return 'Edits inside the project are now accepted without a question; commands still ask.';
    case 'dontAsk':
      return 'Nobody is asked any more: a call that is not already allowed is refused.';
    case 'auto':
      return 'Mode auto is on: edits inside the project run, other calls are judged one by one and may still be asked about.';
    case 'bypassPermissions':
      return 'Permission questions are switched off. Be all the more careful with what cannot be undone.';
    case 'default':
      return 'The ordinary permission mode is on: calls that change something may be asked about.';
  }
}
