import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from '@dwmkerr/mock-llm/dist/server.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { discoverLocalServers } from '../../src/model/discovery.ts';
import { createOpenAiPort } from '../../src/model/openai-compatible.ts';
import { withRetry } from '../../src/model/retry.ts';
import { drain, REQUEST } from './support.ts';

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

  test('its pieces become one reply', async () => {
    const { events, outcome } = await drain(create());
    expect(outcome).toMatchObject({
      ok: true,
      stopReason: 'end_turn',
      message: { blocks: [{ type: 'text', text: 'A reply in several pieces.' }] },
    });
    expect(events.filter((event) => event.type === 'text_delta').length).toBeGreaterThan(5);
  });

  test('its errors, told inside a 200, are the ones we know', async () => {
    const locked = await drain(create(), { request: { ...REQUEST, model: 'locked' } });
    const small = await drain(create(), { request: { ...REQUEST, model: 'small' } });
    expect([locked.outcome, small.outcome]).toMatchObject([
      { failure: { kind: 'auth' } },
      { failure: { kind: 'too_long' } },
    ]);
  });

  test('it is found on its port, and a silent port is not', async () => {
    const places = [
      { name: 'Mock', prefix: 'mock', port },
      { name: 'Nobody', prefix: 'nobody', port: 1 },
    ];
    expect(await discoverLocalServers({ places })).toEqual([
      { name: 'Mock', prefix: 'mock', baseUrl: `http://127.0.0.1:${port}/v1`, models: ['qwen3:8b'] },
    ]);
  });
});
