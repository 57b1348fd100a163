import type { Message } from '../contracts/message.ts';
import type { ModelLink } from '../contracts/model.ts';
import {
  type ExcludedContent,
  NO_EXCLUDED_CONTENT,
  type QueryConfig,
  type QueryState,
  type RecoveryLedger,
} from '../contracts/query.ts';
import type { ContinueReason, Terminal } from '../contracts/terminal-reason.ts';

/** A ledger without any recovery. */
export const EMPTY_RECOVERY_LEDGER: RecoveryLedger = {
  fellBack: 0,
  drained: false,
  compacted: false,
  escalated: false,
  resumptions: 0,
  stopHookBlocks: 0,
  nudges: 0,
  pauses: 0,
  healed: false,
  loopReminders: 0,
};

/** Creates the state at the start of a query. */
export function createQueryState(
  messages: readonly Message[],
  excluded: ExcludedContent = NO_EXCLUDED_CONTENT,
  failedCompactions = 0,
): QueryState {
  return {
    messages,
    sent: messages,
    turnCount: 0,
    requestCount: 0,
    transition: undefined,
    modelIndex: 0,
    maxOutputTokensOverride: undefined,
    ledger: EMPTY_RECOVERY_LEDGER,
    stopHookActive: false,
    compaction: { consecutiveFailures: failedCompactions, turnsSinceCompact: 0 },
    budget: { continuations: 0, gains: [], freshTokens: 0, usedTokens: 0 },
    recentTurns: [],
    excluded,
    pendingSummary: undefined,
  };
}

/** Decision of a phase; `undefined` in its place passes on to the next phase. */
export type PhaseVerdict =
  | { readonly kind: 'retry'; readonly reason: ContinueReason; readonly state: QueryState }
  | { readonly kind: 'stop'; readonly terminal: Terminal; readonly state: QueryState };

/** Returns the verdict to request another reply. */
export function retry(reason: ContinueReason, state: QueryState): PhaseVerdict {
  return { kind: 'retry', reason, state: { ...state, transition: { reason } } };
}

/** Returns the verdict to end the query. */
export function stop(state: QueryState, terminal: Terminal): PhaseVerdict {
  return { kind: 'stop', terminal, state };
}

/** Records a recovery in the ledger. */
export function spend(state: QueryState, spent: Partial<RecoveryLedger>): QueryState {
  return { ...state, ledger: { ...state.ledger, ...spent } };
}

/** Appends messages to the conversation. */
export function appendMessages(state: QueryState, ...messages: readonly Message[]): QueryState {
  return { ...state, messages: [...state.messages, ...messages] };
}

type HasModelChain = { readonly config: Pick<QueryConfig, 'chain'> };

/** Returns the link of the model chain in use: the primary model, then each fallback. */
export function getCurrentModelLink(state: Pick<QueryState, 'modelIndex'>, deps: HasModelChain): ModelLink {
  const link = deps.config.chain[state.modelIndex] ?? deps.config.chain.at(-1);
  if (link === undefined) throw new Error('The model chain is empty.');
  return link;
}

/** Returns the model that the next request asks. */
export function getCurrentModelId(state: Pick<QueryState, 'modelIndex'>, deps: HasModelChain): string {
  return getCurrentModelLink(state, deps).model;
}

/** Tells whether the model chain has another fallback. */
export function hasFallback(state: Pick<QueryState, 'modelIndex'>, deps: HasModelChain): boolean {
  return state.modelIndex + 1 < deps.config.chain.length;
}
