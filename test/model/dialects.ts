import type { ModelPort } from '../../src/contracts/model.ts';
import { createAnthropicPort } from '../../src/model/providers/anthropic/anthropic-port.ts';
import { createOpenAiPort } from '../../src/model/providers/openai-chat/openai-chat-port.ts';
import type { StreamTimeouts } from '../../src/model/stream/model-attempt.ts';

/** One provider as data: how to make its port, and how its server says each thing. */
export type Dialect = {
  readonly name: string;
  readonly create: (url: string, patience?: Partial<StreamTimeouts>) => ModelPort;
  readonly path: string;
  readonly open: string;
  readonly text: (index: number, ...parts: string[]) => string[];
  readonly thinking: (index: number, text: string) => string[];
  readonly call: (index: number, id: string, name: string, ...json: string[]) => string[];
  readonly done: (stop: 'text' | 'calls' | 'length') => string[];
  readonly ping: string;
  readonly unknown: string;
  readonly error: (type: string, message: string) => string;
  readonly errorBody: (type: string, message: string) => string;
  /** Finished blocks are announced as such while the reply goes on. */
  readonly signature: string;
  readonly cacheWrites: boolean;
};

function sse(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function anthropicBlock(index: number, content_block: object, deltas: readonly object[]): string[] {
  return [
    sse(Object.assign({ type: 'content_block_start', index, content_block })),
    ...deltas.map((delta) => sse(Object.assign({ type: 'content_block_delta', index, delta }))),
    sse(Object.assign({ type: 'content_block_stop', index })),
  ];
}

const STOP_REASONS = { text: 'end_turn', calls: 'tool_use', length: 'max_tokens' } as const;
const ANTHROPIC_USAGE = {
  input_tokens: 10,
  cache_read_input_tokens: 90,
  cache_creation_input_tokens: 5,
  output_tokens: 1,
};

export const ANTHROPIC: Dialect = {
  name: 'anthropic',
  create: (url, patience = {}) =>
    createAnthropicPort({
      credentials: { apiKey: 'test-key' },
      baseUrl: url,
      timeouts: () => patience,
      betas: ['beta-1'],
    }),
  path: '/v1/messages',
  open: sse(
    Object.assign({ type: 'message_start', message: { id: 'msg_1', model: 'echoed', usage: ANTHROPIC_USAGE } }),
  ),
  text: (index, ...parts) =>
    anthropicBlock(
      index,
      { type: 'text', text: '' },
      parts.map((text) => ({ type: 'text_delta', text })),
    ),
  thinking: (index, thinking) =>
    anthropicBlock(index, { type: 'thinking', thinking: '' }, [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'sig' },
    ]),
  call: (index, id, name, ...json) =>
    anthropicBlock(
      index,
      { type: 'tool_use', id, name, input: {} },
      json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ),
  done: (stop) => [
    sse(
      Object.assign({ type: 'message_delta', delta: { stop_reason: STOP_REASONS[stop] }, usage: { output_tokens: 7 } }),
    ),
    sse({ type: 'message_stop' }),
  ],
  ping: sse({ type: 'ping' }),
  unknown: sse({ type: 'hologram' }),
  error: (type, message) => sse(Object.assign({ type: 'error', error: { type, message } })),
  errorBody: (type, message) => JSON.stringify({ type: 'error', error: { type, message } }),
  signature: 'sig',
  cacheWrites: true,
};

function chunk(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'msg_1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

const FINISH_REASONS = { text: 'stop', calls: 'tool_calls', length: 'length' } as const;
const OPENAI_USAGE = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 90 } };

export const OPENAI: Dialect = {
  name: 'openai-compatible',
  create: (url, patience = {}) =>
    createOpenAiPort({ baseUrl: `${url}/v1`, apiKey: 'test-key', timeouts: () => patience }),
  path: '/v1/chat/completions',
  open: chunk({ role: 'assistant', content: '' }),
  text: (_index, ...parts) => parts.map((content) => chunk({ content })),
  thinking: (_index, reasoning_content) => [chunk({ reasoning_content })],
  call: (index, id, name, ...json) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...json.map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
  ],
  done: (stop) => [
    chunk({}, FINISH_REASONS[stop]),
    `data: ${JSON.stringify({ id: 'msg_1', choices: [], usage: OPENAI_USAGE })}\n\n`,
    'data: [DONE]\n\n',
  ],
  ping: ': keep-alive\n\n',
  unknown: 'data: {"object":"hologram"}\n\n',
  error: (type, message) => `data: ${JSON.stringify({ error: { type, message } })}\n\n`,
  errorBody: (type, message) => JSON.stringify({ error: { type, message } }),
  signature: 'reasoning_content',
  cacheWrites: false,
};
