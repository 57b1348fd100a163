import type { Message } from '../contracts/message.ts';
import { type Ledger, NOTHING_STRIPPED, type QueryState, type Stripped } from '../contracts/query.ts';
import type { ContinueReason, Terminal } from '../contracts/terminal.ts';

export const EMPTY_LEDGER: Ledger = {
  fellBack: 0,
  drained: false,
  compacted: false,
  escalated: false,
  resumptions: 0,
  stopHookBlocks: 0,
  nudges: 0,
  pauses: 0,
  healed: false,
};

/** Where every query begins. */
export function initialState(
  messages: readonly Message[],
  stripped: Stripped = NOTHING_STRIPPED,
  failedCompactions = 0,
): QueryState {
  return {
    messages,
    sent: messages,
    turnCount: 0,
    asked: 0,
    transition: undefined,
    modelIndex: 0,
    maxOutputTokensOverride: undefined,
    ledger: EMPTY_LEDGER,
    stopHookActive: false,
    compaction: { consecutiveFailures: failedCompactions, turnsSinceCompact: 0 },
    budget: { continuations: 0, gains: [], freshTokens: 0, usedTokens: 0 },
    stripped,
    pendingSummary: undefined,
  };
}

/** What a phase decides. Silence (`undefined`) passes on to the next phase. */
export type Verdict =
  | { readonly kind: 'retry'; readonly reason: ContinueReason; readonly state: QueryState }
  | { readonly kind: 'stop'; readonly terminal: Terminal; readonly state: QueryState };

export function retry(reason: ContinueReason, state: QueryState): Verdict {
  return { kind: 'retry', reason, state: { ...state, transition: { reason } } };
}

export function stop(state: QueryState, terminal: Terminal): Verdict {
  return { kind: 'stop', terminal, state };
}

/** Books a recovery in the ledger. */
export function spend(state: QueryState, spent: Partial<Ledger>): QueryState {
  return { ...state, ledger: { ...state.ledger, ...spent } };
}

export function append(state: QueryState, ...messages: readonly Message[]): QueryState {
  return { ...state, messages: [...state.messages, ...messages] };
}
