import type { Dialect, RequestBody, ServerEvent } from './dialect.ts';
import { splitText } from './events.ts';
import type { ApiBlock, ApiReply } from './reply.ts';
import { violationOfChat } from './validate-chat.ts';
import { isDict } from './values.ts';

const MODELS = ['qwen3:8b', 'gpt-5-mini'];
const FINISH: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
};
const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};

/** OpenAI chat completions, as servers on this machine speak them. */
export const OPENAI_DIALECT: Dialect = {
  isConversation: (method, path) => method === 'POST' && /\/chat\/completions(\?|$)/.test(path),
  lookUp(method, path) {
    if (method !== 'GET') return undefined;
    if (/\/v1\/models(\?|$)/.test(path)) {
      return { object: 'list', data: MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'library' })) };
    }
    return path === '/api/tags'
      ? { models: MODELS.map((name) => ({ name, model: name, size: 1, details: {} })) }
      : undefined;
  },
  refusedCredentials(headers, expected) {
    // Servers on one's own machine ask for no key.
    if (expected === undefined) return undefined;
    return headers.authorization === `Bearer ${expected}` ? undefined : 'Incorrect API key provided.';
  },
  violationOf: (body, headers) => violationOfChat(body, headers),
  eventsOf: chunksOf,
  frame: ({ data }) => `data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`,
  ping: ': ping\n\n',
  messageOf,
  errorBody: ({ status, type, message }) => ({
    error: {
      message,
      type,
      param: null,
      code: message.includes('maximum context length') ? 'context_length_exceeded' : (CODES[status] ?? null),
    },
  }),
};

function chunksOf(reply: ApiReply, id: string, body: RequestBody): readonly ServerEvent[] {
  const whole = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: 0, model: body.model };
  const chunk = (event: string, delta: object, finish_reason: string | null = null): ServerEvent => ({
    event,
    data: { ...whole, choices: [{ index: 0, delta, finish_reason }] },
  });
  const wantsUsage = isDict(body.stream_options) && body.stream_options.include_usage === true;
  let slot = 0;
  const deltas = reply.blocks.flatMap((block) => {
    if (block.type !== 'tool_use') return wordsOf(block, reply.chunk).map((delta) => chunk('content', delta));
    const index = slot++;
    return callOf(block, index, reply.chunk).map((call) => chunk('tool_calls', { tool_calls: [call] }));
  });
  return [
    chunk('role', { role: 'assistant', content: '' }),
    ...deltas,
    ...(reply.stop === undefined ? [] : [chunk('finish', {}, FINISH[reply.stop] ?? 'stop')]),
    ...(wantsUsage ? [{ event: 'usage', data: { ...whole, choices: [], usage: usageOf(reply) } }] : []),
    { event: 'done', data: '[DONE]' },
  ];
}

function wordsOf(block: ApiBlock, size: number | undefined): readonly object[] {
  if (block.type === 'text') return splitText(String(block.text), size).map((content) => ({ content }));
  if (block.type === 'thinking')
    return splitText(String(block.thinking), size).map((reasoning_content) => ({ reasoning_content }));
  return [];
}

const argumentsOf = (block: ApiBlock): string =>
  typeof block.json === 'string' ? block.json : JSON.stringify(block.input);

function callOf(block: ApiBlock, index: number, size: number | undefined): readonly object[] {
  const opening = { index, id: block.id, type: 'function', function: { name: block.name, arguments: '' } };
  return [opening, ...splitText(argumentsOf(block), size).map((part) => ({ index, function: { arguments: part } }))];
}

function messageOf(reply: ApiReply, id: string, body: RequestBody): object {
  const said = (type: string, field: string) =>
    reply.blocks.flatMap((block) => (block.type === type ? [String(block[field])] : [])).join('');
  const tool_calls = reply.blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: argumentsOf(block) } }]
      : [],
  );
  const message = {
    role: 'assistant',
    content: said('text', 'text') || null,
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 0,
    model: body.model,
    choices: [{ index: 0, message, finish_reason: FINISH[reply.stop ?? ''] ?? 'stop' }],
    usage: usageOf(reply),
  };
}

function usageOf({ usage }: ApiReply): object {
  const { input_tokens: fresh, output_tokens: completion, cache_read_input_tokens: cached } = usage;
  const prompt = fresh + cached;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
