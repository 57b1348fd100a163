import type { JsonObject, JsonValue } from '../../../contracts/json.ts';
import type { ModelPort, ModelRequest } from '../../../contracts/model.ts';
import { fetch } from '../../../lib/network/fetch.ts';
import { parseGeminiGeneration } from '../../efforts.ts';
import {
  type BlockEventWriter,
  createBlockEventWriter,
  EMPTY_TEXT_BLOCK,
  EMPTY_THINKING_BLOCK,
  writeWebSearchResultBlock,
} from '../../stream/block-event-writer.ts';
import { postStreamingRequest } from '../../stream/http-stream.ts';
import {
  hasOtherType,
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseEventObjects,
  parseNetworkJson,
} from '../../stream/json-values.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';
import { MALFORMED_EVENT, type StreamEventTranslator } from '../../stream/read-reply.ts';
import { createRequestVariantSender, createStreamingPort } from '../../stream/streaming-port.ts';
import { mapSentToolNames } from '../tool-identifiers.ts';
import { adaptGeminiRequestVariant, buildGeminiRequest, DEFAULT_GEMINI_REQUEST_VARIANT } from './gemini-request.ts';

/** Connection settings for Google's Gemini API. */
export type GeminiSettings = {
  /** Includes the version; the URL of the chat completions endpoint is accepted too. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
};

/** Long enough for models that think for minutes before the first token. */
const DEFAULT_TIMEOUTS: StreamTimeouts = { headerTimeoutMs: 300_000, idleTimeoutMs: 300_000 };

/** Creates a port for the Gemini API; a request rejected for a field is resent in another variant. */
export function createGeminiPort(settings: GeminiSettings): ModelPort {
  const { name, timeouts, fetch: send = fetch } = settings;
  const baseUrl = settings.baseUrl.replace(/(?<!\/)\/+$/, '').replace(/\/openai$/, '');
  const sendVariant = createRequestVariantSender(DEFAULT_GEMINI_REQUEST_VARIANT, adaptGeminiRequestVariant);
  const buildUrl = (model: string, method: string) =>
    `${baseUrl}/models/${encodeURIComponent(model.replace(/^models\//, ''))}:${method}`;

  function buildHeaders(requestKey?: string): Readonly<Record<string, string>> {
    const key = requestKey ?? settings.apiKey;
    return key === undefined ? {} : { 'x-goog-api-key': key };
  }

  return {
    ...createStreamingPort(
      {
        name,
        timeouts: DEFAULT_TIMEOUTS,
        sendRequest: (request, requestKey, attempt) =>
          sendVariant(request.model, attempt, (variant) => {
            const url = buildUrl(request.model, 'streamGenerateContent?alt=sse');
            return postStreamingRequest(
              url,
              { headers: buildHeaders(requestKey), body: buildGeminiRequest(request, variant), send },
              attempt,
            );
          }),
        createReader: ({ model, tools }, newId) =>
          createGeminiTranslator(
            newId,
            mapSentToolNames(tools),
            parseGeminiGeneration(model) >= 3 ? 'per query' : 'per prompt',
          ),
      },
      timeouts,
    ),
    async countTokens(request, signal) {
      try {
        const body = JSON.stringify(buildCountBody(request));
        const headers = { 'content-type': 'application/json', ...buildHeaders() };
        const response = await send(buildUrl(request.model, 'countTokens'), { method: 'POST', headers, body, signal });
        return narrowToNumber(narrowToObject(parseNetworkJson(await response.text()))?.totalTokens);
      } catch {
        // Counting is optional: the caller falls back to an estimate.
        return undefined;
      }
    },
  };
}

function buildCountBody(request: ModelRequest): JsonObject {
  const { generationConfig: _limits, ...rest } = buildGeminiRequest(request, DEFAULT_GEMINI_REQUEST_VARIANT);
  return { generateContentRequest: { model: `models/${request.model.replace(/^models\//, '')}`, ...rest } };
}

type Events = readonly JsonObject[];

/** State of a reply while it streams. */
type ReaderState = {
  readonly writer: BlockEventWriter;
  /** Original tool names by the names sent to the API. */
  readonly tools: ReadonlyMap<string, string>;
  readonly newId: () => string;
  /** Events so far that determine how the reply continues or ends. */
  readonly progress: Set<'begin' | 'call'>;
  finishReason: string | undefined;
};

/** Creates a reader that translates `generateContent` chunks into Messages API events. */
function createGeminiTranslator(
  newId: () => string,
  tools: ReadonlyMap<string, string>,
  searchBilling: SearchBilling = 'per query',
): StreamEventTranslator {
  const writer = createBlockEventWriter();
  const state: ReaderState = { writer, tools, newId, progress: new Set(), finishReason: undefined };
  /** The latest token counts, which are totals; the last chunk may omit them. */
  let usageMetadata: JsonObject | undefined;
  let groundingMetadata: JsonObject | undefined;
  return {
    read: ({ data }) =>
      parseEventObjects(data)?.flatMap((chunk) => {
        usageMetadata = narrowToObject(chunk.usageMetadata) ?? usageMetadata;
        groundingMetadata =
          narrowToObject(narrowToObjects(chunk.candidates)[0]?.groundingMetadata) ?? groundingMetadata;
        return readChunk(chunk, state);
      }) ?? [MALFORMED_EVENT],
    isEnding: () => state.finishReason !== undefined,
    end: () => writeEnd(state, usageMetadata, groundingMetadata && readSearch(groundingMetadata, searchBilling)),
  };
}

/** How searches count towards the price: since generation 3 each query, before that each prompt with a search. */
type SearchBilling = 'per query' | 'per prompt';

type Search = { readonly pages: readonly JsonObject[]; readonly count: number };

/** Reads the pages and queries of a reply that used the search. Pages are redirects, titled with their host. */
function readSearch({ groundingChunks, webSearchQueries }: JsonObject, billing: SearchBilling): Search {
  const queries = Array.isArray(webSearchQueries) ? webSearchQueries.length : 0;
  const pages = narrowToObjects(groundingChunks).flatMap(({ web }) => {
    const { uri, title } = narrowToObject(web) ?? {};
    return uri === undefined ? [] : [{ url: uri, title: title ?? null }];
  });
  return { pages, count: billing === 'per query' ? queries : Math.min(1, queries) };
}

function readChunk(chunk: JsonObject, state: ReaderState): Events {
  const { progress, newId } = state;
  const error = narrowToObject(chunk.error);
  if (error !== undefined) return [{ type: 'error', error }];
  if (isMalformedChunk(chunk, state)) return [MALFORMED_EVENT];
  const candidate = narrowToObjects(chunk.candidates)[0];
  const message = { id: narrowToString(chunk.responseId) ?? newId(), role: 'assistant', content: [] };
  const startEvents = progress.has('begin') ? [] : [{ type: 'message_start', message }];
  progress.add('begin');
  const parts = narrowToObjects(narrowToObject(candidate?.content)?.parts).flatMap((part) => readPart(part, state));
  const reason = narrowToString(candidate?.finishReason) ?? readBlockReason(chunk);
  const partEvents = [...startEvents, ...parts];
  if (reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return partEvents;
  // Some servers send a call after the chunk with the reason, or the reason with every chunk.
  state.finishReason = reason;
  const failure = FAILURE_TYPES[reason];
  if (failure === undefined) return partEvents;
  const failureMessage = narrowToString(candidate?.finishMessage) ?? `The model ended its reply with ${reason}`;
  return [...partEvents, { type: 'error', error: { status: failure, message: failureMessage } }];
}

/** Returns true if a chunk has content that is neither text nor a call. Unknown parts are not content. */
function isMalformedChunk({ candidates }: JsonObject, { tools }: ReaderState): boolean {
  if (hasOtherType(candidates, 'array')) return true;
  const [candidate] = Array.isArray(candidates) ? candidates : [];
  const content = narrowToObject(candidate)?.content;
  const parts = narrowToObject(content)?.parts;
  if (hasOtherType(candidate, 'object') || hasOtherType(content, 'object') || hasOtherType(parts, 'array')) return true;
  return Array.isArray(parts) && parts.some((part) => isMalformedPart(part, tools));
}

function isMalformedPart(value: JsonValue, tools: ReadonlyMap<string, string>): boolean {
  const part = narrowToObject(value);
  if (part === undefined) return true;
  const { text, functionCall, ...others } = part;
  return (
    Object.values(others).some((other) => tools.has(narrowToString(narrowToObject(other)?.name) ?? '')) ||
    hasOtherType(text, 'string') ||
    hasOtherType(functionCall, 'object') ||
    (functionCall === null && narrowToString(text) === undefined)
  );
}

/** Writes the end of a reply; nothing if the server sent no finish reason. */
function writeEnd(
  { writer, progress, finishReason }: ReaderState,
  usageMetadata: JsonObject | undefined,
  search: Search | undefined,
): Events {
  if (finishReason === undefined) return [];
  const stop_reason = STOP_REASONS[finishReason] ?? (progress.has('call') ? 'tool_use' : 'end_turn');
  const counts = parseUsage(usageMetadata);
  const usage = counts && search ? { ...counts, server_tool_use: { web_search_requests: search.count } } : counts;
  const pageEvents = search === undefined ? [] : writeWebSearchResultBlock('pages', search.pages, writer);
  const end = { type: 'message_delta', delta: { stop_reason }, ...(usage && { usage }) };
  return [...writer.endAll(), ...pageEvents, end, { type: 'message_stop' }];
}

/** Returns a finish reason for a blocked prompt, which has no candidates. */
function readBlockReason(chunk: JsonObject): string | undefined {
  const reason = narrowToString(narrowToObject(chunk.promptFeedback)?.blockReason);
  return reason === undefined ? undefined : 'PROHIBITED_CONTENT';
}

function readPart(part: JsonObject, state: ReaderState): Events {
  const { writer } = state;
  const functionCall = narrowToObject(part.functionCall);
  if (functionCall !== undefined) return [...writer.endAll(), ...readFunctionCall(functionCall, part, state)];
  const text = narrowToString(part.text) ?? '';
  const signature = narrowToString(part.thoughtSignature);
  // The signature may come with the last text, or after it without text.
  const addSignature = () =>
    signature === undefined ? [] : writer.append('text', { type: 'signature_delta', signature });
  if (text === '') return addSignature();
  const kind = part.thought === true ? 'thinking' : 'text';
  const [block, delta] =
    kind === 'thinking'
      ? [EMPTY_THINKING_BLOCK, { type: 'thinking_delta', thinking: text }]
      : [EMPTY_TEXT_BLOCK, { type: 'text_delta', text }];
  const endEvents = writer.isOpen(kind) ? [] : writer.endAll();
  return [...endEvents, ...writer.start(kind, block), ...writer.append(kind, delta), ...addSignature()];
}

/** Writes a function call, which always arrives complete. Of parallel calls only the first has a signature. */
function readFunctionCall(call: JsonObject, part: JsonObject, { writer, tools, newId, progress }: ReaderState): Events {
  progress.add('call');
  const sentName = narrowToString(call.name) ?? '';
  const id = narrowToString(call.id) || `call_${newId()}`;
  const signature = narrowToString(part.thoughtSignature);
  return [
    ...writer.start(id, { type: 'tool_use', id, name: tools.get(sentName) ?? sentName, input: {} }),
    ...writer.append(id, { type: 'input_json_delta', partial_json: JSON.stringify(call.args ?? {}) }),
    ...(signature === undefined ? [] : writer.append(id, { type: 'signature_delta', signature })),
    ...writer.end(id),
  ];
}

const REFUSAL = 'refusal';
const STOP_REASONS: Readonly<Record<string, string>> = {
  MAX_TOKENS: 'max_tokens',
  SAFETY: REFUSAL,
  RECITATION: REFUSAL,
  LANGUAGE: REFUSAL,
  BLOCKLIST: REFUSAL,
  PROHIBITED_CONTENT: REFUSAL,
  SPII: REFUSAL,
  IMAGE_SAFETY: REFUSAL,
};

/** Finish reasons that are failures, with the matching error type; all but the last can be retried. */
const FAILURE_TYPES: Readonly<Record<string, string>> = {
  MALFORMED_FUNCTION_CALL: 'server_error',
  UNEXPECTED_TOOL_CALL: 'server_error',
  TOO_MANY_TOOL_CALLS: 'server_error',
  MALFORMED_RESPONSE: 'server_error',
  OTHER: 'server_error',
  MISSING_THOUGHT_SIGNATURE: 'INVALID_ARGUMENT',
};

/** Parses the token counts. Thinking counts as output; cached tokens are part of the prompt count only in this API. */
function parseUsage(raw: JsonObject | undefined): JsonObject | undefined {
  const count = (name: string) => narrowToNumber(raw?.[name]) ?? 0;
  if (raw === undefined) return undefined;
  const cached = count('cachedContentTokenCount');
  return {
    input_tokens: Math.max(0, count('promptTokenCount') + count('toolUsePromptTokenCount') - cached),
    cache_read_input_tokens: cached,
    output_tokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
  };
}
