import type { Dialect, RequestBody, ServerEvent } from './dialect.ts';
import { splitText } from './events.ts';
import type { ApiBlock, ApiReply } from './reply.ts';
import { signatureFor, violationOfGemini } from './validate-gemini.ts';
import { isDict } from './values.ts';

const PATH = /^\/v1beta\/models\/([^/:]+):(streamGenerateContent\?alt=sse|generateContent)$/;
const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
const FINISH: Readonly<Record<string, string>> = { max_tokens: 'MAX_TOKENS', refusal: 'SAFETY' };

/** Google's own API for Gemini. */
export const GEMINI_DIALECT: Dialect = {
  isConversation: (method, path) => method === 'POST' && PATH.test(path),
  lookUp: (method, path, raw) =>
    method === 'POST' && path.endsWith(':countTokens') ? { totalTokens: Math.ceil(raw.length / 4) } : undefined,
  read(path, body) {
    const [, model = '', verb] = PATH.exec(path) ?? [];
    return { ...body, model: decodeURIComponent(model), stream: verb !== 'generateContent' };
  },
  refusedCredentials(headers, expected) {
    const key = headers['x-goog-api-key'];
    if (key === undefined) return "Method doesn't allow unregistered callers. Please use API Key.";
    return expected === undefined || key === expected ? undefined : 'API key not valid. Please pass a valid API key.';
  },
  violationOf: violationOfGemini,
  eventsOf: chunksOf,
  frame: ({ event, data }) => `data: ${JSON.stringify(event === 'error' ? inner(data) : data)}\r\n\r\n`,
  ping: ': ping\n\n',
  messageOf: (reply) => ({
    candidates: [{ content: { role: 'model', parts: reply.blocks.flatMap((block) => partsOf(block, undefined)) } }],
  }),
  errorBody: ({ status, message }) => errorOf(status, message),
};

function errorOf(code: number, message: string): object {
  return { error: { code, message, status: STATUS[code] ?? 'INTERNAL' } };
}

function inner(data: unknown): object {
  const error = isDict(data) && isDict(data.error) ? data.error : {};
  return errorOf(error.type === 'overloaded_error' ? 503 : 500, String(error.message));
}

/** One chunk for each piece; the reason it ends stands in a chunk of its own, behind which nothing comes. */
function chunksOf(reply: ApiReply, id: string, body: RequestBody): readonly ServerEvent[] {
  const common = { modelVersion: body.model, responseId: `gemini-${id}` };
  const usageMetadata = usageOf(reply);
  const chunk = (event: string, candidate: object): ServerEvent => ({
    event,
    data: { candidates: [{ index: 0, ...candidate }], usageMetadata, ...common },
  });
  const calls = reply.blocks.filter(({ type }) => type === 'tool_use');
  const isWhole = (block: ApiBlock) => typeof block.json !== 'string';
  const parts = reply.blocks.filter(isWhole).flatMap((block) => {
    const signature = block === calls[0] ? signatureFor(String(block.id)) : undefined;
    return partsOf(block, reply.chunk, signature).map((part) =>
      chunk(block.type, { content: { role: 'model', parts: [part] } }),
    );
  });
  const finish = {
    content: { role: 'model', parts: [{ text: '' }] },
    finishReason: FINISH[reply.stop ?? ''] ?? 'STOP',
    ...groundingOf(reply),
  };
  return [...parts, ...(reply.stop === undefined ? [] : [chunk('finish', finish)])];
}

/** What the search found; each page is a redirect with its host as title. */
function groundingOf({ blocks }: ApiReply): object {
  const webSearchQueries = blocks.flatMap(({ type, input }) =>
    type === 'server_tool_use' && isDict(input) ? [input.query] : [],
  );
  const groundingChunks = blocks.flatMap(({ type, content }) =>
    type === 'web_search_tool_result' && Array.isArray(content)
      ? content.filter(isDict).map(({ url, title }) => ({ web: { uri: url, title } }))
      : [],
  );
  return webSearchQueries.length === 0 ? {} : { groundingMetadata: { webSearchQueries, groundingChunks } };
}

function partsOf(block: ApiBlock, size: number | undefined, thoughtSignature?: string): readonly object[] {
  if (block.type === 'text') return splitText(String(block.text), size).map((text) => ({ text }));
  if (block.type === 'thinking')
    return splitText(String(block.thinking), size).map((text) => ({ text, thought: true }));
  const functionCall = { id: block.id, name: block.name, args: block.input };
  return block.type === 'tool_use' ? [{ functionCall, ...(thoughtSignature && { thoughtSignature }) }] : [];
}

function usageOf({ usage }: ApiReply): object {
  const cachedContentTokenCount = usage.cache_read_input_tokens;
  const promptTokenCount = usage.input_tokens + cachedContentTokenCount;
  const [thoughtsTokenCount, candidatesTokenCount] = [2, usage.output_tokens - 2];
  const totalTokenCount = promptTokenCount + usage.output_tokens;
  return { promptTokenCount, cachedContentTokenCount, candidatesTokenCount, thoughtsTokenCount, totalTokenCount };
}
