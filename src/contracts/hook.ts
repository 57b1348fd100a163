import type { JsonObject } from './json.ts';
import type { BoundaryMessage } from './message.ts';
import type { QueryDeps } from './query.ts';
import type { HookConfig, SettingsSource } from './settings.ts';

/** Every moment a hook can be told of. */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'UserPromptSubmit',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
  'PreCompact',
  'PostCompact',
  'Notification',
] as const;

/** The name of such a moment. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** A hook ready to run: where it comes from decides whether it may allow. */
export type Hook = HookConfig & {
  readonly event: HookEvent;
  readonly matcher?: string;
  readonly source: SettingsSource | 'host' | 'agent';
  readonly file?: string;
  readonly line?: number;
  /** A hook that lives in the host: answered over the control protocol. */
  readonly callback?: (input: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
};

/** What came of one hook. */
export type HookResult = {
  readonly hook: Hook;
  readonly outcome: 'passed' | 'blocked' | 'failed';
  /** Words for the model when it blocked, for the person when it failed. */
  readonly words: string;
  readonly output: HookOutput;
  readonly durationMs: number;
};

/** The JSON a hook may answer with; anything else in it is kept out. */
export type HookOutput = {
  readonly continue?: boolean;
  readonly stopReason?: string;
  readonly suppressOutput?: boolean;
  readonly systemMessage?: string;
  readonly decision?: 'approve' | 'block';
  readonly reason?: string;
  readonly permissionDecision?: 'allow' | 'deny' | 'ask';
  readonly permissionDecisionReason?: string;
  readonly updatedInput?: JsonObject;
  readonly additionalContext?: string;
};

/** All hooks of one event together: the strictest verdict, every word, the last input. */
export type HookVerdict = {
  readonly blocked: string | undefined;
  readonly stop: string | undefined;
  readonly permission:
    | { readonly decision: 'allow' | 'deny' | 'ask'; readonly reason: string; readonly by: string }
    | undefined;
  readonly updatedInput: JsonObject | undefined;
  readonly context: string | undefined;
  readonly messages: readonly string[];
  readonly failures: readonly string[];
};

/** What is said of a prompt before it joins: words for the model behind it, or an objection. */
export type PromptVerdict =
  | { readonly kind: 'go'; readonly context?: string }
  | { readonly kind: 'block'; readonly words: string };

/** The questions of a conversation, answered by hooks. */
export type LoopHooks = Pick<QueryDeps, 'beforeCall' | 'afterCall' | 'onStop'> & {
  readonly onPrompt: (words: string, signal: AbortSignal) => Promise<PromptVerdict>;
  /** May add to what a summary looks after, or keep it from being written. */
  readonly beforeCompact: (
    order: { readonly trigger: BoundaryMessage['trigger']; readonly focus?: string },
    signal: AbortSignal,
  ) => Promise<{ readonly ok: true; readonly focus?: string } | { readonly ok: false; readonly why: string }>;
};
