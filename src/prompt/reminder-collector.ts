import type { Todo } from '../contracts/display.ts';
import type { PermissionMode } from '../contracts/permission.ts';
import { formatOneLine } from '../lib/text/format.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import { type MemoryFile, renderMemoryFile } from './memory/render-memory.ts';
import { type CapabilityCatalog, describePromptCatalogChanges } from './prompt-catalog.ts';
import { type AnswerPreferences, describeAnswerPreferenceChanges } from './system-prompt.ts';

/** The sources of news for the model; each returns the current state. */
export type ReminderSources = {
  readonly changedFiles: () => Promise<readonly UnseenFileChange[]>;
  /** Paths that calls have read or edited since the last collection. */
  readonly touchedPaths: () => readonly string[];
  readonly memory: {
    touch(paths: readonly string[]): Promise<readonly MemoryFile[]>;
    changed(): Promise<readonly MemoryFile[]>;
    compacted(): void;
  };
  readonly todos: () => readonly Todo[];
  readonly date: () => string;
  /** Absent outside a git repository. */
  readonly branch?: () => string | undefined;
  readonly mode: () => PermissionMode;
  /** Custom instructions for plan mode. */
  readonly planInstructions?: string;
  readonly answering: () => AnswerPreferences;
  readonly catalog: () => CapabilityCatalog;
  /** News about background shells and sub-agents; each item is returned once. */
  readonly backgroundNews: () => readonly string[];
};

/** Creates the collector of news; every change is announced once, and sent messages are never rewritten. */
export function createReminderCollector(deps: ReminderSources, before?: ModelKnownFacts) {
  let state = createNewsState(before);
  const getCurrentFacts = (): ModelKnownFacts => {
    const branch = deps.branch?.();
    const { date, mode, answering, catalog } = deps;
    const facts = { date: date(), mode: mode(), answering: answering(), catalog: catalog() };
    return branch === undefined ? facts : { ...facts, branch };
  };
  const applyStep = ({ state: next, news }: ReturnType<typeof collectFactNews>): readonly string[] => {
    state = next;
    return news;
  };

  return {
    /** Marks the current facts as known, after the system prompt rendered them; otherwise the first `collect` does. */
    begin: () => {
      state = initializeFacts(state, getCurrentFacts());
    },
    /** Returns the news since the last call as reminders. */
    collect: async (): Promise<readonly string[]> => {
      const facts = applyStep(collectFactNews(state, getCurrentFacts(), deps.planInstructions));
      const changes = await deps.changedFiles();
      const files = applyStep(collectFileNews(state, changes));
      const memory = await collectMemoryNews(deps);
      const news = [
        ...facts,
        ...files,
        ...memory,
        ...applyStep(collectTodoNews(state, deps.todos())),
        ...deps.backgroundNews(),
      ];
      return news.map(wrapInReminder);
    },
    /** Announces every difference from the system prompt again, because a compaction removed all news. */
    compacted: () => {
      state = { ...state, facts: state.firstFacts };
      deps.memory.compacted();
    },
    /** Forgets all known facts, for a new conversation. */
    restart: () => {
      state = { ...state, facts: undefined, firstFacts: undefined };
    },
    getKnownFacts: (): ModelKnownFacts | undefined => state.facts,
  };
}

async function collectMemoryNews({ memory, touchedPaths }: ReminderSources): Promise<readonly string[]> {
  const loaded = await memory.touch(touchedPaths());
  const changed = await memory.changed();
  return [
    ...loaded.map((file) => `Instructions for the files you touched:\n\n${renderMemoryFile(file)}`),
    ...changed.map((file) =>
      file.text === '' && file.excludedReason === undefined
        ? `The instructions in ${file.path} are gone; they no longer apply.`
        : `These instructions were changed; this is how they read now:\n\n${renderMemoryFile(file)}`,
    ),
  ];
}

/** Facts the model knows; recorded with the session, so that a resume does not announce them again. */
export type ModelKnownFacts = {
  readonly date: string;
  readonly branch?: string | undefined;
  readonly mode: PermissionMode;
  /** Absent in sessions written by older versions. */
  readonly answering?: AnswerPreferences | undefined;
  readonly catalog: CapabilityCatalog;
};

/** A file changed since the model read it. */
export type UnseenFileChange = {
  readonly path: string;
  /** Identifies this state of the file. */
  readonly version: string;
  readonly kind: 'changed' | 'deleted';
  /** The complete diff, if it is short. */
  readonly diff?: string;
};

/** The facts the model knows, from which news are derived. */
type NewsState = {
  readonly facts: ModelKnownFacts | undefined;
  /** Facts in the system prompt, which remain known after a compaction. */
  readonly firstFacts: ModelKnownFacts | undefined;
  /** Last announced version of each changed file, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly todos: string;
  /** Turns since the to-do list last changed. */
  readonly quietTurns: number;
};

type NewsStep = { readonly state: NewsState; readonly news: readonly string[] };

const QUIET_TURNS = 10;
const MAX_FILES = 20;

/** Creates the state from the facts of an earlier run, if any. */
function createNewsState(before: ModelKnownFacts | undefined): NewsState {
  // The mode is not part of the system prompt, so it is announced again after a compaction.
  const firstFacts = before && withDefaultMode(before);
  return { facts: before, firstFacts, files: new Map(), todos: '', quietTurns: 0 };
}

/** Sets the initial facts of the conversation, unless facts are known already. */
function initializeFacts(state: NewsState, current: ModelKnownFacts): NewsState {
  const facts = state.facts ?? withDefaultMode(current);
  return { ...state, facts, firstFacts: state.firstFacts ?? facts };
}

/** Collects news about date, branch, mode, answer preferences and the catalog. */
function collectFactNews(before: NewsState, current: ModelKnownFacts, planInstructions?: string): NewsStep {
  const state = initializeFacts(before, current);
  const known = state.facts ?? current;
  const news = [
    ...(current.date === known.date ? [] : [`The date is now ${current.date}.`]),
    ...describeBranchChange(known.branch, current.branch),
    ...(current.mode === known.mode ? [] : [describePermissionMode(current.mode, planInstructions)]),
    ...describeAnswerPreferenceChanges(known.answering, current.answering ?? {}),
    ...describePromptCatalogChanges(known.catalog, current.catalog),
  ];
  return { state: { ...state, facts: current }, news };
}

/** Collects news about files changed outside the conversation; each version of a file is announced once. */
function collectFileNews(state: NewsState, changes: readonly UnseenFileChange[]): NewsStep {
  const unannounced = changes.filter(({ path, version }) => state.files.get(path) !== version);
  const files = new Map([...state.files, ...unannounced.map(({ path, version }) => [path, version] as const)]);
  const hidden = unannounced.length - MAX_FILES;
  const more = hidden > 0 ? [`And ${hidden} more files you have read were changed.`] : [];
  return { state: { ...state, files }, news: [...unannounced.slice(0, MAX_FILES).map(describeFileChange), ...more] };
}

/** Collects a reminder about a to-do list that has not changed for a while. */
function collectTodoNews(before: NewsState, list: readonly Todo[]): NewsStep {
  const todos = JSON.stringify(list);
  const quietTurns = todos === before.todos ? before.quietTurns + 1 : 0;
  const state = { ...before, todos, quietTurns };
  if (quietTurns < QUIET_TURNS || list.every((todo) => todo.status === 'completed')) return { state, news: [] };
  const lines = list.map((todo) => `- [${todo.status}] ${todo.content}`).join('\n');
  const text = `The to-do list has not moved for a while. If it is no longer true, correct it with TodoWrite:\n${lines}`;
  return { state: { ...state, quietTurns: 0 }, news: [text] };
}

/** Sets the default mode: a conversation starts in it, so any other mode has to be announced. */
function withDefaultMode(facts: ModelKnownFacts): ModelKnownFacts {
  return { ...facts, mode: 'default' };
}

/** Announces a branch switched outside the conversation. */
function describeBranchChange(before: string | undefined, now: string | undefined): readonly string[] {
  return now === undefined || before === undefined || now === before
    ? []
    : [`The git branch is now ${formatOneLine(now)}.`];
}

function describeFileChange({ path, kind, diff }: UnseenFileChange): string {
  if (kind === 'deleted') return `${path} was deleted on disk since you last saw it.`;
  const intro = `${path} has changed on disk since you last saw it. Work from how it is now.`;
  return diff === undefined ? `${intro} Read it again before you edit it.` : `${intro} The difference:\n${diff}`;
}

/** Default content of a plan, for the plan mode announcement. */
const DEFAULT_PLAN_CONTENT = 'what will change, where, how it will be checked, and what is still open.';

/** Describes what a permission mode means for the calls of the model. */
export function describePermissionMode(mode: PermissionMode, planInstructions?: string): string {
  switch (mode) {
    case 'plan':
      return [
        'Plan mode is on: look and think, but change nothing, neither files nor anything a command could change.',
        ...(planInstructions === undefined ? [] : [planInstructions]),
        `When you know what to do, put a plan before the user with ExitPlanMode${planInstructions === undefined ? `: ${DEFAULT_PLAN_CONTENT}` : '.'}`,
      ].join(planInstructions === undefined ? ' ' : '\n\n');
    case 'acceptEdits':
      return 'Edits inside the project are now accepted without a question; nothing has changed for commands.';
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
