import type { JsonObject, JsonValue } from './json.ts';
import type { Effort } from './model.ts';
import type { PermissionMode } from './permission.ts';

/** Where an extension comes from; the project's own wins over the user's. */
export type ExtensionSource = 'builtin' | 'user' | 'project' | 'flag' | 'host';

/** Words in a file that can be called by name, with arguments: by a person behind a slash, by the model as a skill. */
export type Callable = {
  readonly name: string;
  readonly path: string;
  readonly source: ExtensionSource;
  readonly description: string;
  readonly argumentHint?: string;
  /** Names for the arguments, in their order. */
  readonly argumentNames: readonly string[];
  /** What runs unasked while it holds, and what never does. */
  readonly allowedTools: readonly string[];
  readonly deniedTools: readonly string[];
  readonly model?: string;
  readonly effort?: Effort;
  /** Hooks that hold as long as it does, as they stand in its head. */
  readonly hooks?: JsonObject;
  /** It is done by a sub-agent of this kind, which sees nothing of the conversation. */
  readonly fork?: string;
  /** Who may call it. */
  readonly callers: 'all' | 'people' | 'model';
  readonly body: string;
  /** Where the files beside it are. */
  readonly folder: string;
  /** Where the plugin that brings it is. */
  readonly pluginVariables?: PluginVariables;
};

/** A slash command from a file. */
export type CustomCommand = Callable;

/** A skill: its name and description are in the prompt, its text on demand. */
export type Skill = Callable & {
  /** What people type behind the slash: never with a space. */
  readonly slashName: string;
  /** It is only offered once a file that fits was worked on; empty: always. */
  readonly paths: readonly string[];
};

/** A kind of sub-agent. */
export type AgentKind = {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly source: ExtensionSource;
  /** The file it stands in. */
  readonly path?: string;
  /** Absent: all tools of the parent. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  readonly effort?: Effort;
  /** `worktree`: it works in a checkout of its own, on a branch of its own. */
  readonly isolation?: 'worktree';
  /** Nobody waits for it, whoever starts it. */
  readonly background?: true;
  /** Skills it knows by heart from its first request on. */
  readonly skills?: readonly string[];
  /** Where it keeps notes from one run to the next. */
  readonly memory?: MemoryScope;
  /** Servers whose tools it has besides `tools`, by their names. */
  readonly mcpServers?: readonly string[];
  /** Those of them that stand in its head: nobody else has them, and they run as long as it works. */
  readonly ownServers?: JsonObject;
  /** Hooks that hold while it works, as they stand in its head. */
  readonly hooks?: JsonObject;
  /** The colour people know it by. */
  readonly color?: string;
};

export type MemoryScope = 'user' | 'project' | 'local';

export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly source: ExtensionSource;
};

/** How what a plugin brings finds it: its copy, which is replaced with each version, and a folder that stays. */
export type PluginVariables = { readonly CLAUDE_PLUGIN_ROOT: string; readonly CLAUDE_PLUGIN_DATA: string };

/** A plugin: commands, skills, sub-agents, styles, hooks and servers that somebody published together. */
export type Plugin = {
  readonly name: string;
  readonly version?: string;
  readonly description: string;
  readonly root: string;
  readonly variables: PluginVariables;
  /** Where in it each kind of file lies. */
  readonly folders: Readonly<Record<'commands' | 'agents' | 'skills' | 'output-styles', readonly string[]>>;
  readonly hooks: JsonObject;
  readonly mcpServers: JsonObject;
  readonly languageServers: readonly LanguageServer[];
  /** What in it could not be read, in sentences. */
  readonly problems: readonly string[];
  /** What it brings that changes nothing here. */
  readonly unused: readonly string[];
};

/** A program that knows a language: it tells what is wrong in files of it, and where things are. */
export type LanguageServer = {
  /** With the plugin that brings it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Endings of names of files (`.go`), and what their language is called. */
  readonly languages: Readonly<Record<string, string>>;
  /** The folder it works on; absent: that of the conversation. */
  readonly folder?: string;
  readonly initializationOptions?: JsonValue;
  /** What it is told of its settings. */
  readonly settings?: JsonObject;
  readonly startMs: number;
  readonly endMs: number;
  /** So many times it is started again after it has ended by itself. */
  readonly mostRestarts: number;
  /** What it finds wrong is told to the model. */
  readonly tellsProblems: boolean;
};

/** A sentence about a file that could not be used as it stands. */
export type ExtensionProblem = { readonly path: string; readonly line?: number; readonly text: string };

export type Loaded<Item> = { readonly items: readonly Item[]; readonly problems: readonly ExtensionProblem[] };
