import type { Message, ToolUseBlock } from '../../contracts/message.ts';
import type { ToolLookup } from '../../contracts/permission.ts';
import { callsIn } from '../calls.ts';
import type { ContextDecision, Decisions } from '../decisions.ts';
import type { TokenEstimate } from '../tokens.ts';
import { type Facts, type Proposal, tailStart, type ViewEntry } from './levels.ts';

export type ViewParts = {
  readonly decisions: Decisions;
  readonly estimate: TokenEstimate;
  readonly storedAt: (callId: string) => string | undefined;
  readonly toolNamed: ToolLookup;
};

/** The conversation as it is sent, kept up message by message: what was looked at once is not looked at again. */
export function createView({ decisions, estimate, storedAt, toolNamed }: ViewParts): View {
  let entries: ViewEntry[] = [];
  let rawTokens = 0;
  let calls = new Map<string, ToolUseBlock>();

  const tokensOf = (view: Message | undefined) => (view === undefined ? 0 : estimate.messageTokens(view));
  const refresh = () => {
    entries = entries.map(({ source }) => ({ source, view: decisions.viewOf(source) }));
    rawTokens = entries.reduce((total, entry) => total + tokensOf(entry.view), 0);
  };
  return {
    fit: (messages) => {
      const isLonger = entries.length <= messages.length && entries.every((e, index) => e.source === messages[index]);
      if (isLonger) return { added: messages.slice(entries.length), isReplaced: false };
      entries = [];
      calls = new Map();
      rawTokens = 0;
      return { added: messages, isReplaced: true };
    },
    add: (source) => {
      for (const call of callsIn(source)) calls.set(call.id, call);
      const view = decisions.viewOf(source);
      entries.push({ source, view });
      rawTokens += tokensOf(view);
    },
    note: (message) => {
      for (const call of callsIn(message)) calls.set(call.id, call);
    },
    take: (taken) => {
      for (const { decision } of taken) decisions.record(decision);
      if (taken.length > 0) refresh();
    },
    refresh,
    facts: (tailTokens) => ({
      entries,
      tailFrom: tailStart(entries, tailTokens, estimate),
      callOf: (callId) => calls.get(callId),
      isFinal: decisions.isFinal,
      storedAt,
      estimate,
      toolNamed,
    }),
    messages: () => entries.flatMap(({ view }) => (view === undefined ? [] : [view])),
    rawTokens: () => rawTokens,
    callOf: (callId) => calls.get(callId),
  };
}

export type View = {
  /** Which messages are new since the last time; a conversation that was replaced is all new. */
  fit(messages: readonly Message[]): { readonly added: readonly Message[]; readonly isReplaced: boolean };
  add(message: Message): void;
  /** Learns the calls of a message before its results are judged. */
  note(message: Message): void;
  take(proposals: readonly Proposal[]): void;
  refresh(): void;
  facts(tailTokens: number): Facts;
  messages(): readonly Message[];
  rawTokens(): number;
  callOf(callId: string): ToolUseBlock | undefined;
};

/** The calls a decision took out of sight. */
export function callsOfDecision(decision: ContextDecision): readonly string[] {
  return decision.level === 'collapse' ? decision.callIds : [decision.callId];
}
