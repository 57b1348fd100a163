import type { AgentListener } from './agent.ts';
import type { PromptVerdict } from './hook.ts';
import type { JsonObject } from './json.ts';
import type { BoundaryMessage, UserOrigin } from './message.ts';
import type { PermissionAnswer } from './permission.ts';
import type { AfterCall, BeforeCall, StopFacts, StopVerdict } from './query.ts';
import type { CallRequest, ToolOutcome, UserAnswer, UserQuestion } from './tool.ts';

/** The moment of reminders: with a prompt of the user, with one that background work starts, or within a turn. */
export type ReminderMoment = 'prompt' | 'background' | 'turn';

/**
 * A part of a conversation. Everything but its name is optional. Features are asked in the order of their list, and each
 * sees what those before it have changed.
 */
export type Feature = {
  readonly name: string;
  /** Called with a prompt before it is sent; features behind one that refuses it are not asked. */
  readonly onPrompt?: (prompt: string, signal: AbortSignal, origin: UserOrigin) => Promise<PromptVerdict>;
  /** Called before a call; features behind one that denies or stops are not asked. */
  readonly beforeCall?: (call: CallRequest, signal: AbortSignal) => Promise<BeforeCall>;
  /** Called after a call. */
  readonly afterCall?: (
    call: CallRequest,
    outcome: ToolOutcome,
    durationMs: number,
    signal: AbortSignal,
  ) => Promise<AfterCall>;
  /** Called when the user would be asked about a call; the first answer of a feature counts. */
  readonly onApproval?: (call: CallRequest, signal: AbortSignal) => Promise<PermissionAnswer | undefined>;
  /** Called with a question of a tool or a server. `ask` asks the features behind this one, and the user last. */
  readonly onQuestion?: (
    question: UserQuestion,
    ask: () => Promise<UserAnswer | undefined>,
    signal: AbortSignal,
  ) => Promise<UserAnswer | undefined>;
  /** Called when the model wants to end; features behind one that objects or prevents are not asked. */
  readonly onStop?: (facts: StopFacts, signal: AbortSignal) => Promise<StopVerdict>;
  /** Returns what the model should know with the prompt, or before the next request of the turn. */
  readonly reminders?: (moment: ReminderMoment, signal: AbortSignal) => Promise<readonly string[]>;
  /** Called with each event of the agent, which waits for it. */
  readonly onEvent?: AgentListener;
  /** Returns what the feature needs after a resume, where it is created with it; saved at the end of each run. */
  readonly save?: () => JsonObject;
};

/** The hook callbacks of a conversation. */
export type LoopHooks = Required<Pick<Feature, 'beforeCall' | 'afterCall' | 'onStop'>> &
  Pick<Feature, 'onApproval' | 'onQuestion'> & {
    readonly onPrompt: (prompt: string, signal: AbortSignal) => Promise<PromptVerdict>;
    /** Can add a focus for the summary, or refuse the compaction. */
    readonly beforeCompact: (
      order: { readonly trigger: BoundaryMessage['trigger']; readonly focus?: string },
      signal: AbortSignal,
    ) => Promise<{ readonly ok: true; readonly focus?: string } | { readonly ok: false; readonly why: string }>;
  };
