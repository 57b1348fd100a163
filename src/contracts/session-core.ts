import type { Todo } from './display.ts';
import type { Environment, RuntimeLimits } from './environment.ts';
import type { AgentEvent } from './event.ts';
import type { CliRunOptions } from './frontend/cli-run-options.ts';
import type { Effort } from './model.ts';
import type { PermissionMode, RuleBehavior } from './permission.ts';
import type { LoadedSettings, Settings } from './settings.ts';

/** The values that can change while a conversation runs. */
export type LiveSessionValues = {
  readonly model: string;
  readonly effort: Effort;
  readonly thinkingTokens: number | undefined;
  readonly mode: PermissionMode;
  /** Current folder of shell commands; the session itself belongs to its first folder. */
  readonly cwd: string;
  readonly todos: readonly Todo[];
  readonly title: string | undefined;
  readonly outputStyle: string;
  /** The last plan that the user accepted. */
  readonly plan?: string | undefined;
  /** Permission rules for this session only. */
  readonly grants: readonly { readonly rule: string; readonly behavior: RuleBehavior }[];
  /** Additional workspace folders for this session only. */
  readonly directories: readonly string[];
};

/** The holder of the live values of a conversation. */
export type LiveSessionState = {
  current(): LiveSessionValues;
  update(part: Partial<LiveSessionValues>): void;
  /** Registers a listener for changes. */
  onChange(listener: (part: Partial<LiveSessionValues>, live: LiveSessionValues) => void): void;
};

/** The values of a conversation that each of its features may use. */
export type SessionCore = {
  /** Options of the run, with those of `--agent` and the folder of the demo applied. */
  readonly options: CliRunOptions;
  readonly environment: Environment;
  /** Real path of the folder of the conversation. */
  readonly cwd: string;
  /** The folder is trusted: its settings, hooks and instructions are used. */
  readonly trusted: boolean;
  readonly settings: LiveSettings;
  readonly live: LiveSessionState;
  /** Emits events, also before the agent exists. */
  readonly bus: { emit(event: AgentEvent): Promise<void> };
  /** Takes texts that are told to the model with its next request. */
  readonly inbox: { add(text: string): void };
  readonly now: () => number;
  readonly newId: () => string;
};

/** The current settings. Read them where they are used: a copy becomes stale when a file changes. */
export type LiveSettings = {
  current(): Settings;
  /** Returns the settings with their layers and problems. */
  loaded(): LoadedSettings;
  /** Returns timeouts and retry limits, from the environment first, then from the settings. */
  limits(): RuntimeLimits;
  /** Returns the variables for child processes: the environment and those of the settings, without keys. */
  variables(): Readonly<Record<string, string>>;
  /** Reads settings files again if they have changed. */
  refresh(): Promise<void>;
  /** Approves the current project settings after ouro itself has changed them. */
  approveOwnChange(): Promise<void>;
};
