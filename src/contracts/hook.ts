import type { JsonObject, JsonValue } from './json.ts';
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
  'Setup',
  'SessionStart',
  'SessionEnd',
  'PreCompact',
  'PostCompact',
  'Notification',
  'PostToolBatch',
  'UserPromptExpansion',
  'PermissionDenied',
  'TaskCreated',
  'TaskCompleted',
  'Elicitation',
  'ElicitationResult',
  'ConfigChange',
  'WorktreeCreate',
  'WorktreeRemove',
  'InstructionsLoaded',
  'CwdChanged',
  'DirectoryAdded',
  'PreModelSwitch',
  'PostModelSwitch',
  'FileChanged',
  'MessageDisplay',
  'TeammateIdle',
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
  /** Variables its command gets besides: where its project or its plugin is. */
  readonly env?: Readonly<Record<string, string>>;
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
  /** What a tool said, in other words. */
  readonly updatedToolOutput?: JsonValue;
  /** Where a WorktreeCreate hook made one. */
  readonly worktreePath?: string;
  /** How an Elicitation hook answers a server. */
  readonly action?: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
  /** Files to look after from now on, besides those that matchers name. */
  readonly watchPaths?: readonly string[];
  /** How the session is to be called. */
  readonly sessionTitle?: string;
  /** It has brought skills or commands. */
  readonly reloadSkills?: boolean;
  /** What it would show in the place of a message. */
  readonly displayContent?: string;
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
  readonly updatedToolOutput: JsonValue | undefined;
  readonly worktreePath: string | undefined;
  readonly elicited: { readonly action: 'accept' | 'decline' | 'cancel'; readonly content: JsonObject } | undefined;
  readonly watchPaths: readonly string[] | undefined;
  readonly sessionTitle: string | undefined;
  readonly reloadSkills: boolean;
  readonly displayContent: string | undefined;
  readonly messages: readonly string[];
  readonly failures: readonly string[];
};

/** What a hook does, in the words it was configured with. */
export function actionOf({
  command,
  args = [],
  url,
  server,
  tool,
  prompt,
  callback,
}: HookConfig & Pick<Hook, 'callback'>): string {
  if (callback !== undefined) return 'in the host';
  if (command !== undefined) return [command, ...args].join(' ');
  return url ?? (server === undefined ? `asks: ${prompt ?? ''}` : `${server}: ${tool ?? ''}`);
}

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
