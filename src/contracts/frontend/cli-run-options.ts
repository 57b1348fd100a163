import type { JsonObject, JsonValue } from '../json.ts';
import type { Effort } from '../model.ts';
import type { ForeignImports } from './foreign-imports.ts';
import type { HostCapabilities } from './host-capabilities.ts';

/** A plugin folder. Its MCP servers are left out when the host runs them itself. */
export type PluginDirOption = { readonly folder: string; readonly servers: 'started' | 'excluded' };

/** The options of a run, validated once by the command line. An absent option was not given. */
export type CliRunOptions = {
  readonly cwd: string;
  readonly frontend: 'screen' | 'print' | 'host' | 'editor';
  readonly model?: string;
  readonly fallbackModels?: readonly string[];
  readonly effort?: Effort;
  readonly maxThinkingTokens?: number;
  readonly betas?: readonly string[];
  readonly permissionMode?: string;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly tools?: readonly string[];
  /** Maps a tool name that the model calls to the tool that runs instead. */
  readonly toolAliases?: Readonly<Record<string, string>>;
  /** Names of the available skills; absent: all. */
  readonly skills?: readonly string[];
  /** Instructions for plan mode from the host. */
  readonly planInstructions?: string;
  /** Enables prompt suggestions independent of the settings. */
  readonly promptSuggestions?: boolean;
  readonly permissionPrompt?: string;
  readonly skipPermissions?: 'now' | 'may';
  readonly trust?: 'this-run';
  /** Folder of the demo's sample project, if it is not the working directory; `undefined` where nobody prompts it. */
  readonly demoProject?: { readonly folder: string | undefined };
  readonly session: SessionChoice;
  /** Loads the imports from other assistants, which are a package. */
  readonly loadImports: () => Promise<ForeignImports>;
  readonly persistence: 'disk' | 'memory';
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  /** Number of output tokens up to which the model is asked to continue. */
  readonly tokenBudget?: number;
  readonly jsonSchema?: JsonObject;
  readonly partialMessages: boolean;
  readonly addDirs: readonly string[];
  /** Trigger for the Setup hooks, which run before the session. */
  readonly setup?: 'init' | 'maintenance';
  readonly pluginDirs?: readonly PluginDirOption[];
  readonly settings?: string;
  /** Policy of the parent process, as JSON. It can only restrict. */
  readonly policy?: string;
  /** Settings sources that are loaded (user, project, local), with their extensions; absent: all. */
  readonly settingSources?: readonly string[];
  readonly mcpConfig: readonly string[];
  readonly mcpSources: 'all' | 'flags-only';
  readonly agents?: JsonValue;
  readonly agent?: string;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Puts facts about the folder and the user into the first message, so that sessions can share one cached prompt. */
  readonly dynamicSections?: 'in-messages';
  /** The first prompt waits for the user's editor. */
  readonly ide?: 'wait';
  readonly debug: 'off' | 'log';
  /** Path of the debug log; absent: a file in the ouro folder. */
  readonly debugFile?: string;
  /** Hooks and MCP servers that run in the host. */
  readonly host?: HostCapabilities;
};

/** The session that a run starts or resumes. */
export type SessionChoice =
  | { readonly kind: 'new'; readonly id?: string }
  | { readonly kind: 'continue'; readonly fork: 'fork' | 'same'; readonly id?: string }
  /** Resumes a session by id or title. An empty `wanted` opens the session picker. */
  | {
      readonly kind: 'resume';
      readonly wanted: string;
      /** `fork` copies it, `same` copies it only if another process has it open, `never` fails then. */
      readonly fork: 'fork' | 'same' | 'never';
      readonly id?: string;
      /** Message id to resume from; later messages are dropped. */
      readonly at?: string;
    };
