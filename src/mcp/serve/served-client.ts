import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { asJson } from '../../lib/as-json.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Offer, ServedCall } from './offer.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** What no client needs more of. */
const MOST_WATCHED = 200;
const MOST_COMPLETIONS = 100;
/** The specification's own number for a resource that is not there. */
const NOT_FOUND = -32002;
/** A person may be slow; the client says when nobody will answer any more. */
const ANSWER_MS = 2 ** 31 - 1;

/** An offer, as one client sees it. */
export function servedClient(offer: Offer): Server {
  const { name, version, instructions, prompts, resources, complete } = offer;
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
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...offer.tools()] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const call = servedCall(server, extra);
    const result = await offer.call(params.name, asJson(params.arguments ?? {}), call).catch(failed);
    if (result === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    return result;
  });
  if (prompts !== undefined) servePrompts(server, prompts);
  if (resources !== undefined) serveResources(server, resources);
  if (complete !== undefined)
    server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
      const values = await complete(params);
      const shown = values.slice(0, MOST_COMPLETIONS);
      return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
    });
  return server;
}

function servePrompts(server: Server, prompts: NonNullable<Offer['prompts']>): void {
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [...(await prompts.list())] }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
    const prompt = await prompts.get(params.name, params.arguments ?? {});
    if (typeof prompt === 'string') throw new McpError(ErrorCode.InvalidParams, prompt);
    return prompt;
  });
}

function serveResources(server: Server, resources: NonNullable<Offer['resources']>): void {
  const watched = new Map<string, () => void>();
  const stopAll = () => {
    for (const stop of watched.values()) stop();
    watched.clear();
  };
  const close = server.close.bind(server);
  server.close = async () => {
    stopAll();
    await close();
  };
  server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) => {
    const from = Number(params?.cursor ?? 0);
    if (!Number.isSafeInteger(from) || from < 0)
      throw new McpError(ErrorCode.InvalidParams, 'That is no cursor of ours.');
    const { resources: found, next } = await resources.list(from);
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
    if (watched.size >= MOST_WATCHED)
      throw new McpError(ErrorCode.InvalidParams, `At most ${MOST_WATCHED} are followed.`);
    // Nobody hears of a client that has left, so nobody waits for it either.
    if (!watched.has(uri))
      watched.set(
        uri,
        resources.watch(uri, () => void server.sendResourceUpdated({ uri }).catch(stopAll)),
      );
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    watched.get(uri)?.();
    watched.delete(uri);
    return {};
  });
}

/** What a tool could not do is an answer, not a fault of the protocol. */
function failed(thrown: unknown): CallToolResult {
  if (thrown instanceof McpError) throw thrown;
  return { content: [{ type: 'text', text: messageOf(thrown) }], isError: true };
}

function servedCall(server: Server, extra: Extra): ServedCall {
  const { signal, _meta: meta, sendNotification, sendRequest, closeSSEStream: release } = extra;
  const token = meta?.progressToken;
  const client = server.getClientCapabilities();
  const limits = { timeout: ANSWER_MS, signal };
  // A client that is gone hears nothing, and its call is aborted.
  const tell = (notification: ServerNotification) => void sendNotification(notification).catch(() => undefined);
  return {
    signal,
    progress(progress) {
      if (token === undefined) return;
      tell({ method: 'notifications/progress', params: { progressToken: token, ...progress } });
    },
    log: (level, words) =>
      void server.sendLoggingMessage({ level, data: words }, extra.sessionId).catch(() => undefined),
    ask:
      client?.elicitation === undefined
        ? undefined
        : (params) => sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, limits),
    sample:
      client?.sampling === undefined
        ? undefined
        : (params) => sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema, limits),
    release,
  };
}
