import type { OpenAI } from 'openai/client';
import type { JsonObject } from '../../../contracts/json.ts';
import type { ModelPort } from '../../../contracts/model.ts';
import { createLazy } from '../../../lib/memoize.ts';
import { fetch } from '../../../lib/network/fetch.ts';
import {
  type BlockEventWriter,
  createBlockEventWriter,
  EMPTY_TEXT_BLOCK,
  EMPTY_THINKING_BLOCK,
  writeWebSearchResultBlock,
} from '../../stream/block-event-writer.ts';
import { classifyThrown } from '../../stream/failures.ts';
import { getOrigin, shortenErrorBodies } from '../../stream/http-stream.ts';
import {
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseNetworkJson,
} from '../../stream/json-values.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import type { StreamEventTranslator } from '../../stream/read-reply.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import { getToolCallIdFormatter, mapSentToolNames } from '../tool-identifiers.ts';
import { adaptResponsesVariant, buildResponsesRequest, DEFAULT_REQUEST_VARIANT } from './responses-request.ts';

/** Connection settings for OpenAI's Responses API, Azure OpenAI, or a compatible gateway. */
export type ResponsesApiSettings = {
  /** Includes the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  /** Gets an Entra token for each request to Azure without a key; its presence also selects Azure's key header. */
  readonly getAzureToken?: () => Promise<string>;
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
};

/** Long enough for models that think for minutes before the first token. */
const DEFAULT_TIMEOUTS: StreamTimeouts = { headerTimeoutMs: 300_000, idleTimeoutMs: 300_000 };
/** Effectively no timeout: `startAttempt` has its own timers. */
const SDK_TIMEOUT_MS = 86_400_000;

/** Creates a port for the Responses API; a request rejected for a field is resent in another variant. */
export function createResponsesPort(settings: ResponsesApiSettings): ModelPort {
  const { baseUrl, name, timeouts } = settings;
  const formatCallId = getToolCallIdFormatter('https://api.openai.com');
  const sendVariant = createRequestVariantSender(DEFAULT_REQUEST_VARIANT, adaptResponsesVariant);
  const client = createLazy(() => loadClient(settings));
  return createStreamingPort(
    {
      name,
      timeouts: DEFAULT_TIMEOUTS,
      prepare: client,
      sendRequest: (request, requestKey, attempt) =>
        sendVariant(request.model, attempt, async (variant) => {
          try {
            const body = buildResponsesRequest(request, variant, formatCallId);
            const headers = await buildAuthHeaders(settings, requestKey);
            const options = { body, headers, signal: attempt.signal, stream: true };
            return await (await client()).post('/responses', options).asResponse();
          } catch (thrown) {
            return attempt.getFailure() ?? classifyThrown(thrown, getOrigin(baseUrl));
          }
        }),
      createReader: ({ tools }) => createResponsesTranslator(mapSentToolNames(tools)),
    },
    timeouts,
  );
}

async function buildAuthHeaders(
  { apiKey, getAzureToken }: ResponsesApiSettings,
  requestKey: string | undefined,
): Promise<Record<string, string | null>> {
  const key = requestKey ?? apiKey;
  if (getAzureToken === undefined) return { authorization: key === undefined ? null : `Bearer ${key}` };
  if (key !== undefined) return { 'api-key': key, authorization: null };
  return { authorization: `Bearer ${await getAzureToken()}` };
}

async function loadClient({ baseUrl, fetch: send, timeouts }: ResponsesApiSettings): Promise<OpenAI> {
  const { OpenAI } = await import('openai/client');
  return new OpenAI({
    // The SDK requires a key; the real one is set per request.
    apiKey: 'set per request',
    baseURL: baseUrl.replace(/(?<!\/)\/+$/, ''),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    // The SDK must not write to the terminal.
    logLevel: 'off',
    // A redirect would contact a host that is not configured.
    fetchOptions: { redirect: 'manual' },
    fetch: shortenErrorBodies(send ?? fetch, timeouts),
  });
}

/** State of a reply while it streams. */
type ReaderState = {
  readonly writer: BlockEventWriter;
  /** Original tool names by the names sent to the API. */
  readonly tools: ReadonlyMap<string, string>;
  /** Events so far that determine the stop reason. */
  readonly progress: Set<'call' | 'refusal' | 'content'>;
  /** Ids of the web searches so far. */
  readonly searches: Set<string>;
};
type Events = readonly JsonObject[];

/** Creates a reader that translates Responses API events into Messages API events; `tools` maps sent tool names. */
function createResponsesTranslator(tools: ReadonlyMap<string, string>): StreamEventTranslator {
  const state: ReaderState = { writer: createBlockEventWriter(), tools, progress: new Set(), searches: new Set() };
  return {
    read({ name, data }) {
      const event = narrowToObject(parseNetworkJson(data));
      if (event === undefined) return name === 'error' ? [{ type: 'error', error: { message: data } }] : [];
      const type = narrowToString(event.type) ?? name ?? '';
      const lifecycleEvents = readLifecycleEvent(type, event, state);
      if (lifecycleEvents !== undefined) return lifecycleEvents;
      const events = readItemEvent(type, event, state);
      if (events.length > 0) state.progress.add('content');
      return events;
    },
    end: () => [],
  };
}

/** Reads events that start, end or fail the whole response; `undefined` for other events. */
function readLifecycleEvent(type: string, event: JsonObject, state: ReaderState): Events | undefined {
  const { writer, progress, searches } = state;
  const response = narrowToObject(event.response) ?? {};
  switch (type) {
    case 'response.created':
      return [{ type: 'message_start', message: { id: narrowToString(response.id), role: 'assistant', content: [] } }];
    case 'response.completed':
    case 'response.done':
      return [
        // Some gateways send the items with the end only.
        ...(progress.has('content') ? [] : narrowToObjects(response.output)).flatMap((raw, index) =>
          finishItem(raw, String(index), state),
        ),
        ...writer.endAll(),
        ...buildEndEvents(
          response,
          progress.has('call') ? 'tool_use' : progress.has('refusal') ? 'refusal' : 'end_turn',
          searches.size,
        ),
      ];
    case 'response.incomplete': {
      const reason = narrowToString(narrowToObject(response.incomplete_details)?.reason);
      return buildEndEvents(response, reason === 'content_filter' ? 'refusal' : 'max_tokens', searches.size);
    }
    case 'response.failed':
    case 'response.cancelled':
      return [{ type: 'error', error: narrowToObject(response.error) ?? { code: 'server_error', message: type } }];
    case 'error': {
      const flatError = { code: event.code ?? null, message: event.message ?? null };
      return [{ type: 'error', error: narrowToObject(event.error) ?? flatError }];
    }
    default:
      return type === '' && narrowToObject(event.error) !== undefined
        ? [{ type: 'error', error: event.error }]
        : undefined;
  }
}

function readItemEvent(type: string, event: JsonObject, state: ReaderState): Events {
  const { writer, progress } = state;
  const item = String(
    narrowToNumber(event.output_index) ??
      narrowToString(event.item_id) ??
      narrowToString(narrowToObject(event.item)?.id) ??
      0,
  );
  const delta = narrowToString(event.delta) ?? '';
  switch (type) {
    case 'response.output_item.added': {
      const raw = narrowToObject(event.item);
      if (raw?.type === 'reasoning') return writer.start(item, EMPTY_THINKING_BLOCK);
      return raw?.type === 'function_call' ? startToolCall(raw, item, state) : [];
    }
    case 'response.output_text.delta':
      return writeText(delta, formatPartKey(item, event), state);
    case 'response.refusal.delta':
      progress.add('refusal');
      return writeText(delta, formatPartKey(item, event), state);
    case 'response.reasoning_summary_part.added':
      return writer.isOpen(item) && !writer.isEmpty(item) ? writeThinking('\n\n', item, state) : [];
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return writeThinking(delta, item, state);
    case 'response.function_call_arguments.delta':
      return writer.append(item, { type: 'input_json_delta', partial_json: delta });
    case 'response.output_item.done':
      return finishItem(narrowToObject(event.item) ?? {}, item, state);
    default:
      return [];
  }
}

/** Returns the block key of a message part. Messages may have several parts, and some servers send no start event. */
function formatPartKey(item: string, { content_index }: JsonObject): string {
  return `${item}.${narrowToNumber(content_index) ?? 0}`;
}

function writeText(text: string, key: string, { writer }: ReaderState): Events {
  return text === ''
    ? []
    : [...writer.start(key, EMPTY_TEXT_BLOCK), ...writer.append(key, { type: 'text_delta', text })];
}

function writeThinking(thinking: string, item: string, { writer }: ReaderState): Events {
  return [...writer.start(item, EMPTY_THINKING_BLOCK), ...writer.append(item, { type: 'thinking_delta', thinking })];
}

function startToolCall(raw: JsonObject, item: string, { writer, tools, progress }: ReaderState): Events {
  progress.add('call');
  const sentName = narrowToString(raw.name) ?? '';
  const id = narrowToString(raw.call_id) ?? narrowToString(raw.id) ?? '';
  return writer.start(item, { type: 'tool_use', id, name: tools.get(sentName) ?? sentName, input: {} });
}

/** Finishes an item; content that was not streamed in pieces is written now. */
function finishItem(raw: JsonObject, item: string, state: ReaderState): Events {
  const { writer } = state;
  switch (raw.type) {
    case 'reasoning': {
      const startEvents = writer.start(item, EMPTY_THINKING_BLOCK);
      const parts = [...narrowToObjects(raw.summary), ...narrowToObjects(raw.content)].map(
        ({ text }) => narrowToString(text) ?? '',
      );
      const contentEvents =
        writer.isEmpty(item) && parts.length > 0 ? writeThinking(parts.join('\n\n'), item, state) : [];
      const signatureEvents = writer.append(item, { type: 'signature_delta', signature: serializeReasoning(raw) });
      return [...startEvents, ...contentEvents, ...signatureEvents, ...writer.end(item)];
    }
    case 'function_call': {
      const startEvents = startToolCall(raw, item, state);
      const partial_json = writer.isEmpty(item) ? (narrowToString(raw.arguments) ?? '') : '';
      const contentEvents = partial_json === '' ? [] : writer.append(item, { type: 'input_json_delta', partial_json });
      return [...startEvents, ...contentEvents, ...writer.end(item)];
    }
    case 'message':
      return narrowToObjects(raw.content).flatMap((part, content_index) => {
        const key = formatPartKey(item, { content_index });
        if (part.type === 'refusal') state.progress.add('refusal');
        const text = narrowToString(part.text) ?? narrowToString(part.refusal) ?? '';
        const contentEvents = writer.isOpen(key) ? [] : writeText(text, key, state);
        const signature = narrowToString(raw.phase);
        const signatureEvents =
          signature === undefined ? [] : writer.append(key, { type: 'signature_delta', signature });
        const citations = narrowToObjects(part.annotations).filter(({ type }) => type === 'url_citation');
        return [
          ...contentEvents,
          ...signatureEvents,
          ...writer.end(key),
          ...writeWebSearchResultBlock(`${key}.pages`, citations, writer),
        ];
      });
    case 'web_search_call': {
      const action = narrowToObject(raw.action) ?? {};
      if (action.type === 'search') state.searches.add(item);
      return writeWebSearchResultBlock(item, narrowToObjects(action.sources), writer);
    }
    default:
      return [];
  }
}

/** Serializes reasoning for the next request; without encrypted content it would be useless there. */
function serializeReasoning({ id, summary, encrypted_content }: JsonObject): string {
  return typeof encrypted_content === 'string'
    ? JSON.stringify({ type: 'reasoning', ...(id && { id }), summary: summary ?? [], encrypted_content })
    : '';
}

function buildEndEvents(response: JsonObject, stop_reason: string, searches: number): Events {
  const counts = parseUsage(response);
  const usage = counts && searches > 0 ? { ...counts, server_tool_use: { web_search_requests: searches } } : counts;
  return [{ type: 'message_delta', delta: { stop_reason }, ...(usage && { usage }) }, { type: 'message_stop' }];
}

/** Parses the token counts. Input tokens include cached ones in this API; in the result they do not. */
function parseUsage(response: JsonObject): JsonObject | undefined {
  const raw = narrowToObject(response.usage);
  const input = narrowToNumber(raw?.input_tokens);
  if (raw === undefined || input === undefined) return undefined;
  const details = narrowToObject(raw.input_tokens_details);
  const cached = narrowToNumber(details?.cached_tokens) ?? 0;
  const written = narrowToNumber(details?.cache_write_tokens) ?? 0;
  return {
    input_tokens: Math.max(0, input - cached - written),
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: narrowToNumber(raw.output_tokens) ?? 0,
  };
}
