import type { Agent, Prompt } from '../agent.ts';
import type { DiffHunk, Todo } from '../display.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Message, Usage } from '../message.ts';
import type { Effort, ModelInfo } from '../model.ts';
import type { PermissionMode, ToolFacts } from '../permission.ts';
import type { Past, Worked } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import type { CommandInfo, CommandOutcome } from './command.ts';
import type { ControlPort } from './host.ts';
import type { FaceSettings, KeptChoice, ThemesPort } from './screen-settings.ts';
import type { SessionChoiceInfo, StoredSessionsPort } from './stored-sessions.ts';

/** Everything a face (screen, print mode, editor, host) may ask of one running conversation. */
export type Conversation = {
  readonly agent: Agent;
  /** Somebody sits in front of it: what is to begin with a session begins now, not with the first prompt. */
  begin?(): void;
  /** The same for a run that does nothing else: what hooks that prepare could not do, in sentences. */
  prepare(): Promise<readonly string[]>;
  /** Resolves when what comes late is there: the servers a first request would miss. */
  ready?(): Promise<void>;
  /** Resolves when a server offers this command, or it is known that none does. */
  offered?(command: string): Promise<void>;
  info(): ConversationInfo;
  usage(): UsageReport;
  /** Switches the model from the next turn on; answers with the full id, or why not. */
  setModel(
    name: string | undefined,
  ): Promise<{ readonly ok: true; readonly model: string } | { readonly ok: false; readonly why: string }>;
  /** Only what the model can be told. */
  setEffort(effort: Effort): { readonly ok: true } | { readonly ok: false; readonly why: string };
  setThinkingTokens(tokens: number | undefined): void;
  /** Refuses a mode that does not exist or may not be entered, with the reason. */
  setMode(
    mode: string,
  ): { readonly ok: true; readonly mode: PermissionMode } | { readonly ok: false; readonly why: string };
  /** All that can be chosen here. Servers are asked what they have, so it may take a moment. */
  models(): Promise<readonly ModelInfo[]>;
  commands(): readonly CommandInfo[];
  /** Runs a slash command: the line without its slash. */
  runCommand(line: string): Promise<CommandOutcome>;
  /** Runs a shell line typed by the person (`!`), tells its output as it comes, and leaves both in the conversation. */
  runShell(command: string): Promise<void>;
  /** Paths for the `@` menu, best first. */
  findFiles(query: string, limit: number): Promise<readonly string[]>;
  /** What may stand in the place of the last word of a command line (without its slash), best first. */
  completeArgument?(line: string): Promise<readonly string[]>;
  /** What is written becomes blocks: `@file` mentions are read, images attached. */
  expandPrompt(
    words: string,
    images?: readonly { readonly mediaType: string; readonly data: string }[],
  ): Promise<Prompt>;
  /** What words name by `@` in vain, in sentences. */
  unfoundMentions?(words: string): Promise<readonly string[]>;
  /** The file as a proposed edit would leave it, so that a person can change it first. */
  proposal?(facts: ToolFacts): Promise<EditProposal | undefined>;
  /** Where the tokens of the window go. */
  contextUsage(): Promise<ContextUsage>;
  checkpoints(): Promise<readonly CheckpointInfo[]>;
  rewind(checkpointId: string, what: 'conversation' | 'files' | 'both'): Promise<RewindOutcome>;
  rename(title: string): Promise<void>;
  /** Earlier sessions for the list of `/resume`, newest first; the id is what `--resume` takes. */
  sessions?(): Promise<readonly SessionChoiceInfo[]>;
  /** The same with everything else a picker of sessions does. */
  readonly storedSessions?: StoredSessionsPort;
  /** Background shells and sub-agents that are still at work. */
  background(): readonly { readonly id: string; readonly title: string; readonly elapsedMs: number }[];
  /** What a sub-agent has heard and said by now; an id of none has said nothing. */
  subAgentMessages?(id: string): Promise<readonly Message[]>;
  /** Waits until the usage limit that ended the last run is reset, and goes on; `undefined` when it was stopped, or there is none. */
  waitForLimit?(): Promise<Terminal | undefined>;
  /** Resolves when no turn is about to begin by itself, and none that did is still on. */
  woken?(): Promise<void>;
  /**
   * Moves the command or sub-agent of this call to the background; else the sub-agents that are waited for, else the
   * newest command (Ctrl+B). False when nothing could be moved.
   */
  moveToBackground(callId?: string): boolean;
  /** Commands that were stopped and do not heed it are ended at once. */
  killStopping?(): void;
  /** What hosts ask for; a member that is absent is answered with "unsupported". */
  readonly control?: Partial<ControlPort>;
  /** How the person wants a face to look and to be used. */
  faceSettings?(): Promise<FaceSettings>;
  /** Writes a choice made on the screen into the person's own settings. */
  keepSetting?(key: KeptChoice, value: string): Promise<void>;
  /** Stores the key of a place and uses it from now on; the words say where it is. */
  login?(place: string, key: string): Promise<{ readonly ok: boolean; readonly words: string }>;
  readonly themes?: ThemesPort;
  /** What could be said next, where the person wants that to be offered. */
  suggestNext?(): Promise<string | undefined>;
  /** What the person's own script says in place of the status line; `undefined` without one. */
  statusLine?(): Promise<string | undefined>;
  /** What was said and done before, as it was seen. */
  readonly past?: Past;
  draft: DraftPort;
  history: HistoryPort;
  /** Ends everything in order: abort, kill groups, flush. At most three seconds. */
  close(reason: string): Promise<void>;
};

export type EditProposal = {
  readonly path: string;
  readonly text: string;
  /** What it changes, part by part. */
  readonly hunks: readonly DiffHunk[];
  /** The file with some of the parts left as they were. */
  without(refused: readonly number[]): string;
  /** The input that leaves the file like this; `undefined` where nothing would be left of the edit. */
  inputFor(saved: string): JsonObject | undefined;
};

export type ConversationInfo = {
  readonly sessionId: string;
  readonly title: string | undefined;
  readonly transcriptPath: string | undefined;
  /** Where the shell stands. */
  readonly cwd: string;
  /** What the session belongs to, and where paths begin. */
  readonly folder: string;
  /** The person's own folder, for paths to be shown from it. */
  readonly home: string;
  readonly gitBranch: string | undefined;
  /** Mode auto was switched on by its person: a key reaches it. */
  readonly offersAuto?: true;
  readonly model: string;
  readonly modelInfo: ModelInfo;
  /** The one this run would go back to. */
  readonly defaultModel: string;
  readonly effort: Effort;
  /** What its model takes. */
  readonly efforts: readonly Effort[];
  readonly mode: PermissionMode;
  readonly tools: readonly string[];
  readonly mcpServers: readonly { readonly name: string; readonly status: string; readonly error?: string }[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Files of the project that say how to work in it, from its folder. */
  readonly instructions: readonly string[];
  /** Plugins that count, and where they lie. */
  readonly plugins: readonly { readonly name: string; readonly path: string }[];
  readonly outputStyle: string;
  readonly apiKeySource: string;
  readonly version: string;
  readonly isDemo: boolean;
  readonly trusted: boolean;
  readonly contextTokens: number;
  /** What earlier runs of the session have cost. */
  readonly earlierCostUsd: number;
  /** What they have done. */
  readonly earlierWork: Worked;
  readonly todos: readonly Todo[];
  /** Sentences the person should see once at the start: bad settings, dead rules, what was repaired. */
  readonly warnings: readonly string[];
  readonly permissionDenials: readonly {
    readonly tool: string;
    readonly callId: string;
    readonly input: JsonObject;
    readonly reason: string;
    readonly trace?: JsonValue;
  }[];
};

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
  /** False when a model without a known price took part. */
  readonly isComplete: boolean;
  readonly apiMs: number;
  /** Since the conversation was opened. */
  readonly elapsedMs: number;
  /** What edits brought and took, sub-agents' included. */
  readonly lines: { readonly added: number; readonly removed: number };
};

export type ContextUsage = {
  readonly model: string;
  readonly totalTokens: number;
  readonly maxTokens: number;
  readonly categories: readonly { readonly name: string; readonly tokens: number }[];
  readonly biggest: readonly { readonly name: string; readonly tokens: number }[];
};

export type CheckpointInfo = {
  readonly id: string;
  readonly messageId: string;
  readonly prompt: string;
  readonly at: string;
  readonly files: number;
  readonly notCaptured: readonly string[];
};

export type RewindOutcome =
  | {
      readonly ok: true;
      readonly restored: readonly string[];
      readonly removed: readonly string[];
      /** What could not be brought back, and why. */
      readonly problems?: readonly string[];
      readonly prompt: string;
    }
  | { readonly ok: false; readonly why: string };

/** What is being typed, kept on disk so that no crash loses it. */
export type DraftPort = {
  load(): Promise<Draft | undefined>;
  save(draft: Draft): void;
  clear(): Promise<void>;
  /** The newest of what other sessions of this folder left unsent and nobody took up, after `load`. It stays where it is. */
  leftover?(): Promise<LeftoverDraft | undefined>;
};

/** A draft that is offered; once it has been sent it can go. */
export type LeftoverDraft = { readonly draft: Draft; drop(): Promise<void> };

export type Draft = {
  readonly text: string;
  readonly caret: number;
  readonly pastes: readonly JsonObject[];
  readonly queue: readonly { readonly lane: 'next' | 'after'; readonly text: string }[];
  readonly stash?: string;
  readonly at?: string;
};

export type HistoryPort = {
  /** Newest first. */
  recent(scope: 'session' | 'folder' | 'all', limit: number): Promise<readonly string[]>;
  add(words: string): Promise<void>;
};
