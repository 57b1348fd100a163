import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  CancelledNotificationSchema,
  type CompleteRequest,
  type GetPromptResult,
  type Progress,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext } from '../../contracts/tool.ts';
import { sanitizeUntrustedLine } from '../../lib/text/sanitize.ts';
import { isRenewalFailure } from '../auth/auth-server-fetch.ts';
import { isUnauthorized } from '../auth/stored-login-provider.ts';
import { callMcpToolAsTask } from './call-mcp-tool-as-task.ts';
import {
  type ActiveMcpCall,
  createActiveMcpCalls,
  createMcpClient,
  type McpClientOptions,
  type McpListKind,
} from './create-mcp-client.ts';

import { fetchMcpList, MCP_LIST_REQUESTS, MCP_LIST_TIMEOUT_MS } from './fetch-mcp-list.ts';
import type { TransportHandle } from './stdio-transport.ts';

/** The transport of a connection, the limits of its calls, and the listeners for what the server sends. */
export type McpServerConnectionOptions = TransportHandle &
  Omit<McpClientOptions, 'closeSignal'> & {
    /** Called with a message, to follow the server's name, when a list is longer than the limit. */
    readonly onListTruncated: (message: string) => void;
    readonly callTimeoutMs: () => number;
    /** True for remote servers, which are pinged after an error because they do not report their end. */
    readonly isRemote: boolean;
    /** Called once with the reason the connection ended. */
    readonly onClosed: (reason: string) => void;
  };

/** An initialized connection to a server. */
export type McpServerConnection = Awaited<ReturnType<typeof openMcpServerConnection>>;

/** The error of a call without any message for too long (`silent`), or with only progress (`endless`). */
export class ServerTimeoutError extends Error {
  override readonly name = 'ServerSilent';
}

/** The largest delay of a timer; disables the SDK's own timeout. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const PING_TIMEOUT_MS = 5_000;
const NOTE_CHARS = 200;
const NOTE_INTERVAL_MS = 50;

/** Drops what the SDK sends too much: it also cancels answered requests when their signal aborts later. */
function skipLateCancellations(transport: Transport): void {
  const pending = new Set<unknown>();
  const send = transport.send.bind(transport);
  transport.send = async (message, sendOptions) => {
    if ('method' in message && 'id' in message) pending.add(message.id);
    const cancelled = CancelledNotificationSchema.safeParse(message).data?.params.requestId;
    if (cancelled === undefined || pending.has(cancelled)) await send(message, sendOptions);
  };
  // The SDK calls a listener that is there before its own.
  transport.onmessage = (message) => {
    if (!('method' in message)) pending.delete(message.id);
  };
}

/** Opens and initializes a connection; rejects when the server refuses or ends, or the signal aborts. */
export async function openMcpServerConnection(options: McpServerConnectionOptions, signal: AbortSignal) {
  const calls = createActiveMcpCalls(options.callTimeoutMs);
  const closeController = new AbortController();
  const onResourceChanged = (uri: string) => subscriptions.isSubscribed(uri) && options.onResourceChanged(uri);
  const client = createMcpClient({ ...options, onResourceChanged, closeSignal: closeController.signal }, calls.newest);
  const subscriptions = createResourceSubscriptions(client);
  const reportedCuts = new Set<string>();
  const onCut = (message: string) => {
    if (!reportedCuts.has(message)) options.onListTruncated(message);
    reportedCuts.add(message);
  };
  let closeReason: string | undefined;
  client.onclose = () => {
    closeController.abort();
    closeReason = options.describeExit() ?? 'the connection was closed';
    options.onClosed(closeReason);
  };
  if (options.isRemote) client.onerror = createPingOnError(client);
  skipLateCancellations(options.transport);
  await client.connect(options.transport, { signal, timeout: NO_TIMEOUT_MS });
  const createOptions = (callSignal: AbortSignal) => ({ signal: callSignal, timeout: options.callTimeoutMs() });
  let taskTools: ReadonlySet<string> = new Set();
  let sentRoots = options.getRoots().join('\n');

  /** Notifies the server of changed roots before the next call that may need them. */
  async function sendRoots(): Promise<void> {
    const roots = options.getRoots().join('\n');
    if (roots === sentRoots) return;
    sentRoots = roots;
    await client.sendRootsListChanged();
  }

  const getPromptTimeoutMs = () => Math.min(MCP_LIST_TIMEOUT_MS, options.callTimeoutMs());

  return {
    info: client.getServerVersion(),
    instructions: client.getInstructions(),
    /** Reason it closed; `undefined` while it is open. */
    getCloseReason: (): string | undefined => closeReason,
    hasCapability: (kind: McpListKind | 'completions'): boolean => client.getServerCapabilities()?.[kind] !== undefined,
    async listTools(listSignal?: AbortSignal): Promise<readonly Tool[]> {
      const listed = await fetchMcpList(client, MCP_LIST_REQUESTS.tools, listSignal, onCut);
      taskTools = supportsTasks(client) ? new Set(listed.filter(requiresTask).map(({ name }) => name)) : taskTools;
      return listed;
    },
    listPrompts: (listSignal?: AbortSignal): Promise<readonly Prompt[]> =>
      fetchMcpList(client, MCP_LIST_REQUESTS.prompts, listSignal, onCut),
    listResources: (listSignal: AbortSignal): Promise<readonly Resource[]> =>
      fetchMcpList(client, MCP_LIST_REQUESTS.resources, listSignal, onCut),
    /** Lists the URI templates of resources. */
    listResourceTemplates: (listSignal: AbortSignal): Promise<readonly ResourceTemplate[]> =>
      fetchMcpList(client, MCP_LIST_REQUESTS.templates, listSignal, onCut),
    async callTool(name: string, input: JsonObject, context: CallContext): Promise<CallToolResult> {
      await sendRoots();
      return callTool(
        client,
        { name, arguments: input, isTask: taskTools.has(name) },
        context,
        calls.begin(context.ask),
      );
    },
    getPrompt: (
      name: string,
      args: Readonly<Record<string, string>>,
      callSignal: AbortSignal,
    ): Promise<GetPromptResult> =>
      client.getPrompt({ name, arguments: { ...args } }, { signal: callSignal, timeout: getPromptTimeoutMs() }),
    /** Reads a resource and subscribes to its changes where the server supports that. */
    async readResource(uri: string, callSignal: AbortSignal): Promise<ReadResourceResult> {
      const contents = await client.readResource({ uri }, createOptions(callSignal));
      subscriptions.subscribe(uri);
      return contents;
    },
    /** Completes an argument; values in the server's order. */
    async complete(params: CompleteRequest['params'], callSignal: AbortSignal): Promise<readonly string[]> {
      if (client.getServerCapabilities()?.completions === undefined) return [];
      const { completion } = await client.complete(params, { signal: callSignal, timeout: getPromptTimeoutMs() });
      return completion.values;
    },
    close: () => client.close(),
  };
}

type ToolCall = { readonly name: string; readonly arguments: JsonObject; readonly isTask: boolean };

/** Calls a tool and aborts the call when the server is silent for too long. */
async function callTool(
  client: Client,
  { isTask, ...params }: ToolCall,
  context: CallContext,
  call: ActiveMcpCall,
): Promise<CallToolResult> {
  const notes = throttleNotes((text) => context.report({ kind: 'note', text }));
  const report = (text: string) => {
    call.recordActivity();
    notes.push(text);
  };
  const options = {
    signal: AbortSignal.any([context.signal, call.timeoutSignal]),
    timeout: NO_TIMEOUT_MS,
    onprogress: ({ progress, total, message }: Progress) => report(formatProgress(progress, total, message)),
  };
  try {
    const onStatus = (status: string) => report(sanitizeUntrustedLine(status, NOTE_CHARS));
    if (isTask) return await callMcpToolAsTask(client, { ...params, onStatus }, options);
    // Not `client.callTool`: it validates results against the server's output schema and rejects usable answers.
    return await client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
  } catch (thrown) {
    if (call.timeoutSignal.aborted && !context.signal.aborted)
      throw new ServerTimeoutError(String(call.timeoutSignal.reason));
    throw thrown;
  } finally {
    notes.end();
    call.end();
  }
}

/** Throttles notes: the first is shown at once, then the newest one per interval. */
function throttleNotes(show: (text: string) => void) {
  let newest: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (newest === undefined) return;
    show(newest);
    newest = undefined;
    timer = setTimeout(flush, NOTE_INTERVAL_MS);
  };
  return {
    push(text: string): void {
      newest = text;
      if (timer === undefined) flush();
    },
    end: () => clearTimeout(timer),
  };
}

/** Returns true for a tool that can only be called as a task. */
const requiresTask = ({ execution }: Tool) => execution?.taskSupport === 'required';

const supportsTasks = (client: Client) => client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;

/** Creates an error handler that pings the server, one ping at a time, and closes the connection without an answer. */
function createPingOnError(client: Client): (error: Error) => void {
  let isPinging = false;
  return (error) => {
    if (isPinging || isLoginProblem(error) || client.getServerVersion() === undefined) return;
    isPinging = true;
    client
      .ping({ timeout: PING_TIMEOUT_MS })
      // Closing here triggers `onclose`, like any other end.
      .catch((thrown) => (isLoginProblem(thrown) ? undefined : client.close()))
      .finally(() => {
        isPinging = false;
      });
  };
}

/** Returns true for errors that say nothing about the connection: the server runs and wants a login. */
const isLoginProblem = (thrown: unknown): boolean => isUnauthorized(thrown) || isRenewalFailure(thrown);

function formatProgress(progress: number, total: number | undefined, message: string | undefined): string {
  const amount = total === undefined || total <= 0 ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${sanitizeUntrustedLine(message, NOTE_CHARS)} (${amount})`;
}

const MAX_SUBSCRIPTIONS = 100;
const SUBSCRIBE_TIMEOUT_MS = 10_000;

/** Creates the subscriptions to the changes of one server's resources; every resource that was read is subscribed. */
function createResourceSubscriptions(client: Client) {
  const subscribed = new Set<string>();
  return {
    subscribe(uri: string): void {
      const isSupported = client.getServerCapabilities()?.resources?.subscribe === true;
      if (!isSupported || subscribed.has(uri) || subscribed.size >= MAX_SUBSCRIPTIONS) return;
      subscribed.add(uri);
      // A refused subscription only means that changes are not reported.
      void client.subscribeResource({ uri }, { timeout: SUBSCRIBE_TIMEOUT_MS }).catch(() => undefined);
    },
    isSubscribed: (uri: string): boolean => subscribed.has(uri),
  };
}
