import type { JsonObject, JsonValue } from './json.ts';
import type { Effort } from './model.ts';
import type { PermissionMode } from './permission.ts';
import type { LoopGuardLimits } from './query.ts';

/** The source of a setting, strongest first. */
export type SettingsSource = 'managed' | 'flag' | 'local' | 'project' | 'user';

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
};

/** Hooks with a common matcher. */
export type HookGroup = { readonly matcher?: string; readonly hooks: readonly HookConfig[] };

export type McpServerConfig = {
  readonly type?: 'stdio' | 'http' | 'sse';
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly disabled?: boolean;
  readonly oauth?: McpLoginConfig;
};

/** OAuth settings for servers without dynamic client registration. */
export type McpLoginConfig = {
  /** Client id. A URL is a client metadata document, for servers that support it. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Registered port of the redirect URL. */
  readonly callbackPort?: number;
  readonly scope?: string;
  /** `client_credentials`: log in without a user, by client secret or private key. */
  readonly grant?: 'authorization_code' | 'client_credentials';
  readonly privateKey?: string;
  readonly algorithm?: string;
  /** The only authorization server that may get the credentials, whatever the MCP server names. */
  readonly issuer?: string;
  readonly identityProvider?: McpIdentityProvider;
};

/** An enterprise identity provider that authorizes access to MCP servers centrally. */
export type McpIdentityProvider = {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** ID token of the user's sign-in, or a shell command that prints it. */
  readonly idToken?: string | undefined;
  readonly idTokenCommand?: string | undefined;
};

export type SandboxSettings = {
  readonly enabled?: boolean;
  /** Network access for all hosts or none; absent: per host. */
  readonly network?: boolean;
  readonly allowedDomains?: readonly string[];
  readonly deniedDomains?: readonly string[];
  /** Hosts that are not allowed are denied without asking. */
  readonly strictAllowlist?: boolean;
  readonly allowUnixSockets?: readonly string[];
  readonly allowAllUnixSockets?: boolean;
  /** Only on macOS, where sandboxes share the network of the machine. */
  readonly allowLocalBinding?: boolean;
  /** Hidden paths of the home folder that commands may read. */
  readonly allowRead?: readonly string[];
  readonly allowWrite?: readonly string[];
  /** Variables that look like secrets and that commands may read. */
  readonly allowEnv?: readonly string[];
  readonly denyRead?: readonly string[];
  /** Paths that are never writable. */
  readonly denyWrite?: readonly string[];
  /** Sandboxed commands run without asking. */
  readonly autoAllow?: boolean;
  /** Accepted from hosts; it is always in effect. */
  readonly failIfUnavailable?: true;
};

/** Names of the timeouts in the settings, in milliseconds. Each is also an environment variable. */
export type TimeoutSettingName =
  | 'streamIdleMs'
  | 'headerMs'
  | 'retryBaseMs'
  | 'mcpMs'
  | 'mcpCallMs'
  | 'hookMs'
  | 'bashMs'
  | 'bashMaxMs';

/** The content of a settings file. Every key is optional. Lists of all layers are combined, scalars override. */
export type Settings = {
  readonly $schema?: string;
  readonly model?: string;
  readonly smallModel?: string;
  readonly fallbackModels?: readonly string[];
  readonly effort?: Effort;
  readonly wakeOnBackground?: boolean;
  readonly autoConnectIde?: boolean;
  /** Formatter that runs on changed files at the end of a turn: `auto`, or a command line. */
  readonly formatter?: string;
  /** Linter that runs on changed files at the end of a turn: `auto`, `fix`, or a command line. */
  readonly linter?: string;
  /** Language servers by name, in the format of plugins; `false` disables an installed one. */
  readonly languageServers?: Readonly<Record<string, JsonValue>>;
  readonly permissions?: {
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
    readonly defaultMode?: PermissionMode;
    readonly additionalDirectories?: readonly string[];
    readonly disableBypassPermissionsMode?: 'disable';
  };
  readonly hooks?: Readonly<Record<string, readonly HookGroup[]>>;
  readonly disableAllHooks?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
  readonly enabledMcpjsonServers?: readonly string[];
  readonly disabledMcpjsonServers?: readonly string[];
  readonly enabledPlugins?: Readonly<Record<string, boolean | readonly string[]>>;
  readonly pluginConfigs?: Readonly<
    Record<string, { readonly options?: Readonly<Record<string, string | number | boolean>> | undefined }>
  >;
  readonly extraKnownMarketplaces?: Readonly<Record<string, JsonValue>>;
  readonly statusLine?: { readonly type?: 'command'; readonly command: string; readonly padding?: number };
  readonly outputStyle?: string;
  /** Paths and globs of further instruction files. */
  readonly instructionFiles?: readonly string[];
  readonly theme?: string;
  readonly editorMode?: 'normal' | 'vim';
  readonly keybindings?: Readonly<Record<string, string>>;
  readonly autoCompact?: boolean;
  readonly loopGuard?: Partial<LoopGuardLimits> & { readonly enabled?: boolean };
  readonly autoCompactPercent?: number;
  readonly cleanupPeriodDays?: number;
  readonly transcriptMirror?: string;
  readonly autoMode?: { readonly maxInARow?: number; readonly maxUsd?: number };
  readonly sandbox?: SandboxSettings;
  readonly apiKeyHelper?: string;
  readonly awsAuthRefresh?: string;
  readonly awsCredentialExport?: string;
  readonly gcpAuthRefresh?: string;
  readonly baseUrl?: string;
  readonly providers?: JsonObject;
  readonly models?: JsonObject;
  readonly webSearch?: WebSearchSettings;
  readonly modelCatalogueUrl?: string;
  readonly timeouts?: Readonly<Partial<Record<TimeoutSettingName, number>>>;
  readonly maxRetries?: number;
  readonly notify?: 'auto' | 'bell' | 'off';
  readonly title?: boolean;
  readonly banner?: boolean;
  /** Shows progress in the tab or the task bar; absent: in terminals that are known to support it. */
  readonly progress?: boolean;
  /** Width of characters with ambiguous East Asian width. */
  readonly ambiguous?: 'narrow' | 'wide' | 'auto';
  readonly reducedMotion?: boolean;
  readonly ascii?: boolean;
  readonly accessible?: boolean;
  readonly wrap?: 'words' | 'terminal';
  readonly promptSuggestions?: boolean;
  readonly callSummaries?: boolean;
  readonly timestamps?: boolean;
  readonly dialogDelayMs?: number;
  readonly language?: string;
};

/** One settings file as it was read. */
export type SettingsLayer = {
  readonly source: SettingsSource;
  readonly file: string;
  readonly settings: Settings;
  /** Returns the line of a value, for messages that name file and line. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
};

/** A problem in a settings file. */
export type SettingsProblem = {
  readonly file: string;
  readonly line: number | undefined;
  readonly text: string;
  readonly source: SettingsSource;
  /**
   * `broken_file`: at most the deny and ask rules of the file are used; `unreadable_file`: none of it;
   * `broken_rules`: deny or ask rules were dropped; `not_trusted`: the folder is not trusted.
   */
  readonly code?: 'broken_file' | 'unreadable_file' | 'broken_rules' | 'not_trusted';
  readonly unknownKeys?: readonly string[];
};

/** All layers, and their merged settings. */
export type LoadedSettings = {
  readonly layers: readonly SettingsLayer[];
  readonly merged: Settings;
  readonly problems: readonly SettingsProblem[];
};

export type SettingWithSource = {
  readonly key: string;
  readonly value: JsonValue;
  readonly source: SettingsSource | 'default';
  readonly file?: string;
  readonly line?: number;
};

/** The search provider of the tool WebSearch. */
export type WebSearchSettings = {
  readonly provider: 'brave' | 'tavily' | 'exa' | 'searxng' | 'command';
  readonly apiKeyEnv?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly command?: string | undefined;
  readonly maxResults?: number | undefined;
};
