import { describe, expect, test } from 'vitest';
import { DEFAULT_MODEL, DEFAULT_SMALL_MODEL } from '../../../src/model/built-in-models.ts';
import { NO_ANTHROPIC_KEY_MESSAGE } from '../../../src/model/registry/explain-missing-model.ts';
import type { ModelConfig } from '../../../src/model/registry/model-config.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { parseModelName } from '../../../src/model/registry/model-route.ts';
import { ANTHROPIC, OPENAI } from '../dialects.ts';
import { startFaultServer, status, stream } from '../fault-server.ts';
import { drain, REQUEST } from '../support.ts';

describe('locateModel', () => {
  test('names lead to a provider', () => {
    expect(
      [
        'sonnet',
        'claude-x',
        'Demo',
        'ollama/qwen3:8b',
        'lmstudio:phi',
        'http://10.0.0.1:9000/v1#big',
        'mine/fast',
        'anthropic/other',
      ].map((name) => parseModelName(name, { mine: { baseUrl: 'http://mine/v1', apiKey: 'k' } })),
    ).toEqual([
      { provider: 'anthropic', model: DEFAULT_MODEL },
      { provider: 'anthropic', model: 'claude-x' },
      { provider: 'demo', model: 'demo' },
      { provider: 'openai', name: 'ollama', server: { baseUrl: 'http://127.0.0.1:11434/v1' }, model: 'qwen3:8b' },
      { provider: 'openai', name: 'lmstudio', server: { baseUrl: 'http://127.0.0.1:1234/v1' }, model: 'phi' },
      { provider: 'openai', name: '10.0.0.1:9000', server: { baseUrl: 'http://10.0.0.1:9000/v1' }, model: 'big' },
      { provider: 'openai', name: 'mine', server: { baseUrl: 'http://mine/v1', apiKey: 'k' }, model: 'fast' },
      { provider: 'anthropic', model: 'anthropic/other' },
    ]);
  });

  test('settings may give a built-in server a key; names of object members are no servers', () => {
    expect(parseModelName('openai/gpt', { openai: { baseUrl: 'http://proxy/v1', apiKey: 'k' } })).toMatchObject({
      server: { baseUrl: 'http://proxy/v1', apiKey: 'k' },
    });
    expect(parseModelName('constructor/x').provider).toBe('anthropic');
  });
});

function chosen(config: ModelConfig) {
  const choice = createModelRegistry(config);
  if (!choice.ok) throw new Error(choice.problem);
  return choice;
}

const QUICK = { retry: { limits: () => ({ maxRetries: 0 }) } };

describe('choosePort', () => {
  test('without a key the message names the three ways', () => {
    expect(createModelRegistry({ model: 'sonnet' })).toEqual({
      ok: false,
      problem: NO_ANTHROPIC_KEY_MESSAGE,
      code: 'no_api_key',
    });
  });

  test('with a key it says which model, and where the key came from', () => {
    expect(chosen({ model: 'opus', apiKey: 'k', keySource: 'ANTHROPIC_API_KEY' })).toMatchObject({
      model: 'claude-opus-5-5',
      provider: 'anthropic',
      keySource: 'ANTHROPIC_API_KEY',
    });
  });

  test('the demo and local servers need no key and have no small model', () => {
    expect(chosen({ model: 'demo' })).toMatchObject({ provider: 'demo', keySource: 'none' });
    expect(chosen({ model: 'demo' }).getSmallModel('demo')).toBeUndefined();
    expect(chosen({ model: 'ollama/qwen3' })).toMatchObject({
      provider: 'openai',
      model: 'ollama/qwen3',
    });
  });

  test('a refused key repeated by a gateway is neither shown nor stored', async () => {
    const words = 'no key our-own-gateway-key here, nor sk-ant-api03-abcdefghijklmnop';
    await using server = await startFaultServer(status(400, ANTHROPIC.errorBody('invalid_request_error', words)));
    const { port } = chosen({ model: 'sonnet', apiKey: 'our-own-gateway-key', baseUrl: server.url, ...QUICK });
    expect(await drain(port)).toMatchObject({
      outcome: { failure: { message: 'The API refused the request (400): no key [secret] here, nor [secret].' } },
    });
  });

  test('a key may come from a function, called when the request is made', async () => {
    await using server = await startFaultServer(
      stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'hi'), ...ANTHROPIC.done('text')]),
    );
    const { port } = chosen({ model: 'sonnet', apiKey: async () => 'fresh', baseUrl: server.url, ...QUICK });
    expect((await drain(port)).outcome.ok).toBe(true);
    expect(server.seen[0]?.headers.authorization).toBe('Bearer fresh');
  });

  test('an expired key of a command is fetched again, once', async () => {
    const refused = status(401, ANTHROPIC.errorBody('authentication_error', 'expired'));
    await using server = await startFaultServer(
      refused,
      stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'hi'), ...ANTHROPIC.done('text')]),
      refused,
    );
    let key = 'old';
    const onRefusedKey = () => {
      key = 'fresh';
    };
    const { port } = chosen({ model: 'sonnet', apiKey: async () => key, onRefusedKey, baseUrl: server.url, ...QUICK });
    expect((await drain(port)).outcome.ok).toBe(true);
    expect(server.seen.map(({ headers }) => headers['x-api-key'])).toEqual(['old', 'fresh']);
    expect(await drain(port)).toMatchObject({ outcome: { failure: { kind: 'auth' } } });
    expect(server.seen).toHaveLength(4);
  });

  test.each(['', '/', '/v1', '/v1/'])('a base URL may end in "%s"; the key is in both headers', async (end) => {
    await using server = await startFaultServer(
      stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'hi'), ...ANTHROPIC.done('text')]),
    );
    const { port } = chosen({ model: 'sonnet', apiKey: 'k', baseUrl: server.url + end, ...QUICK });
    await drain(port);
    expect(server.seen[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'k', authorization: 'Bearer k' },
    });
  });

  test('an invalid key is reported, and nothing is sent', async () => {
    await using server = await startFaultServer(stream([]));
    const { port } = chosen({ model: 'sonnet', apiKey: 'ключ', baseUrl: server.url, ...QUICK });
    expect(await drain(port)).toMatchObject({
      outcome: { failure: { kind: 'auth', message: expect.stringContaining('invalid characters') } },
    });
    expect(server.seen).toEqual([]);
  });

  test('a token is sent to the gateway unchanged', async () => {
    await using server = await startFaultServer(
      stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'hi'), ...ANTHROPIC.done('text')]),
    );
    const { port } = chosen({ model: 'sonnet', authToken: 'token', baseUrl: server.url, betas: ['b'], ...QUICK });
    await drain(port, { request: { ...REQUEST, betas: ['a', 'b'] } });
    expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer token', 'anthropic-beta': 'b,a' });
  });

  test('a gateway that cannot clear old results is asked again without, and never again', async () => {
    const words = 'context_management: Extra inputs are not permitted';
    const fine = stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'hi'), ...ANTHROPIC.done('text')]);
    await using server = await startFaultServer(status(400, ANTHROPIC.errorBody('invalid_request_error', words)), fine);
    const { port, infoOf } = chosen({ model: 'sonnet', apiKey: 'k', baseUrl: server.url, ...QUICK });
    expect(infoOf('sonnet').clearsResultsAt).toBe(670_000);
    const tools = [{ name: 'Read', description: '', input_schema: { type: 'object' } }];
    const request = { ...REQUEST, model: 'claude-sonnet-5-5', tools };
    expect((await drain(port, { request })).outcome.ok).toBe(true);
    expect((await drain(port, { request })).outcome.ok).toBe(true);
    const asked = server.seen.map(({ body, headers }) => [
      'context_management' in JSON.parse(body),
      headers['anthropic-beta'],
    ]);
    expect(asked).toEqual([
      [true, 'context-management-2025-06-27'],
      [false, undefined],
      [false, undefined],
    ]);
    expect(infoOf('sonnet').clearsResultsAt).toBeUndefined();
  });

  test('one port serves models of several providers, each under its own name', async () => {
    await using anthropic = await startFaultServer(
      stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'from a'), ...ANTHROPIC.done('text')]),
    );
    await using openai = await startFaultServer(
      stream([OPENAI.open, ...OPENAI.text(0, 'from o'), ...OPENAI.done('text')]),
    );
    const providers = { local: { baseUrl: `${openai.url}/v1`, contextWindow: 9000 } };
    const { port, infoOf } = chosen({ model: 'sonnet', apiKey: 'k', baseUrl: anthropic.url, providers, ...QUICK });
    const first = await drain(port, { request: { ...REQUEST, model: 'claude-opus-5-5' } });
    const second = await drain(port, { request: { ...REQUEST, model: 'local/qwen3' } });
    expect([first.outcome, second.outcome]).toMatchObject([
      { message: { model: 'claude-opus-5-5' } },
      { message: { model: 'local/qwen3' } },
    ]);
    expect(second.events[1]).toMatchObject({ type: 'message_start', model: 'local/qwen3' });
    expect(JSON.parse(openai.seen[0]?.body ?? '{}')).toMatchObject({ model: 'qwen3' });
    expect(infoOf('local/qwen3')).toMatchObject({ id: 'local/qwen3', contextWindow: 9000 });
  });

  test('a model that needs a key reports it instead of sending a request', async () => {
    const { port } = chosen({ model: 'demo', ...QUICK });
    expect(await drain(port, { request: { ...REQUEST, model: 'claude-opus-5-5' } })).toMatchObject({
      outcome: { failure: { kind: 'auth', message: NO_ANTHROPIC_KEY_MESSAGE } },
    });
  });

  test('tokens are counted by the provider where supported', async () => {
    await using server = await startFaultServer((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":42}'),
    );
    const { port } = chosen({ model: 'sonnet', apiKey: 'k', baseUrl: server.url });
    const { signal } = new AbortController();
    expect(await port.countTokens?.(REQUEST, signal)).toBe(42);
    expect(await port.countTokens?.({ ...REQUEST, model: 'ollama/x' }, signal)).toBeUndefined();
    expect(server.seen[0]?.path).toBe('/v1/messages/count_tokens');
    expect(server.seen[0]?.body).not.toContain('max_tokens');
  });

  test('modules for the first request can be loaded ahead', async () => {
    await expect(chosen({ model: 'sonnet', apiKey: 'k' }).port.prepare?.()).resolves.toBeUndefined();
  });
});

describe('the small model for side requests', () => {
  const key = { apiKey: 'k' };
  test.each([
    ['openai/gpt-5', {}, 'openai/gpt-6-luna'],
    ['groq/x', {}, 'groq/llama-3.1-8b-instant'],
    ['ollama/x', {}, undefined],
    ['sonnet', { smallModel: 'off' }, undefined],
    ['openai/gpt-5', { smallModel: 'OFF' }, undefined],
    ['openai/gpt-5', { smallModel: 'deepseek/deepseek-flash' }, 'deepseek/deepseek-flash'],
    ['openai/gpt-5', { providers: { openai: { ...key, baseUrl: 'http://proxy/v1' } } }, undefined],
  ])('of %s with %j is %s', (model, more, smallModel) => {
    const providers = { openai: key, groq: key };
    expect(chosen({ model, apiKey: 'k', providers, ...more }).getSmallModel(model)).toBe(smallModel);
  });

  test('follows the current model, also after a switch', () => {
    const { getSmallModel } = chosen({ model: 'sonnet', apiKey: 'k', providers: { groq: key } });
    expect(['sonnet', 'groq/x', 'ollama/x', 'demo'].map(getSmallModel)).toEqual([
      DEFAULT_SMALL_MODEL,
      'groq/llama-3.1-8b-instant',
      undefined,
      undefined,
    ]);
  });
});

describe('a prefix', () => {
  test.each([
    ['grok/x', 'Unknown provider "grok". Did you mean groq/x?'],
    ['opnerouter/anthropic/claude-sonnet-4.5', 'Did you mean openrouter/anthropic/claude-sonnet-4.5?'],
    ['somewhere-else/x', 'Unknown provider "somewhere-else". Known providers:'],
    ['wrok/x', 'Did you mean work/x?'],
  ])('that leads nowhere is told at once, with what may be meant: %s', (model, words) => {
    const providers = { work: { baseUrl: 'http://127.0.0.1:9/v1' } };
    const choice = createModelRegistry({ model, apiKey: 'k', providers });
    expect(choice.ok ? '' : choice.problem).toContain(words);
    const { findModel } = chosen({ model: 'sonnet', apiKey: 'k', providers });
    expect(findModel(model)).toEqual({ ok: false, problem: expect.stringContaining(words) });
  });

  test('of Anthropic itself is accepted; a gateway has its own names', () => {
    expect(chosen({ model: 'anthropic/opus', apiKey: 'k' }).model).toBe('claude-opus-5-5');
    const gateway = { apiKey: 'k', baseUrl: 'http://127.0.0.1:9' };
    expect(chosen({ model: 'anthropic/claude-sonnet-4.5', ...gateway }).model).toBe('anthropic/claude-sonnet-4.5');
    expect(chosen({ model: 'team/model', ...gateway }).model).toBe('team/model');
  });
});
