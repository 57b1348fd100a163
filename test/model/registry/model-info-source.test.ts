import { describe, expect, test } from 'vitest';
import { createModelInfoSource } from '../../../src/model/registry/model-info-source.ts';
import { startJsonServer } from '../../support/json-server.ts';

describe('facts about a model', () => {
  test('of a named provider: the catalogue, once it is loaded', async () => {
    const { infoOf, lookUp } = createModelInfoSource();
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

  test('the same name at another URL has no price', async () => {
    const { infoOf, lookUp } = createModelInfoSource({ providers: { openai: { baseUrl: 'http://proxy/v1' } } });
    await lookUp('openai/gpt-5');
    expect(infoOf('openai/gpt-5')).toMatchObject({ label: 'GPT-5' });
    expect(infoOf('openai/gpt-5')).not.toHaveProperty('price');
  });

  test('settings override everything: of the model, then of its server, then the catalogue', async () => {
    const price = { input: 9, output: 9, cacheRead: 9, cacheWrite: 9, asOf: '2026-01-01' };
    const { infoOf, lookUp } = createModelInfoSource({
      providers: { openai: { contextWindow: 64_000, maxOutputTokens: 4000 } },
      models: { 'openai/gpt-5': { contextWindow: 50_000, price }, 'claude-sonnet-5-5': { contextWindow: 300_000 } },
    });
    await lookUp('openai/gpt-5');
    expect(infoOf('openai/gpt-5')).toMatchObject({ contextWindow: 50_000, maxOutputTokens: 4000, price });
    expect(infoOf('sonnet')).toMatchObject({ contextWindow: 300_000, price: { input: 2 } });
  });

  test('a newer Claude model than the built-in table is found in the catalogue', async () => {
    const { infoOf, lookUp } = createModelInfoSource({
      loadPage: async (name) => ({
        asOf: '2026-12-01',
        models:
          name === 'anthropic' ? [{ id: 'claude-next-9', name: 'Claude Next', limit: { context: 2_000_000 } }] : [],
      }),
    });
    await lookUp('claude-next-9');
    expect(infoOf('claude-next-9')).toMatchObject({ contextWindow: 2_000_000, promptCache: true });
  });
});

describe('looking up an unknown model', () => {
  test('its server is asked, without a notice', async () => {
    await using server = await startJsonServer({ '/v1/models': { data: [{ id: 'big', max_model_len: 98_304 }] } });
    const { infoOf, loadInfo } = createModelInfoSource();
    const name = `${server.url}/v1#big`;
    expect(await loadInfo(name)).toBeUndefined();
    expect(infoOf(name)).toMatchObject({ contextWindow: 98_304, defaultOutputTokens: 4096, maxOutputTokens: 8192 });
  });

  test('if the server does not know it either, one notice names the setting to use', async () => {
    await using server = await startJsonServer({});
    const { infoOf, loadInfo } = createModelInfoSource();
    const name = `${server.url}/v1#odd`;
    expect(await loadInfo(name)).toBe(
      `The limits of ${name} are unknown; assuming a context window of 32000 and an output limit of 8192 tokens. Set them in your settings: "models": { "${name}": { "contextWindow": 32000 } }.`,
    );
    expect(await loadInfo(name)).toBeUndefined();
    expect(infoOf(name).contextWindow).toBe(32_000);
  });

  test.each(['sonnet', 'claude-unheard-of', 'demo'])('%s is looked up nowhere', async (name) => {
    const asked: string[] = [];
    const send: typeof fetch = async (address: unknown) => {
      asked.push(String(address));
      return new Response('{}');
    };
    expect(await createModelInfoSource({ fetch: send }).loadInfo(name)).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
