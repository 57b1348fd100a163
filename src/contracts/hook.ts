import type { JsonObject, JsonValue } from './json.ts';
import type { SettingsSource } from './permission.ts';

/** The names of all hook events. */
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

/** The name of a hook event. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The configuration of a hook. */
export type HookConfig = {
  readonly type: 'command' | 'http' | 'prompt' | 'agent' | 'mcp_tool';
  readonly command?: string;
  /** Shell that runs the command; absent: bash. */
  readonly shell?: 'bash' | 'powershell';
  /** Arguments of the command, which then runs without a shell. */
  readonly args?: readonly string[];
  readonly url?: string;
  /** Request headers. `$NAME` is expanded for variables in `allowedEnvVars`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowedEnvVars?: readonly string[];
  /** Prompt for a model or a sub-agent. `$ARGUMENTS` stands for the hook input. */
  readonly prompt?: string;
  readonly model?: string;
  /** MCP server, tool and input of a hook that calls a tool. */
  readonly server?: string;
  readonly tool?: string;
  readonly input?: JsonObject;
  /** Runs without being awaited; its context is added to the next turn. `asyncRewake`: blocking starts a turn. */
  readonly async?: boolean;
  readonly asyncRewake?: boolean;
  /** Runs once per session. */
  readonly once?: boolean;
  /** Timeout in seconds. */
  readonly timeout?: number;
  /** Permission rule that the call must match. */
  readonly if?: string;
  readonly onFailure?: 'continue' | 'block';
  readonly statusMessage?: string;
  /** Runs a command of the project with network access, or outside the sandbox. */
  readonly sandbox?: 'network' | 'off';
};

/** Hooks with a common matcher. */
export type HookGroup = { readonly matcher?: string; readonly hooks: readonly HookConfig[] };

/** A hook that is ready to run. Its source decides whether it may allow calls. */
export type Hook = HookConfig & {
  readonly event: HookEvent;
  readonly matcher?: string;
  readonly source: SettingsSource | 'host' | 'agent';
  readonly file?: string;
  readonly line?: number;
  /** Additional variables for its command: the folders of its project or plugin. */
  readonly env?: Readonly<Record<string, string>>;
  /** Function of a hook that runs in the host, called over the control protocol. */
  readonly callback?: (input: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
};

/** The result of one hook. */
export type HookResult = {
  readonly hook: Hook;
  readonly outcome: 'passed' | 'blocked' | 'failed';
  /** Message for the model if it blocked, for the user if it failed. */
  readonly words: string;
  readonly output: HookOutput;
  readonly durationMs: number;
};

/** The JSON output of a hook. Other keys are ignored. */
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
  /** Replacement for the tool result. */
  readonly updatedToolOutput?: JsonValue;
  /** Path of the worktree that a WorktreeCreate hook made. */
  readonly worktreePath?: string;
  /** Answer of an Elicitation hook to the server. */
  readonly action?: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
  /** Files to watch, in addition to those that matchers name. */
  readonly watchPaths?: readonly string[];
  readonly sessionTitle?: string;
  /** The hook has added skills or commands, so extensions are reloaded. */
  readonly reloadSkills?: boolean;
  /** Replacement text for a displayed message. */
  readonly displayContent?: string;
};

/** The combined result of all hooks of one event: the strictest verdict, all messages, the last input. */
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

/** Returns the configured action of a hook for display: its command, URL, tool or prompt. */
export function describeHookAction({
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

/** The verdict of prompt hooks: additional context for the model, or a refusal. */
export type PromptVerdict =
  | { readonly kind: 'go'; readonly context?: string }
  | { readonly kind: 'block'; readonly words: string };
