import type { AfterCall, BeforeCall, StopFacts, StopVerdict } from './query.ts';
import type { CallRequest, ToolOutcome } from './tool.ts';

/**
 * A part of a conversation. Everything but its name is optional. Features are asked in the order of their list, and each
 * sees what those before it have changed.
 */
export type Feature = {
  readonly name: string;
  /** Called before a call; features behind one that denies or stops are not asked. */
  readonly beforeCall?: (call: CallRequest, signal: AbortSignal) => Promise<BeforeCall>;
  /** Called after a call. */
  readonly afterCall?: (
    call: CallRequest,
    outcome: ToolOutcome,
    durationMs: number,
    signal: AbortSignal,
  ) => Promise<AfterCall>;
  /** Called when the model wants to end; features behind one that objects or prevents are not asked. */
  readonly onStop?: (facts: StopFacts, signal: AbortSignal) => Promise<StopVerdict>;
  /** Returns what the model should know before the next request of the turn. */
  readonly reminders?: () => Promise<readonly string[]>;
};
