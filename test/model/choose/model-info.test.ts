import { describe, expect, test } from 'vitest';
import { createModelInfo } from '../../../src/model/choose/model-info.ts';
import { startJsonServer } from '../../support/json-server.ts';

describe('what is known of a model', () => {
  test('of a place with a name: the catalogue, once it was looked up', async () => {
    const { infoOf, lookUp } = createModelInfo();
    expect(infoOf('openai/gpt-5')).toMatchObject({ contextWindow: 128_000 });
    await lookUp('openai/gpt-5');
    expect(infoOf('openai/gpt-5')).toMatchObject({
      id: 'openai/gpt-5',
      label: 'GPT-5',
      maxOutputTokens: 128_000,
      defaultOutputTokens: 32_000,
      vision: true,
      thinking: 'adaptive',
      efforts: ['low', 'medium', 'high'],
      thinkingOff: 'never',
      price: { input: 1.25, output: 10 },
    });
    expect(infoOf('openai/gpt-5').contextWindow).toBeGreaterThan(200_000);
  });

  test('the same name at another address has no price', async () => {
    const { infoOf, lookUp } = createModelInfo({ providers: { openai: { baseUrl: 'http://proxy/v1' } } });
    await lookUp('openai/gpt-5');
    expect(infoOf('openai/gpt-5')).toMatchObject({ label: 'GPT-5' });
    expect(infoOf('openai/gpt-5')).not.toHaveProperty('price');
  });

  test('settings outrank everything: those of a model, then those of its server, then the catalogue', async () => {
    const price = { input: 9, output: 9, cacheRead: 9, cacheWrite: 9, asOf: '2026-01-01' };
    const { infoOf, lookUp } = createModelInfo({
      providers: { openai: { contextWindow: 64_000, maxOutputTokens: 4000 } },
      models: { 'openai/gpt-5': { contextWindow: 50_000, price }, 'claude-sonnet-5-5': { contextWindow: 300_000 } },
    });
    await lookUp('openai/gpt-5');
    expect(infoOf('openai/gpt-5')).toMatchObject({ contextWindow: 50_000, maxOutputTokens: 4000, price });
    expect(infoOf('sonnet')).toMatchObject({ contextWindow: 300_000, price: { input: 2 } });
  });

  test('a newer Claude than our own table knows is found in the catalogue', async () => {
    const { infoOf, lookUp } = createModelInfo({
      pageOf: async (name) => ({
        asOf: '2026-12-01',
        models:
          name === 'anthropic' ? [{ id: 'claude-next-9', name: 'Claude Next', limit: { context: 2_000_000 } }] : [],
      }),
    });
    await lookUp('claude-next-9');
    expect(infoOf('claude-next-9')).toMatchObject({ contextWindow: 2_000_000, promptCache: true });
  });
});

describe('learning of a model that nobody knows', () => {
  test('its server is asked, and nothing is said', async () => {
    await using server = await startJsonServer({ '/v1/models': { data: [{ id: 'big', max_model_len: 98_304 }] } });
    const { infoOf, learn } = createModelInfo();
    const name = `${server.url}/v1#big`;
    expect(await learn(name)).toBeUndefined();
    expect(infoOf(name)).toMatchObject({ contextWindow: 98_304, defaultOutputTokens: 4096, maxOutputTokens: 8192 });
  });

  test('where the server says nothing either, that is said once, with the setting that helps', async () => {
    await using server = await startJsonServer({});
    const { infoOf, learn } = createModelInfo();
    const name = `${server.url}/v1#odd`;
    expect(await learn(name)).toBe(
      `Nobody says what ${name} can do, so a window of 32000 tokens and answers of 8192 are assumed. Your settings can say it: "models": { "${name}": { "contextWindow": 32000 } }.`,
    );
    expect(await learn(name)).toBeUndefined();
    expect(infoOf(name).contextWindow).toBe(32_000);
  });

  test.each(['sonnet', 'claude-unheard-of', 'demo'])('%s is asked about nowhere', async (name) => {
    const asked: string[] = [];
    const send: typeof fetch = async (address: unknown) => {
      asked.push(String(address));
      return new Response('{}');
    };
    expect(await createModelInfo({ fetch: send }).learn(name)).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
