import type { JsonObject, JsonValue } from './json.ts';
import type { Effort } from './model.ts';
import type { PermissionMode } from './permission.ts';

/** The source of an extension. A project extension overrides a user extension of the same name. */
export type ExtensionSource = 'builtin' | 'user' | 'project' | 'flag' | 'host';

/** A prompt in a file, invoked by name with arguments: by the user as a command, by the model as a skill. */
export type PromptTemplate = {
  readonly name: string;
  readonly path: string;
  readonly source: ExtensionSource;
  readonly description: string;
  readonly argumentHint?: string;
  /** Names of the positional arguments. */
  readonly argumentNames: readonly string[];
  /** Permission rules that allow or deny calls during the run it is invoked in. */
  readonly allowedTools: readonly string[];
  readonly deniedTools: readonly string[];
  readonly model?: string;
  readonly effort?: Effort;
  /** Hooks from its front matter, active during the run it is invoked in. */
  readonly hooks?: JsonObject;
  /** Type of the sub-agent that executes it in a context of its own; absent: it runs in the conversation. */
  readonly forkAgentType?: string;
  /** Parties that may invoke it. */
  readonly callers: 'all' | 'people' | 'model';
  readonly body: string;
  /** Folder of the file; relative paths in the body start here. */
  readonly folder: string;
  /** Variables of the plugin that provides it. */
  readonly pluginVariables?: PluginVariables;
};

/** A skill: its name and description are in the system prompt, its body is loaded on demand. */
export type Skill = PromptTemplate & {
  /** The name for its slash command, without spaces. */
  readonly slashName: string;
  /** Globs: the skill is offered after a matching file was touched. Empty: always. */
  readonly paths: readonly string[];
};

/** A kind of sub-agent, from a file of the user, the project or a plugin, or built in. */
export type SubAgentDefinition = {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly source: ExtensionSource;
  /** Path of the file that defines it. */
  readonly path?: string;
  /** Names of its tools; absent: all tools of the parent. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  readonly effort?: Effort;
  /** `worktree`: it works in a separate git worktree, on a separate branch. */
  readonly isolation?: 'worktree';
  /** Always started in the background. */
  readonly background?: true;
  /** Names of skills whose text is part of its system prompt. */
  readonly skills?: readonly string[];
  /** Scope of the folder for notes that it keeps between runs. */
  readonly memory?: MemoryScope;
  /** Names of MCP servers whose tools it gets besides `tools`. */
  readonly mcpServers?: readonly string[];
  /** MCP servers defined in its front matter: only this sub-agent uses them, and they are stopped when it ends. */
  readonly inlineMcpServers?: JsonObject;
  /** Hooks from its front matter, active while it works. */
  readonly hooks?: JsonObject;
  /** Display colour. */
  readonly color?: string;
};

/** The scope of a sub-agent's notes: all projects of the user, this project, or this checkout. */
export type MemoryScope = 'user' | 'project' | 'local';

/** Folders of a plugin: its installed copy, which each version replaces, and its data, which stays. */
export type PluginFolders = { readonly CLAUDE_PLUGIN_ROOT: string; readonly CLAUDE_PLUGIN_DATA: string };

/** The variables of plugin texts: the folders of the plugin, and the values of its options that are not sensitive. */
export type PluginVariables = {
  readonly folders: PluginFolders;
  readonly options: Readonly<Record<string, string>>;
};

/** An option that the user sets for a plugin. */
export type PluginOption = {
  readonly key: string;
  readonly type: 'string' | 'number' | 'boolean' | 'directory' | 'file';
  readonly title: string;
  readonly description: string;
  /** Stored with the keys; it never becomes a part of a text for the model. */
  readonly isSensitive: boolean;
  readonly isRequired: boolean;
  readonly default?: string;
  readonly min?: number;
  readonly max?: number;
};

/** A plugin: commands, skills, sub-agents, output styles, hooks and servers that are published together. */
export type Plugin = {
  readonly name: string;
  readonly version?: string;
  readonly description: string;
  readonly root: string;
  readonly variables: PluginVariables;
  /** Folders in the plugin for each kind of file. */
  readonly folders: Readonly<Record<'commands' | 'agents' | 'skills' | 'output-styles', readonly string[]>>;
  /** By kind of folder: the only files and folders that the marketplace takes from them; absent: everything. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
  readonly options: readonly PluginOption[];
  /** Reasons why its options keep it from being used. */
  readonly optionProblems: readonly string[];
  /** Variables that only its hooks get: the values of all options. */
  readonly hookVariables: Readonly<Record<string, string>>;
  readonly hooks: JsonObject;
  readonly mcpServers: JsonObject;
  readonly languageServers: readonly LanguageServerConfig[];
  readonly monitors: readonly PluginMonitor[];
  /** Messages about files that could not be read. */
  readonly problems: readonly string[];
  /** Parts that ouro does not support. */
  readonly unsupported: readonly string[];
};

/** A command of a plugin that runs beside a session; each line it prints is reported to the model. */
export type PluginMonitor = {
  /** Name, with the plugin that provides it. */
  readonly name: string;
  readonly command: string;
  readonly description: string;
  /** The skill whose first use starts it; absent: the session starts it. */
  readonly skill?: string;
};

/** The configuration of a language server (LSP), which reports diagnostics and finds symbols. */
export type LanguageServerConfig = {
  /** Name, with the plugin that provides it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** File extensions (`.go`) and their language ids. */
  readonly languages: Readonly<Record<string, string>>;
  /** Workspace folder; absent: the folder of the conversation. */
  readonly folder?: string;
  readonly initializationOptions?: JsonValue;
  /** Settings that are sent to the server. */
  readonly settings?: JsonObject;
  /** Timeout of the `initialize` request. */
  readonly startTimeoutMs: number;
  /** Timeout of the `shutdown` request. */
  readonly shutdownTimeoutMs: number;
  /** Memory above which the server is ended; absent: no limit. */
  readonly maxMemoryBytes?: number;
  /** Number of restarts after crashes. */
  readonly maxRestarts: number;
  /** The model is told about its diagnostics. */
  readonly reportsDiagnostics: boolean;
};

/** A message about a file that could not be used. */
export type ExtensionProblem = { readonly path: string; readonly line?: number; readonly text: string };
