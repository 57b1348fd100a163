import type { AgentEvent } from '../contracts/event.ts';
import type {
  AssistantMessage,
  Message,
  StopReason,
  ToolUseBlock,
  Usage,
  UserMessage,
  UserOrigin,
} from '../contracts/message.ts';
import type { ModelFailure } from '../contracts/model.ts';
import type { QueryDeps, QueryState } from '../contracts/query.ts';
import type { ToolScheduler } from './tool-calls/tool-scheduler.ts';

/** One model response as the phases see it. Its failure is withheld: no event has reported it yet. */
export type ModelTurn = {
  readonly model: string;
  /** Id of the message whose beginning was shown; it must be completed or get a tombstone. */
  readonly shownMessageId: string | undefined;
  /** The complete blocks; absent if there are none. */
  readonly reply: AssistantMessage | undefined;
  readonly stopReason: StopReason | undefined;
  readonly failure: ModelFailure | undefined;
  /** Message of an exception that the model port threw. */
  readonly crash: string | undefined;
  readonly calls: ToolScheduler;
  /** Emits the remaining events of the calls until every call has ended. */
  readonly remainingCallEvents: () => AsyncGenerator<AgentEvent, void>;
  readonly stripped: QueryState['excluded'];
  /** Number of this reply among all that were requested. */
  readonly turnNumber: number;
  /** True if the stream ended successfully. */
  readonly isStreamComplete: boolean;
};

/** Returns the complete calls of a reply. */
export function listReplyCalls(reply: AssistantMessage | undefined): readonly ToolUseBlock[] {
  return (reply?.blocks ?? []).filter((block) => block.type === 'tool_use');
}

/** Returns the input tokens of a request, cached or not. */
export function sumInputTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** Tells whether a reply has text. */
export function hasReplyText(reply: AssistantMessage | undefined): boolean {
  return (reply?.blocks ?? []).some((block) => block.type === 'text' && block.text.trim() !== '');
}

/** The fields of a turn that come from the reply itself. */
export type ReplyOutcome = Pick<ModelTurn, 'model' | 'shownMessageId' | 'reply' | 'stopReason' | 'failure' | 'crash'>;

/** Tells whether a new attempt may succeed; the same kinds that the retry loop repeats. */
function isTransientFailure(failure: ModelFailure): boolean {
  switch (failure.kind) {
    case 'stalled':
    case 'cut':
    case 'overloaded':
    case 'rate_limited':
    case 'server':
    case 'network':
      return true;
    default:
      return false;
  }
}

/** Tells whether the stream broke after a call had started: its result counts, and the loop continues from there. */
export function isBrokenAfterCalls(turn: ModelTurn): boolean {
  return turn.failure !== undefined && isTransientFailure(turn.failure) && turn.calls.countStarted() > 0;
}

/** Creates the ids of messages. */
export type IdSource = Pick<QueryDeps, 'newId'>;

/** Creates a message from ouro to the model, marked as such by its origin. */
export function createMetaMessage(deps: IdSource, origin: UserOrigin, text: string): UserMessage {
  return { role: 'user', id: deps.newId(), origin, blocks: [{ type: 'text', text }] };
}

/** Returns a reply without blank text, without thinking at its end and, on request, without its calls. */
export function trimReply(
  reply: AssistantMessage | undefined,
  { calls }: { readonly calls: 'keep' | 'drop' },
): AssistantMessage | undefined {
  if (reply === undefined) return undefined;
  const blocks = reply.blocks.filter(
    (block) => (calls === 'keep' || block.type !== 'tool_use') && (block.type !== 'text' || block.text.trim() !== ''),
  );
  const lastKept = blocks.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
  return lastKept === -1 ? undefined : { ...reply, blocks: blocks.slice(0, lastKept + 1) };
}

/** Returns the part of a turn's reply that joins the conversation, calls included. */
export function getReplyMessages(turn: ModelTurn): readonly Message[] {
  const reply = trimReply(turn.reply, { calls: 'keep' });
  return reply === undefined ? [] : [reply];
}
