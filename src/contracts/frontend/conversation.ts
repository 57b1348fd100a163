import type { Agent, Prompt } from '../agent.ts';
import type { DiffHunk, Todo } from '../display.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Message, Usage } from '../message.ts';
import type { Effort, ModelInfo } from '../model.ts';
import type { PermissionMode, ToolFacts } from '../permission.ts';
import type { PastTurns, SessionWorkTotals } from '../session.ts';
import type { Terminal } from '../terminal-reason.ts';
import type { CommandInfo, SlashCommandOutcome } from './command.ts';
import type { FrontendSettings, SavedScreenSettingName, ThemesPort } from './frontend-settings.ts';
import type { HostControlPort } from './host-capabilities.ts';

type Switched = { readonly ok: true; readonly resend?: string | undefined };
type Refused = { readonly ok: false; readonly problem: string };

/** The interface of a running conversation for its frontend (screen, print mode, editor, host). */
export type Conversation = {
  readonly agent: Agent;
  /** Runs the SessionStart hooks now instead of with the first prompt, for frontends with a user in front of them. */
  runStartHooks?(): void;
  /** Runs the Setup and SessionStart hooks for a run without a prompt. Returns the errors of the Setup hooks. */
  runSetupHooks(): Promise<readonly string[]>;
  /** Resolves when the MCP servers that the first request needs are connected. */
  waitUntilReady?(): Promise<void>;
  /** Resolves when an MCP server provides this command, or when it is clear that none does. */
  waitForCommand?(command: string): Promise<void>;
  info(): ConversationInfo;
  usage(): UsageReport;
  /** Switches the model from the next turn on. Returns the full model id. `resend` is the cost of the lost prompt cache. */
  setModel(name: string | undefined): Promise<(Switched & { readonly model: string }) | Refused>;
  /** Sets the effort. Refuses an effort that the model does not support. */
  setEffort(effort: Effort): Switched | Refused;
  setThinkingTokens(tokens: number | undefined): void;
  /** Sets the permission mode. Refuses an unknown or disallowed mode with the reason. */
  setMode(mode: string): { readonly ok: true; readonly mode: PermissionMode } | Refused;
  /** Lists the models that can be chosen. Asks model servers for their lists, so it may take a moment. */
  models(): Promise<readonly ModelInfo[]>;
  commands(): readonly CommandInfo[];
  /** Reports whether a word is a slash command, also one that only other assistants list. */
  isKnownCommand(name: string): boolean;
  /** Runs a slash command, given as a line without the slash. */
  runCommand(line: string): Promise<SlashCommandOutcome>;
  /** Runs a shell command typed by the user (`!`), emits its output, and adds both to the conversation. */
  runShell(command: string): Promise<void>;
  /** Finds paths for the `@` menu, best first. */
  findFiles(query: string, limit: number): Promise<readonly string[]>;
  /** Completes the last word of a command line (without the slash), best first. */
  completeArgument?(line: string): Promise<readonly string[]>;
  /** Turns typed text into a prompt: reads `@file` mentions and attaches images. */
  expandPrompt(
    text: string,
    images?: readonly { readonly mediaType: string; readonly data: string }[],
  ): Promise<Prompt>;
  /** Returns a message for each `@` mention that cannot be resolved. */
  listUnresolvedMentions?(text: string): Promise<readonly string[]>;
  /** Computes the file as a proposed edit would leave it, so that the user can change it first. */
  proposeEdit?(facts: ToolFacts): Promise<EditProposal | undefined>;
  /** Computes the use of the context window by category. */
  contextUsage(): Promise<ContextUsage>;
  checkpoints(): Promise<readonly CheckpointInfo[]>;
  rewind(checkpointId: string, what: 'conversation' | 'files' | 'both'): Promise<RewindOutcome>;
  rename(title: string): Promise<void>;
  /** Lists earlier sessions for `/resume`, newest first. The ids are accepted by `--resume`. */
  sessions?(): Promise<readonly SessionListEntry[]>;
  /** The stored sessions for the session picker. */
  readonly storedSessions?: StoredSessionsPort;
  /** Lists running background shells and sub-agents. */
  background(): readonly { readonly id: string; readonly title: string; readonly elapsedMs: number }[];
  /** Returns the messages of a sub-agent; none for an unknown id. */
  subAgentMessages?(id: string): Promise<readonly Message[]>;
  /**
   * Waits until the usage limit that ended the last run is reset, then continues. `undefined`: aborted, or no limit.
   */
  waitForLimit?(): Promise<Terminal | undefined>;
  /** Resolves when no automatic turn is pending or running. */
  waitForAutoContinue?(): Promise<void>;
  /**
   * Moves the command or sub-agent of this call to the background. Without a call: the foreground sub-agents, else the
   * newest command (Ctrl+B). Returns false when nothing could be moved.
   */
  moveToBackground(callId?: string): boolean;
  /** Kills commands that were stopped but are still running. */
  killStoppingCommands?(): void;
  /** Additional operations for hosts. A request for an absent member is answered with "unsupported". */
  readonly control: HostControlPort;
  /** Reads the settings for the look and the input of the frontend. */
  readFrontendSettings?(): Promise<FrontendSettings>;
  /** Saves a choice made on the screen in the user settings. */
  saveSetting?(key: SavedScreenSettingName, value: string): Promise<void>;
  /** Stores the key of a provider and uses it from now on. `words` says where it is stored. */
  login?(provider: string, key: string): Promise<{ readonly ok: boolean; readonly message: string }>;
  readonly themes?: ThemesPort;
  /** Suggests the next prompt, if the user has enabled suggestions. */
  suggestNextPrompt?(): Promise<string | undefined>;
  /** Runs the user's status line script. `undefined` without one. */
  renderStatusLine?(): Promise<string | undefined>;
  /** The earlier turns as events, for display. */
  readonly pastTurns?: PastTurns;
  /** The link to the user's editor. */
  readonly editor?: EditorPort;
  /** The unsent input. */
  draft: PromptDraftPort;
  history: PromptHistoryPort;
  /** Shuts down in order: aborts, kills process groups, flushes files. Takes at most three seconds. */
  close(reason: string): Promise<void>;
};

/** A proposed edit of one file that the user can change or accept in part. */
export type EditProposal = {
  readonly path: string;
  readonly text: string;
  readonly hunks: readonly DiffHunk[];
  /** Returns the file text without the refused hunks. */
  withoutHunks(refused: readonly number[]): string;
  /** Returns the tool input that produces this file text; `undefined` when nothing of the edit is left. */
  createInput(saved: string): JsonObject | undefined;
};

/** Facts about a conversation for display and for hosts. */
export type ConversationInfo = {
  readonly sessionId: string;
  readonly title: string | undefined;
  readonly transcriptPath: string | undefined;
  /** Current working directory of the shell. */
  readonly cwd: string;
  /** Folder of the session; relative paths start here. */
  readonly folder: string;
  /** Home folder of the user, for short paths. */
  readonly home: string;
  readonly gitBranch: string | undefined;
  /** The user has enabled auto mode, so a key can select it. */
  readonly hasAutoMode?: true;
  /** Commands run in the sandbox; `unasked` if they may do so without a question. */
  readonly sandbox?: 'asked' | 'unasked';
  readonly model: string;
  readonly modelInfo: ModelInfo;
  /** Model that the run was started with. */
  readonly defaultModel: string;
  readonly effort: Effort;
  /** Efforts that the model supports. */
  readonly efforts: readonly Effort[];
  readonly mode: PermissionMode;
  readonly tools: readonly string[];
  readonly mcpServers: readonly { readonly name: string; readonly status: string; readonly error?: string }[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Instruction files of the project, relative to its folder. */
  readonly instructions: readonly string[];
  /** Enabled plugins and their folders. */
  readonly plugins: readonly { readonly name: string; readonly path: string }[];
  readonly outputStyle: string;
  readonly apiKeySource: string;
  readonly version: string;
  readonly isDemo: boolean;
  readonly trusted: boolean;
  readonly contextTokens: number;
  /** Cost of earlier runs of the session. */
  readonly earlierCostUsd: number;
  /** Work done in earlier runs of the session. */
  readonly earlierWork: SessionWorkTotals;
  readonly todos: readonly Todo[];
  /** Warnings for the start screen: invalid settings, ineffective rules, repairs. */
  readonly warnings: readonly string[];
  readonly permissionDenials: readonly {
    readonly tool: string;
    readonly callId: string;
    readonly input: JsonObject;
    readonly reason: string;
    readonly trace?: JsonValue;
  }[];
};

/** Tokens, cost and time of a conversation. */
export type UsageReport = {
  readonly models: readonly {
    readonly model: string;
    readonly usage: Usage;
    readonly replies: number;
    readonly costUsd?: number;
    readonly contextWindow: number;
    readonly maxOutputTokens: number;
  }[];
  readonly total: Usage;
  readonly costUsd: number;
  /** False when a model without a known price was used. */
  readonly isComplete: boolean;
  readonly apiMs: number;
  /** Time since the conversation was opened. */
  readonly elapsedMs: number;
  /** Lines added and removed by edits, sub-agents included. */
  readonly lines: { readonly added: number; readonly removed: number };
};

/** The use of the context window. */
export type ContextUsage = {
  readonly model: string;
  readonly totalTokens: number;
  readonly maxTokens: number;
  readonly categories: readonly { readonly name: string; readonly tokens: number }[];
  readonly biggest: readonly { readonly name: string; readonly tokens: number }[];
};

/** A checkpoint that the conversation or the files can be rewound to. */
export type CheckpointInfo = {
  readonly id: string;
  readonly messageId: string;
  readonly prompt: string;
  readonly at: string;
  readonly files: number;
  readonly notCaptured: readonly string[];
};

/** The outcome of a rewind of files: what was restored and removed, or the problem. */
export type RewindOutcome =
  | {
      readonly ok: true;
      readonly restored: readonly string[];
      readonly removed: readonly string[];
      /** Files that could not be restored, with the reason. */
      readonly problems?: readonly string[];
      /** The system failed, for example on a full disk: the same undo can restore the rest later. */
      readonly canRetry?: boolean;
      readonly prompt: string;
    }
  | { readonly ok: false; readonly problem: string };

/** A change in the user's editor: the file or selection that goes along with the next prompt, or a mention to insert. */
export type EditorPortEvent =
  | { readonly type: 'context'; readonly label: string | undefined }
  | { readonly type: 'mention'; readonly text: string };

/** The link to the user's editor. */
export type EditorPort = {
  /** Looks for an editor that has this folder open. Only the first call has an effect. */
  start(): void;
  /** Leaves the open file and the selection out of the next prompt. */
  dropContext(): void;
  subscribe(listener: (event: EditorPortEvent) => void): () => void;
};

/** Storage for the unsent input, so that a crash does not lose it. */
export type PromptDraftPort = {
  load(): Promise<PromptDraft | undefined>;
  save(draft: PromptDraft): void;
  clear(): Promise<void>;
  /** Returns the newest unclaimed draft of other sessions of this folder, after `load`. It stays stored. */
  loadLeftover?(): Promise<LeftoverDraft | undefined>;
};

/** A draft of another session that is offered to the user; `drop` deletes it once it was sent. */
export type LeftoverDraft = { readonly draft: PromptDraft; discard(): Promise<void> };

/** The unsent input: text, pastes and queued messages. */
export type PromptDraft = {
  readonly text: string;
  readonly caret: number;
  readonly pastes: readonly JsonObject[];
  readonly queue: readonly { readonly lane: 'next' | 'after'; readonly text: string }[];
  readonly stash?: string;
  readonly at?: string;
};

/** The stored history of prompts. */
export type PromptHistoryPort = {
  /** Lists prompts, newest first. */
  listRecent(scope: 'session' | 'folder' | 'all', limit: number): Promise<readonly string[]>;
  add(text: string): Promise<void>;
};

/** One entry of a session list. The id is accepted by `--resume`. */
export type SessionListEntry = { readonly id: string; readonly label: string; readonly detail: string };

/** The last session of a folder, with the amount of work where it is known. */
export type LastSession = { readonly title: string; readonly modifiedMs: number; readonly worked?: SessionWorkTotals };

/** The scope of a session list: this folder, its current branch, or all folders. */
export type SessionListScope = 'folder' | 'branch' | 'all';

/** The operations of the session picker. */
export type StoredSessionsPort = {
  /** Returns the last session of this folder. */
  last(): Promise<LastSession | undefined>;
  /** Lists sessions, newest first, without the open one. */
  list(scope: SessionListScope): Promise<readonly SessionListEntry[]>;
  /** Searches the text of sessions, newest first. Yields each hit at once, with the excerpt in `detail`. */
  search(text: string, scope: SessionListScope, signal: AbortSignal): AsyncGenerator<SessionListEntry, void>;
  /** Returns the end of the conversation as Markdown. */
  preview(id: string): Promise<string | undefined>;
  /** Renames a session. Returns the reason if it failed. */
  rename(id: string, title: string): Promise<string | undefined>;
  /** Deletes a session. Returns the reason if it failed. */
  remove(id: string): Promise<string | undefined>;
};
