import type { JsonObject, JsonValue } from './json.ts';
import type { Effort } from './model.ts';
import type { PermissionMode } from './permission.ts';

/** Where a value was said, the strongest first. */
export type SettingsSource = 'managed' | 'flag' | 'local' | 'project' | 'user';

/** One hook as configured. */
export type HookConfig = {
  readonly type: 'command' | 'http' | 'prompt' | 'agent' | 'mcp_tool';
  readonly command?: string;
  /** Who reads a command; absent: bash. */
  readonly shell?: 'bash' | 'powershell';
  /** Of a command: then it is a program that no shell reads. */
  readonly args?: readonly string[];
  readonly url?: string;
  /** Of a request; `$NAME` is filled in for the variables named beside them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowedEnvVars?: readonly string[];
  /** What a model, or a sub-agent, is asked; `$ARGUMENTS` is what the hook is told. */
  readonly prompt?: string;
  readonly model?: string;
  /** A tool of an MCP server, and what it is given. */
  readonly server?: string;
  readonly tool?: string;
  readonly input?: JsonObject;
  /** Nobody waits for it; what it adds comes with the next turn. `asyncRewake`: its objection begins one. */
  readonly async?: boolean;
  readonly asyncRewake?: boolean;
  /** It runs once in a session. */
  readonly once?: boolean;
  /** Seconds. */
  readonly timeout?: number;
  /** A permission rule the call must match. */
  readonly if?: string;
  readonly onFailure?: 'continue' | 'block';
  readonly statusMessage?: string;
};

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

/** How to log in where a server takes nobody who registers himself. */
export type McpLoginConfig = {
  /** An address as an id describes who we are, to servers that look there. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where the page sends people back to, where that was registered. */
  readonly callbackPort?: number;
  readonly scope?: string;
  /** Programs log in without a person, by their secret or a key that signs. */
  readonly grant?: 'authorization_code' | 'client_credentials';
  readonly privateKey?: string;
  readonly algorithm?: string;
  /** The one authorization server that may be told who we are, whatever the MCP server names. */
  readonly issuer?: string;
  readonly identityProvider?: McpIdentityProvider;
};

/** Who vouches for the person, in companies where nobody says yes server by server. */
export type McpIdentityProvider = {
  readonly tokenEndpoint: string;
  /** Who we are there. */
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** What the person was given when they signed in there; or a line for a shell that prints it. */
  readonly idToken?: string | undefined;
  readonly idTokenCommand?: string | undefined;
};

export type SandboxSettings = {
  readonly enabled?: boolean;
  /** All of it, or none; not said: host by host. */
  readonly network?: boolean;
  readonly allowedDomains?: readonly string[];
  readonly deniedDomains?: readonly string[];
  /** Other hosts than those allowed are refused, not asked about. */
  readonly strictAllowlist?: boolean;
  readonly allowUnixSockets?: readonly string[];
  readonly allowAllUnixSockets?: boolean;
  /** On macOS, where boxes have no network of their own. */
  readonly allowLocalBinding?: boolean;
  readonly allowWrite?: readonly string[];
  readonly denyRead?: readonly string[];
  /** Stays as it is, wherever it lies. */
  readonly denyWrite?: readonly string[];
  /** Commands that stay inside run unasked. */
  readonly autoAllow?: boolean;
  /** What hosts ask for, and what holds anyway. */
  readonly failIfUnavailable?: true;
};

/** Waits that may be changed, in milliseconds; each is an environment variable too. */
export type TimeoutName =
  | 'streamIdleMs'
  | 'headerMs'
  | 'retryBaseMs'
  | 'mcpMs'
  | 'mcpCallMs'
  | 'hookMs'
  | 'bashMs'
  | 'bashMaxMs';

/** What one settings file may say. Every key is optional; lists of all layers unite, scalars override. */
export type Settings = {
  readonly $schema?: string;
  readonly model?: string;
  readonly smallModel?: string;
  readonly fallbackModels?: readonly string[];
  readonly effort?: Effort;
  readonly wakeOnBackground?: boolean;
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
  readonly extraKnownMarketplaces?: Readonly<Record<string, JsonValue>>;
  readonly statusLine?: { readonly type?: 'command'; readonly command: string; readonly padding?: number };
  readonly outputStyle?: string;
  readonly theme?: string;
  readonly editorMode?: 'normal' | 'vim';
  readonly keybindings?: Readonly<Record<string, string>>;
  readonly autoCompact?: boolean;
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
  readonly modelCatalogueUrl?: string;
  readonly timeouts?: Readonly<Partial<Record<TimeoutName, number>>>;
  readonly maxRetries?: number;
  readonly notify?: 'auto' | 'bell' | 'off';
  readonly title?: boolean;
  readonly banner?: boolean;
  /** Progress in the terminal's tab or in the task bar; where a terminal is known to show it, unless said otherwise. */
  readonly progress?: boolean;
  /** How wide the terminal draws signs that are wide in East Asian fonts only. */
  readonly ambiguous?: 'narrow' | 'wide' | 'auto';
  readonly reducedMotion?: boolean;
  readonly ascii?: boolean;
  readonly accessible?: boolean;
  readonly wrap?: 'words' | 'terminal';
  readonly promptSuggestions?: boolean;
  readonly timestamps?: boolean;
  readonly dialogDelayMs?: number;
  readonly language?: string;
};

/** One layer as it was read. */
export type SettingsLayer = {
  readonly source: SettingsSource;
  readonly file: string;
  readonly settings: Settings;
  /** The line of each rule text, for reports that name file and line. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
};

/** A sentence about something wrong in a file. */
export type SettingsProblem = {
  readonly file: string;
  readonly line: number | undefined;
  readonly text: string;
  readonly source: SettingsSource;
  /** Keys that mean nothing here, all of them. */
  readonly unused?: readonly string[];
};

/** All layers together. */
export type LoadedSettings = {
  readonly layers: readonly SettingsLayer[];
  readonly merged: Settings;
  readonly problems: readonly SettingsProblem[];
};

/** One value with the layer it came from. */
export type ExplainedSetting = {
  readonly key: string;
  readonly value: JsonValue;
  readonly source: SettingsSource | 'default';
  readonly file?: string;
  readonly line?: number;
};
