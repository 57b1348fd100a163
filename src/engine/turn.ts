import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantMessage, StopReason, ToolUseBlock, Usage } from '../contracts/message.ts';
import type { ModelFailure } from '../contracts/model.ts';
import type { QueryState } from '../contracts/query.ts';
import type { ToolRun } from './tool-run.ts';

/** One model response as the phases see it. A failure on it is withheld: nobody has yielded it yet. */
export type Turn = {
  readonly model: string;
  /** The message people have seen the beginning of; it is kept or buried, never left open. */
  readonly shownId: string | undefined;
  /** The complete blocks; absent when the reply never began or nothing of it was complete. */
  readonly reply: AssistantMessage | undefined;
  readonly stop: StopReason | undefined;
  readonly failure: ModelFailure | undefined;
  /** Something threw that had no business throwing. */
  readonly crash: string | undefined;
  readonly calls: ToolRun;
  /** What the calls still have to say, until every one of them has its end. */
  readonly callEvents: () => AsyncGenerator<AgentEvent, void>;
  readonly stripped: QueryState['stripped'];
  /** Its number among all that were asked for. */
  readonly asked: number;
  /** The stream ended before the abort came. */
  readonly streamed: boolean;
};

/** The calls of a reply that could be read; what was cut off is not among them. */
export function callsOf(reply: AssistantMessage | undefined): readonly ToolUseBlock[] {
  return (reply?.blocks ?? []).filter((block) => block.type === 'tool_use');
}

/** Everything that was read for a reply, from the cache or not. */
export function inputOf(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** Does the reply say anything a person could read? */
export function hasWords(reply: AssistantMessage | undefined): boolean {
  return (reply?.blocks ?? []).some((block) => block.type === 'text' && block.text.trim() !== '');
}

/** What the reply alone tells, before its calls and the state are added. */
export type Reply = Pick<Turn, 'model' | 'shownId' | 'reply' | 'stop' | 'failure' | 'crash'>;

/** Failures that a new attempt may heal: the same set the retry loop repeats. */
function isStreamTrouble(failure: ModelFailure): boolean {
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

/** The stream broke after a call had run: its result counts, and the loop goes on from there. */
export function brokeAfterCalls(turn: Turn): boolean {
  return turn.failure !== undefined && isStreamTrouble(turn.failure) && turn.calls.started() > 0;
}
