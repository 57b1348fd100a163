import type { JsonObject, JsonValue } from '../json.ts';
import type { Effort } from '../model.ts';
import type { HostParts } from './host.ts';

/** A plugin by its folder. Its MCP servers may be somebody else's to run. */
export type PluginDir = { readonly folder: string; readonly servers: 'started' | 'left out' };

/** What the command line asked for, checked once at the border. Absent means: not said. */
export type RunOptions = {
  readonly cwd: string;
  readonly face: 'screen' | 'print' | 'host' | 'editor';
  readonly model?: string;
  readonly fallbackModels?: readonly string[];
  readonly effort?: Effort;
  readonly maxThinkingTokens?: number;
  readonly betas?: readonly string[];
  readonly permissionMode?: string;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly tools?: readonly string[];
  /** Tools that take the place of others, by the name the model may call. */
  readonly toolAliases?: Readonly<Record<string, string>>;
  /** Only these skills are there; absent: all that were found. */
  readonly skills?: readonly string[];
  /** How to plan, in the words of a host. */
  readonly planInstructions?: string;
  /** What could be said next is offered after a turn, whatever the settings say. */
  readonly promptSuggestions?: boolean;
  readonly permissionPrompt?: string;
  readonly skipPermissions?: 'now' | 'may';
  readonly trust?: 'this-run';
  /** The sample project the demo works on, where it is not the working directory. */
  readonly demoProject?: string;
  readonly session: SessionChoice;
  readonly persistence: 'disk' | 'memory';
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  /** A reply that ends early is asked to go on until about this much is written. */
  readonly tokenBudget?: number;
  readonly jsonSchema?: JsonObject;
  readonly partialMessages: boolean;
  readonly addDirs: readonly string[];
  /** Hooks of Setup are run before the session, for this. */
  readonly setup?: 'init' | 'maintenance';
  /** Plugins of this run alone. */
  readonly pluginDirs?: readonly PluginDir[];
  readonly settings?: string;
  /** Policy of whoever starts us, as JSON. It may only tighten. */
  readonly policy?: string;
  /** Which of user, project and local count, with all they bring; absent: all. */
  readonly settingSources?: readonly string[];
  readonly mcpConfig: readonly string[];
  readonly mcpSources: 'all' | 'flags-only';
  readonly agents?: JsonValue;
  readonly agent?: string;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Facts about this folder and person stand in the first message, so that many may share one cached prompt. */
  readonly dynamicSections?: 'in messages';
  readonly debug: 'off' | 'log';
  /** Where the log goes; absent: a file of its own in our folder. */
  readonly debugFile?: string;
  /** Hooks and MCP servers that live in the host. */
  readonly host?: HostParts;
};

/** Which session a run is about. */
export type SessionChoice =
  | { readonly kind: 'new'; readonly id?: string }
  | { readonly kind: 'continue'; readonly fork: 'fork' | 'same'; readonly id?: string }
  /** An empty `wanted` means: let the person choose. */
  | {
      readonly kind: 'resume';
      readonly wanted: string;
      readonly fork: 'fork' | 'same';
      readonly id?: string;
      /** The message to go on from; what came after it is left behind. */
      readonly at?: string;
    };
