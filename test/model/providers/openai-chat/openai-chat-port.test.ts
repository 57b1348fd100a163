import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from '@dwmkerr/mock-llm/dist/server.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createOpenAiPort } from '../../../../src/model/providers/openai-chat/openai-chat-port.ts';
import { discoverLocalServers } from '../../../../src/model/registry/server-discovery.ts';
import { withRetry } from '../../../../src/model/retry.ts';
import { OPENAI } from '../../dialects.ts';
import { startFaultServer, status, stream } from '../../fault-server.ts';
import { drain, REQUEST } from '../../support.ts';

const CHAT = { path: '/v1/chat/completions', match: '@' };

function answer(content: object, match = CHAT.match) {
  return { ...CHAT, match, response: { status: 200, content: JSON.stringify(content) } };
}

const RULES = [
  answer({ id: 'c1', choices: [{ message: { role: 'assistant', content: 'A reply in several pieces.' } }] }),
  answer({ error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, "body.model == 'locked'"),
  answer({ error: { message: 'Too many tokens', code: 'context_length_exceeded' } }, "body.model == 'small'"),
  {
    path: '/v1/models',
    response: { status: 200, content: '{"object":"list","data":[{"id":"qwen3:8b","object":"model"}]}' },
  },
];

describe('a third-party OpenAI server', () => {
  const server = createHttpServer();
  let port = 0;

  beforeAll(async () => {
    // It tells its story on stdout; the test run has its own.
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    server.on(
      'request',
      createServer({ streaming: { chunkSize: 4, chunkIntervalMs: 1 }, rules: RULES }, '127.0.0.1', 0),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });

  afterAll(async () => {
    vi.restoreAllMocks();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const create = () => withRetry(createOpenAiPort({ baseUrl: `http://127.0.0.1:${port}/v1/` }));

  test('its chunks become one reply', async () => {
    const { events, outcome } = await drain(create());
    expect(outcome).toMatchObject({
      ok: true,
      stopReason: 'end_turn',
      message: { blocks: [{ type: 'text', text: 'A reply in several pieces.' }] },
    });
    expect(events.filter((event) => event.type === 'text_delta').length).toBeGreaterThan(5);
  });

  test('its errors inside a 200 response are recognized', async () => {
    const locked = await drain(create(), { request: { ...REQUEST, model: 'locked' } });
    const small = await drain(create(), { request: { ...REQUEST, model: 'small' } });
    expect([locked.outcome, small.outcome]).toMatchObject([
      { failure: { kind: 'auth' } },
      { failure: { kind: 'too_long' } },
    ]);
  });

  test('it is found on its port, and a silent port is not', async () => {
    const servers = [
      { name: 'Mock', prefix: 'mock', port },
      { name: 'Nobody', prefix: 'nobody', port: 1 },
    ];
    expect(await discoverLocalServers({ servers })).toEqual([
      { name: 'Mock', prefix: 'mock', baseUrl: `http://127.0.0.1:${port}/v1`, models: ['qwen3:8b'] },
    ]);
  });
});

describe('a server that refuses the form of a request', () => {
  const fine = stream([OPENAI.open, ...OPENAI.text(0, 'Yes'), ...OPENAI.done('text')]);
  const call = { type: 'tool_use', id: 'c1', name: 'Read', input: {} } as const;
  const request = {
    ...REQUEST,
    tools: [{ name: 'Read', description: '', input_schema: { type: 'object' } }],
    forcedTool: 'Read',
    messages: [
      ...REQUEST.messages,
      { role: 'assistant', blocks: [{ type: 'thinking', thinking: 'Hm', signature: 'reasoning_content' }, call] },
      { role: 'user', blocks: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] },
    ],
  } as const;
  const refusal = (message: string, code = 400) => status(code, JSON.stringify({ error: { message } }));

  test.each([
    ["Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", 'max_tokens'],
    ['max_tokens: Extra inputs are not permitted', 'max_tokens'],
    ['body.stream_options: Extra inputs are not permitted', 'stream_options'],
    ['deepseek-reasoner does not support this tool_choice', 'tool_choice'],
    ["property 'reasoning_content' is unsupported", 'reasoning_content'],
  ])('%s: it is asked once more without, and never again with it', async (message, field) => {
    await using server = await startFaultServer(refusal(message), fine);
    const port = createOpenAiPort({ baseUrl: server.url });
    expect((await drain(port, { request })).outcome.ok).toBe(true);
    expect((await drain(port, { request })).outcome.ok).toBe(true);
    expect(server.seen.map(({ body }) => body.includes(`"${field}"`))).toEqual([true, false, false]);
  });

  test('missing reasoning for calls of another model is replaced', async () => {
    const words = 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2';
    await using server = await startFaultServer(refusal(words), fine);
    const messages = [
      ...REQUEST.messages,
      { role: 'assistant', blocks: [call] } as const,
      ...request.messages.slice(-1),
    ];
    const other = { ...request, messages };
    expect((await drain(createOpenAiPort({ baseUrl: server.url }), { request: other })).outcome.ok).toBe(true);
    expect(JSON.parse(server.seen[1]?.body ?? '{}').messages[2].reasoning_content).toBe('(not kept)');
  });

  test('a limit that is too high, and any other refusal, is reported at once', async () => {
    const words = ['max_tokens: 90000 > 64000, which is the maximum allowed', 'no such thing', 'reasoning is unwell'];
    for (const message of words) {
      await using server = await startFaultServer(refusal(message), fine);
      expect((await drain(createOpenAiPort({ baseUrl: server.url }), { request })).outcome.ok).toBe(false);
      expect(server.seen).toHaveLength(1);
    }
  });

  test('a server that keeps refusing is not retried for ever', async () => {
    await using server = await startFaultServer(
      refusal('unsupported: max_tokens'),
      refusal('unsupported: max_completion_tokens'),
    );
    expect((await drain(createOpenAiPort({ baseUrl: server.url }), { request })).outcome.ok).toBe(false);
    expect(server.seen).toHaveLength(2);
  });
});
