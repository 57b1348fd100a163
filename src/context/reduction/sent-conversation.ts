import type { Message, ToolUseBlock } from '../../contracts/message.ts';
import type { ToolTraitsLookup } from '../../contracts/permission.ts';
import type { ContextDecision, ReductionLog } from '../reduction-log.ts';
import type { TokenEstimator } from '../token-estimate.ts';
import { listToolCalls } from '../tool-calls.ts';
import {
  findProtectedTailStart,
  type ReducibleMessage,
  type ReductionInput,
  type ReductionProposal,
} from './propose-reductions.ts';

/** The dependencies of the view. */
export type SentConversationDeps = {
  readonly decisions: ReductionLog;
  readonly estimate: TokenEstimator;
  readonly storedAt: (callId: string) => string | undefined;
  readonly toolNamed: ToolTraitsLookup;
};

/** Creates the view of the conversation as it is sent, updated message by message. */
export function createSentConversation({ decisions, estimate, storedAt, toolNamed }: SentConversationDeps) {
  let entries: ReducibleMessage[] = [];
  let rawTokens = 0;
  let calls = new Map<string, ToolUseBlock>();
  /** The messages of the entries, until an entry changes: they are read several times per turn. */
  let sent: readonly Message[] | undefined;

  const getTokens = (view: Message | undefined) => (view === undefined ? 0 : estimate.messageTokens(view));
  const refresh = () => {
    entries = entries.map(({ source }) => ({ source, view: decisions.applyTo(source) }));
    sent = undefined;
    rawTokens = entries.reduce((total, entry) => total + getTokens(entry.view), 0);
  };
  return {
    /** Returns the messages added since the last call; after the conversation was replaced, all of them. */
    matchMessages: (
      messages: readonly Message[],
    ): { readonly added: readonly Message[]; readonly isReplaced: boolean } => {
      const isLonger = entries.length <= messages.length && entries.every((e, index) => e.source === messages[index]);
      if (isLonger) return { added: messages.slice(entries.length), isReplaced: false };
      entries = [];
      sent = undefined;
      calls = new Map();
      rawTokens = 0;
      return { added: messages, isReplaced: true };
    },
    addMessage: (source: Message) => {
      for (const call of listToolCalls(source)) calls.set(call.id, call);
      const view = decisions.applyTo(source);
      entries.push({ source, view });
      sent = undefined;
      rawTokens += getTokens(view);
    },
    /** Registers the calls of a message, so that its results can be matched to them. */
    registerCalls: (message: Message) => {
      for (const call of listToolCalls(message)) calls.set(call.id, call);
    },
    applyProposals: (proposals: readonly ReductionProposal[]) => {
      for (const { decision } of proposals) decisions.record(decision);
      if (proposals.length > 0) refresh();
    },
    refresh,
    createInput: (tailTokens: number): ReductionInput => ({
      entries,
      tailStart: findProtectedTailStart(entries, tailTokens, estimate),
      findCall: (callId) => calls.get(callId),
      isFinal: decisions.isFinal,
      storedAt,
      estimate,
      toolNamed,
    }),
    messages(): readonly Message[] {
      sent ??= entries.flatMap(({ view }) => (view === undefined ? [] : [view]));
      return sent;
    },
    rawTokens: (): number => rawTokens,
    findCall: (callId: string): ToolUseBlock | undefined => calls.get(callId),
  };
}

/** The conversation as it is sent, with the decisions that reduce it. */
export type SentConversation = ReturnType<typeof createSentConversation>;

/** Returns the ids of the calls whose results a decision hides. */
export function listReducedCalls(decision: ContextDecision): readonly string[] {
  return decision.level === 'collapse' ? decision.callIds : [decision.callId];
}
