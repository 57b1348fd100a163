import type { Hook } from '../hook.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ToolSpec } from '../model.ts';
import type { PermissionAnswer, PermissionRequest, Rule, RuleBehavior, ToolStatement } from '../permission.ts';
import type { McpServerConfig } from '../settings.ts';
import type { CallContext, ToolOutcome } from '../tool.ts';

/** What a host on the other side of the wire lends to a run. */
export type HostParts = {
  /** Hooks that live in the host: each has a `callback` and the source `host`. */
  readonly hooks: readonly Hook[];
  readonly mcpServers: readonly HostMcpServer[];
  /** Files as an editor has them open. */
  readonly files?: HostFiles | undefined;
};

/** What an editor lends of its files. Whether a call may touch them is decided before it is asked. */
export type HostFiles = {
  /** The text it shows, saved or not. */
  readonly read?: (path: string, signal: AbortSignal) => Promise<string>;
  /** Resolves when it is shown and saved. */
  readonly write?: (path: string, text: string, signal: AbortSignal) => Promise<void>;
};

/** An MCP server inside the host's own process, spoken to message by message. */
export type HostMcpServer = {
  readonly name: string;
  /** Delivers one JSON-RPC message; answers with the reply, or `undefined` for a notification. */
  send(message: JsonObject): Promise<JsonObject | undefined>;
  /** Hears what the server says on its own (list_changed, progress). */
  onMessage(listener: (message: JsonObject) => void): void;
};

/** Done, or why not. */
export type Attempt = { readonly ok: true } | { readonly ok: false; readonly why: string };

export type McpServerState = {
  readonly name: string;
  readonly status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly error?: string;
  readonly scope?: string;
  readonly tools?: readonly { readonly name: string; readonly description?: string }[];
};

/** A change of rules, folders or mode that a host answers a question with. */
export type PermissionUpdate =
  | {
      readonly type: 'addRules' | 'replaceRules' | 'removeRules';
      readonly rules: readonly string[];
      readonly behavior: RuleBehavior;
      readonly destination: UpdateDestination;
    }
  | {
      readonly type: 'addDirectories' | 'removeDirectories';
      readonly directories: readonly string[];
      readonly destination: UpdateDestination;
    };

export type UpdateDestination = 'session' | 'local' | 'project' | 'user';

/** A tool that another program may call. */
export type ServedTool = {
  readonly spec: ToolSpec;
  readonly label: string;
  readonly kind: NonNullable<ToolStatement['served']>;
};

/** Another program that calls a tool: how it takes the call back, what it is told meanwhile, and who there can be asked. */
export type ServedCaller = Pick<CallContext, 'signal' | 'report'> & {
  readonly ask: ((request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>) | undefined;
};

/** What came of a call outside of a reply. */
export type ServedOutcome = {
  readonly end: 'done' | 'failed' | 'refused';
  readonly content: ToolOutcome['content'];
};

/** What hosts may ask of a conversation beyond what a screen needs. A member that is absent is not supported. */
export type ControlPort = {
  mcpServers(): readonly McpServerState[];
  reconnectMcp(name: string): Promise<Attempt>;
  toggleMcp(name: string, to: 'on' | 'off'): Promise<Attempt>;
  /** Replaces the servers that came by this door before; host servers are given as such. */
  setMcpServers(
    servers: Readonly<Record<string, McpServerConfig>>,
    hosted: readonly HostMcpServer[],
  ): Promise<{
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly errors: Readonly<Record<string, string>>;
  }>;
  /** What a server's resource holds, in the server's own words. */
  readMcpResource(server: string, uri: string): Promise<readonly JsonObject[]>;
  /** Calls a tool by its full name, outside the conversation; for `--permission-prompt-tool=mcp__server__tool`. */
  callTool(name: string, input: JsonObject): Promise<string>;
  /** Those of our own tools that need no conversation, as the model sees them, and a call of one through the same gate. */
  servedTools(): readonly ServedTool[];
  callServed(name: string, input: JsonObject, caller: ServedCaller): Promise<ServedOutcome>;
  /** Offers these tools, commands as prompts and files as resources to MCP clients; `closed` when the one on the pipes leaves. */
  serve(
    place: { readonly over: 'pipes' } | { readonly over: 'http'; readonly port: number; readonly token: string },
  ): Promise<{ readonly url: string | undefined; readonly closed: Promise<void> }>;
  permissionRules(): { readonly rules: readonly Rule[]; readonly directories: readonly string[] };
  updatePermissions(updates: readonly PermissionUpdate[]): Promise<Attempt>;
  /** All layers merged, and each layer as it was read. */
  settings(): {
    readonly merged: JsonObject;
    readonly sources: readonly { readonly source: string; readonly settings: JsonObject }[];
  };
  /** `flag` lasts as long as the process; the others are written to their file. */
  updateSettings(source: 'flag' | 'local' | 'user', settings: JsonObject): Promise<Attempt>;
  /** What going back to this user message would change on disk; changes nothing. */
  previewRewind(messageId: string): Promise<
    | {
        readonly ok: true;
        readonly files: readonly string[];
        readonly insertions: number;
        readonly deletions: number;
      }
    | { readonly ok: false; readonly why: string }
  >;
  stopTask(id: string): Promise<Attempt>;
  reloadSkills(): Promise<void>;
  /** Reads under the same rules as the Read tool. */
  readFile(
    path: string,
    maxBytes: number,
  ): Promise<
    | { readonly ok: true; readonly path: string; readonly bytes: Uint8Array; readonly truncated: boolean }
    | { readonly ok: false; readonly why: string }
  >;
  /** The model has seen this file as it was at that time, though no Read of it stands in the conversation. */
  markAsRead(path: string, mtimeMs: number): Promise<Attempt>;
  /** One line per sub-agent that can be called: for the answer to `initialize`. */
  agents(): readonly { readonly name: string; readonly description: string; readonly model?: string }[];
  outputStyles(): readonly string[];
  /** What `account` in the answer to `initialize` says. */
  account(): Readonly<Record<string, JsonValue>>;
};
