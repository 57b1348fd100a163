import type { Message, ToolUseBlock } from '../../contracts/message.ts';
import type { ToolLookup } from '../../contracts/permission.ts';
import type { ContextDecision } from '../decisions.ts';
import type { TokenEstimate } from '../tokens.ts';

/** One message of the conversation and what is sent of it; `undefined` when nothing is. */
export type ViewEntry = { readonly source: Message; readonly view: Message | undefined };

/** What a level may look at when it proposes what could go. */
export type Facts = {
  readonly entries: readonly ViewEntry[];
  /** Entries from here on are recent and stay whole. */
  readonly tailFrom: number;
  readonly callOf: (callId: string) => ToolUseBlock | undefined;
  readonly isFinal: (callId: string) => boolean;
  /** Where a result lies whole on disk, when it does. */
  readonly storedAt: (callId: string) => string | undefined;
  readonly estimate: TokenEstimate;
  readonly toolNamed: ToolLookup;
};

/** A decision that could be taken, and the raw tokens it would free. */
export type Proposal = { readonly decision: ContextDecision; readonly freed: number };

/** The first entry of the protected tail: the last `tokens`, and the last message however long it is. */
export function tailStart(entries: readonly ViewEntry[], tokens: number, estimate: TokenEstimate): number {
  let room = tokens;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const view = entries[index]?.view;
    room -= view === undefined ? 0 : estimate.messageTokens(view);
    if (room < 0) return Math.min(index + 1, entries.length - 1);
  }
  return 0;
}

export function isPinned(message: Message): boolean {
  return message.role === 'user' && message.pinned === true;
}
