import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  type CompleteRequest,
  CompleteRequestSchema,
  type CreateMessageRequest,
  type CreateMessageResult,
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  type ElicitResult,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type GetPromptResult,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  McpError,
  type Prompt,
  ReadResourceRequestSchema,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  type Tool,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../contracts/json.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { copyAsJson } from '../../lib/json.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const MAX_SUBSCRIPTIONS = 200;
const MAX_COMPLETIONS = 100;
/** Error code for a missing resource, by the specification. */
const NOT_FOUND = -32002;
/** No limit for questions to the client's user; the client cancels them. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Creates the SDK server that exposes a definition to one client. */
export function createMcpServer(definition: ServedFeatures): Server {
  const { name, version, instructions, prompts, resources, complete } = definition;
  const server = new Server(
    { name, version },
    {
      capabilities: {
        tools: {},
        logging: {},
        ...(prompts === undefined ? {} : { prompts: {} }),
        ...(resources === undefined ? {} : { resources: { subscribe: true } }),
        ...(complete === undefined ? {} : { completions: {} }),
      },
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...definition.tools()] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const context = createCallContext(server, extra);
    const result = await definition
      .call(params.name, copyAsJson(params.arguments ?? {}), context)
      .catch(createErrorResult);
    if (result === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    return result;
  });
  if (prompts !== undefined) registerPrompts(server, prompts);
  if (resources !== undefined) registerResources(server, resources);
  if (complete !== undefined)
    server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
      const values = await complete(params);
      const shown = values.slice(0, MAX_COMPLETIONS);
      return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
    });
  return server;
}

function registerPrompts(server: Server, prompts: NonNullable<ServedFeatures['prompts']>): void {
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [...(await prompts.list())] }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
    const prompt = await prompts.get(params.name, params.arguments ?? {});
    if (typeof prompt === 'string') throw new McpError(ErrorCode.InvalidParams, prompt);
    return prompt;
  });
}

function registerResources(server: Server, resources: NonNullable<ServedFeatures['resources']>): void {
  const subscriptions = new Map<string, () => void>();
  const stopAll = () => {
    for (const stop of subscriptions.values()) stop();
    subscriptions.clear();
  };
  const close = server.close.bind(server);
  server.close = async () => {
    stopAll();
    await close();
  };
  server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) => {
    const offset = Number(params?.cursor ?? 0);
    if (!Number.isSafeInteger(offset) || offset < 0)
      throw new McpError(ErrorCode.InvalidParams, 'The cursor is invalid.');
    const { resources: found, next } = await resources.list(offset);
    return { resources: [...found], ...(next === undefined ? {} : { nextCursor: String(next) }) };
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [...resources.templates()],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const contents = await resources.read(uri);
    if (typeof contents === 'string') throw new McpError(NOT_FOUND, contents, { uri });
    return contents;
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    if (subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new McpError(ErrorCode.InvalidParams, `At most ${MAX_SUBSCRIPTIONS} resources can be subscribed to.`);
    // A failed notification means the client has disconnected, so its watches are stopped.
    if (!subscriptions.has(uri))
      subscriptions.set(
        uri,
        resources.watch(uri, () => void server.sendResourceUpdated({ uri }).catch(stopAll)),
      );
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscriptions.get(uri)?.();
    subscriptions.delete(uri);
    return {};
  });
}

/** Turns a tool's error into an error result; protocol errors are rethrown. */
function createErrorResult(thrown: unknown): CallToolResult {
  if (thrown instanceof McpError) throw thrown;
  return { content: [{ type: 'text', text: getErrorMessage(thrown) }], isError: true };
}

function createCallContext(server: Server, extra: Extra): ServedCallContext {
  const { signal, _meta: meta, sendNotification, sendRequest, closeSSEStream: releaseStream } = extra;
  const token = meta?.progressToken;
  const client = server.getClientCapabilities();
  const options = { timeout: NO_TIMEOUT_MS, signal };
  // A failed notification is ignored: the call of a disconnected client is aborted by its signal.
  const notify = (notification: ServerNotification) => void sendNotification(notification).catch(() => undefined);
  return {
    signal,
    reportProgress(progress) {
      if (token === undefined) return;
      notify({ method: 'notifications/progress', params: { progressToken: token, ...progress } });
    },
    log: (level, message) =>
      void server.sendLoggingMessage({ level, data: message }, extra.sessionId).catch(() => undefined),
    ask:
      client?.elicitation === undefined
        ? undefined
        : (params) => sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, options),
    sample:
      client?.sampling === undefined
        ? undefined
        : (params) => sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema, options),
    releaseStream,
  };
}

/** An MCP server's features as plain functions; an absent member is not offered. */
export type ServedFeatures = {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly tools: () => readonly Tool[];
  /** Calls a tool; `undefined` when it does not exist. An error becomes an error result. */
  readonly call: (name: string, input: JsonObject, call: ServedCallContext) => Promise<CallToolResult | undefined>;
  readonly prompts?: {
    readonly list: () => Promise<readonly Prompt[]>;
    /** Returns an error message when the prompt is not available. */
    readonly get: (name: string, args: Readonly<Record<string, string>>) => Promise<GetPromptResult | string>;
  };
  readonly resources?: {
    readonly list: (offset: number) => Promise<{ readonly resources: readonly Resource[]; readonly next?: number }>;
    readonly templates: () => readonly ResourceTemplate[];
    /** Returns an error message when the resource is not available. */
    readonly read: (uri: string) => Promise<ReadResourceResult | string>;
    /** Calls `onChange` on each change; returns a function that stops the watch. */
    readonly watch: (uri: string, onChange: () => void) => () => void;
  };
  /** Completes an argument; best value first. */
  readonly complete?: (params: CompleteRequest['params']) => Promise<readonly string[]>;
};

/** The context of a running call from a client. */
export type ServedCallContext = {
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Reports progress to a client that asked for it. */
  readonly reportProgress: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly log: (level: LoggingLevel, message: string) => void;
  /** Asks the client's user; absent when the client cannot ask. */
  readonly ask: ((params: ElicitRequestFormParams) => Promise<ElicitResult>) | undefined;
  /** Sends a request to the client's model; absent when the client offers none. */
  readonly sample: ((params: CreateMessageRequest['params']) => Promise<CreateMessageResult>) | undefined;
  /** Ends the response stream, so the client reconnects for the answer; absent on pipes. */
  readonly releaseStream: (() => void) | undefined;
};
