import type { Feature } from '../feature.ts';
import type { Hook } from '../hook.ts';
import type { McpServerConfig } from '../hook-and-server-schemas.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ToolSpec } from '../model.ts';
import type { PermissionAnswer, PermissionRequest, Rule, RuleBehavior, ToolTraits } from '../permission.ts';
import type { CallContext, ToolOutcome } from '../tool.ts';

/** Capabilities that a host provides to a run over the wire. */
export type HostCapabilities = {
  /** Hooks that run in the host: each has a `callback` and the source `host`. */
  readonly hooks: readonly Hook[];
  readonly mcpServers: readonly HostMcpServer[];
  /** Features that come last in the conversation and in its sub-agents. */
  readonly features?: readonly Feature[];
  /** `false`: the host gets the calls of sub-agents and their results, but not their text and thinking. */
  readonly getsSubAgentText?: boolean;
  /** Access to files that are open in an editor. */
  readonly files?: HostFiles | undefined;
};

/** File access through an editor. Permission for a call is decided before the editor is asked. */
export type HostFiles = {
  /** Reads the text in the editor, saved or not. */
  readonly read?: (path: string, signal: AbortSignal) => Promise<string>;
  /** Writes a file. Resolves when the editor has shown and saved it. */
  readonly write?: (path: string, text: string, signal: AbortSignal) => Promise<void>;
};

/** An MCP server inside the host process; messages travel over the control protocol. */
export type HostMcpServer = {
  readonly name: string;
  /** Sends one JSON-RPC message. Returns the reply, or `undefined` for a notification. */
  send(message: JsonObject): Promise<JsonObject | undefined>;
  /** Registers a listener for messages that the server sends on its own (list_changed, progress). */
  onMessage(listener: (message: JsonObject) => void): void;
};

/** Success, or the reason for the failure. */
export type ActionResult = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** The state of an MCP server, as hosts get it. */
export type McpServerState = {
  readonly name: string;
  readonly status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly error?: string;
  readonly scope?: string;
  readonly tools?: readonly { readonly name: string; readonly description?: string }[];
};

/** A change of permission rules or workspace folders. */
export type PermissionUpdate =
  | {
      readonly type: 'addRules' | 'replaceRules' | 'removeRules';
      readonly rules: readonly string[];
      readonly behavior: RuleBehavior;
      readonly destination: PermissionUpdateDestination;
    }
  | {
      readonly type: 'addDirectories' | 'removeDirectories';
      readonly directories: readonly string[];
      readonly destination: PermissionUpdateDestination;
    };

/** The settings that a permission update is written to; `session` is not stored. */
export type PermissionUpdateDestination = 'session' | 'local' | 'project' | 'user';

/** A built-in tool that another program can call over MCP. */
export type McpServedTool = {
  readonly spec: ToolSpec;
  readonly label: string;
  readonly kind: NonNullable<ToolTraits['served']>;
};

/** A program that calls a served tool: its abort signal, progress callback and optional permission prompt. */
export type ServedToolCallContext = Pick<CallContext, 'signal' | 'report'> & {
  readonly ask: ((request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>) | undefined;
};

/** The outcome of a call that is not part of a reply. */
export type ServedCallOutcome = {
  readonly end: 'done' | 'failed' | 'refused';
  readonly content: ToolOutcome['content'];
};

/** Operations for hosts, in addition to those of `Conversation`. */
export type HostControlPort = {
  mcpServers(): readonly McpServerState[];
  reconnectMcp(name: string): Promise<ActionResult>;
  toggleMcp(name: string, to: 'on' | 'off'): Promise<ActionResult>;
  /** Replaces the servers of earlier calls. Servers inside the host are passed as `hosted`. */
  setMcpServers(
    servers: Readonly<Record<string, McpServerConfig>>,
    hosted: readonly HostMcpServer[],
  ): Promise<{
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly errors: Readonly<Record<string, string>>;
  }>;
  /** Reads a resource of a server and returns its contents unchanged. */
  readMcpResource(server: string, uri: string): Promise<readonly JsonObject[]>;
  /** Calls an MCP tool by its full name outside the conversation, for `--permission-prompt-tool=mcp__server__tool`. */
  callTool(name: string, input: JsonObject): Promise<string>;
  /** Lists the built-in tools that need no conversation. `callServed` calls one through the permission gate. */
  listServedTools(): readonly McpServedTool[];
  callServedTool(name: string, input: JsonObject, caller: ServedToolCallContext): Promise<ServedCallOutcome>;
  /** Serves these tools, commands as prompts and files as resources over MCP. `closed`: the stdio client has left. */
  serve(
    transport: { readonly over: 'pipes' } | { readonly over: 'http'; readonly port: number; readonly token: string },
  ): Promise<{ readonly url: string | undefined; readonly closed: Promise<void> }>;
  permissionRules(): { readonly rules: readonly Rule[]; readonly directories: readonly string[] };
  updatePermissions(updates: readonly PermissionUpdate[]): Promise<ActionResult>;
  /** Returns the merged settings and each layer. */
  settings(): {
    readonly merged: JsonObject;
    readonly sources: readonly { readonly source: string; readonly settings: JsonObject }[];
  };
  /** Changes settings: `flag` for this process only, the others in their files. */
  updateSettings(source: 'flag' | 'local' | 'user', settings: JsonObject): Promise<ActionResult>;
  /** Computes what a rewind to this user message would change on disk, without changing anything. */
  previewRewind(messageId: string): Promise<
    | {
        readonly ok: true;
        readonly files: readonly string[];
        readonly insertions: number;
        readonly deletions: number;
      }
    | { readonly ok: false; readonly problem: string }
  >;
  stopTask(id: string): Promise<ActionResult>;
  reloadSkills(): Promise<void>;
  /** Reads a file under the rules of the Read tool. */
  readFile(
    path: string,
    maxBytes: number,
  ): Promise<
    | { readonly ok: true; readonly path: string; readonly bytes: Uint8Array; readonly truncated: boolean }
    | { readonly ok: false; readonly problem: string }
  >;
  /** Marks a file as known to the model in its version of that time, as if Read had been called. */
  markAsRead(path: string, mtimeMs: number): Promise<ActionResult>;
  /** Lists the sub-agent types, for the response to `initialize`. */
  agents(): readonly { readonly name: string; readonly description: string; readonly model?: string }[];
  outputStyles(): readonly string[];
  /** Returns the `account` field of the response to `initialize`. */
  account(): Readonly<Record<string, JsonValue>>;
};
