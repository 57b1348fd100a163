import type { PermissionMode } from '../contracts/permission.ts';
import { formatOneLine } from '../lib/text/format.ts';
import { type CapabilityCatalog, describePromptCatalogChanges } from './prompt-catalog.ts';
import { type AnswerPreferences, describeAnswerPreferenceChanges } from './system-prompt.ts';

/** The facts of a session; each function returns the present one. */
export type SessionFacts = {
  readonly date: () => string;
  /** Absent outside a git repository. */
  readonly branch?: () => string | undefined;
  readonly mode: () => PermissionMode;
  /** Custom instructions for plan mode. */
  readonly planInstructions?: string;
  readonly answering: () => AnswerPreferences;
  readonly catalog: () => CapabilityCatalog;
};

/** Creates the tracker of the facts that the model knows: date, branch, mode, answer preferences and the catalog. */
export function createFactTracker(deps: SessionFacts, before?: ModelKnownFacts) {
  // The mode is not part of the system prompt, so it is announced again after a compaction.
  let state: KnownFacts = { facts: before, firstFacts: before && withDefaultMode(before) };
  const getCurrentFacts = (): ModelKnownFacts => {
    const branch = deps.branch?.();
    const { date, mode, answering, catalog } = deps;
    const facts = { date: date(), mode: mode(), answering: answering(), catalog: catalog() };
    return branch === undefined ? facts : { ...facts, branch };
  };

  return {
    /** Marks the current facts as known, after the system prompt rendered them; otherwise the first `collect` does. */
    begin: () => {
      state = initializeFacts(state, getCurrentFacts());
    },
    /** Describes what has changed since the last call; every change is announced once. */
    collect(): readonly string[] {
      const current = getCurrentFacts();
      const known = initializeFacts(state, current);
      state = { ...known, facts: current };
      return describeChanges(known.facts, current, deps.planInstructions);
    },
    /** Announces every difference from the system prompt again, because a compaction removed all news. */
    compacted: () => {
      state = { ...state, facts: state.firstFacts };
    },
    /** Forgets all known facts, for a new conversation. */
    restart: () => {
      state = { facts: undefined, firstFacts: undefined };
    },
    getKnownFacts: (): ModelKnownFacts | undefined => state.facts,
  };
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

type KnownFacts = {
  readonly facts: ModelKnownFacts | undefined;
  /** Facts in the system prompt, which remain known after a compaction. */
  readonly firstFacts: ModelKnownFacts | undefined;
};

/** Sets the initial facts of the conversation, unless facts are known already. */
function initializeFacts(
  state: KnownFacts,
  current: ModelKnownFacts,
): KnownFacts & { readonly facts: ModelKnownFacts } {
  const facts = state.facts ?? withDefaultMode(current);
  return { facts, firstFacts: state.firstFacts ?? facts };
}

function describeChanges(
  known: ModelKnownFacts,
  current: ModelKnownFacts,
  planInstructions?: string,
): readonly string[] {
  return [
    ...(current.date === known.date ? [] : [`The date is now ${current.date}.`]),
    ...describeBranchChange(known.branch, current.branch),
    ...(current.mode === known.mode ? [] : [describePermissionMode(current.mode, planInstructions)]),
    ...describeAnswerPreferenceChanges(known.answering, current.answering ?? {}),
    ...describePromptCatalogChanges(known.catalog, current.catalog),
  ];
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
