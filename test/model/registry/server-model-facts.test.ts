import { describe, expect, test } from 'vitest';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { fetchServerModelFacts } from '../../../src/model/registry/server-model-facts.ts';
import { startJsonServer } from '../../support/json-server.ts';

const QUICK = { send: fetch, timeoutMs: 2000 };

async function askedOf(name: string, answers: Readonly<Record<string, unknown>>, model = 'm') {
  await using server = await startJsonServer(answers);
  const getKey = async () => 'secret-key';
  const report = await fetchServerModelFacts({ name, baseUrl: `${server.url}/v1`, getKey }, model, QUICK);
  return { facts: report?.facts, listed: report?.listed, asked: server.asked };
}

describe('model facts reported by servers', () => {
  test('OpenRouter: window, output, images, tools and prices', async () => {
    const entry = {
      id: 'maker/model',
      name: 'Maker: Model',
      context_length: 200_000,
      architecture: { input_modalities: ['text', 'image'] },
      top_provider: { context_length: 131_072, max_completion_tokens: 16_384 },
      supported_parameters: ['tools', 'reasoning'],
      pricing: { prompt: '0.000002', completion: '0.00001', input_cache_read: '0.0000002' },
    };
    const { facts, asked } = await askedOf(
      'openrouter',
      { '/v1/models': { data: [{ id: 'x' }, entry] } },
      'maker/model',
    );
    expect(facts).toEqual({
      label: 'Maker: Model',
      contextWindow: 131_072,
      maxOutputTokens: 16_384,
      vision: true,
      takesTools: true,
      price: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2, asOf: expect.stringMatching(/^\d{4}-/) },
    });
    expect(asked[0]?.headers.authorization).toBe('Bearer secret-key');
  });

  test.each([
    ['vLLM', { data: [{ id: 'm', max_model_len: 40_960 }] }, 40_960],
    ['Groq', { data: [{ id: 'm', context_window: 131_072 }] }, 131_072],
    ['Mistral', { data: [{ id: 'm', max_context_length: 256_000 }] }, 256_000],
    ['Together, which answers with a bare list', [{ id: 'm', context_length: 65_536 }], 65_536],
    ['llama.cpp', { data: [{ id: 'm', meta: { n_ctx: 16_384, n_ctx_train: 131_072 } }] }, 16_384],
  ])('the list of %s', async (_who, list, contextWindow) => {
    expect((await askedOf('groq', { '/v1/models': list })).facts).toMatchObject({ contextWindow });
  });

  test('a list in pages is read to its end, and one that repeats a page ends', async () => {
    const { facts, listed, asked } = await askedOf('gateway', {
      '/v1/models': { data: [{ id: 'a' }], has_more: true, last_id: 'a b' },
      '/v1/models?after_id=a%20b': { data: [{ id: 'm', max_input_tokens: 77_777 }], has_more: true, last_id: 'm' },
      '/v1/models?after_id=m': { data: [], has_more: true, last_id: 'm' },
    });
    expect(facts).toMatchObject({ contextWindow: 77_777 });
    expect(listed).toEqual(['a', 'm']);
    expect(asked.filter(({ path }) => path.startsWith('/v1/models'))).toHaveLength(3);
  });

  test('llama.cpp: the window it was started with', async () => {
    const props = { default_generation_settings: { n_ctx: 49_152 }, modalities: { vision: true } };
    const { facts } = await askedOf('llamacpp', { '/v1/models': { data: [{ id: 'm' }] }, '/props': props });
    expect(facts).toEqual({ contextWindow: 49_152, vision: true });
  });

  const show = (parameters: string, trained = 262_144) => ({
    model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': trained },
    capabilities: ['completion', 'tools'],
    parameters,
  });
  test.each([
    ['what the model is set to', { '/api/show': show('stop "x"\nnum_ctx    65536') }, 65_536],
    [
      'what it runs with',
      { '/api/show': show('num_ctx 65536'), '/api/ps': { models: [{ name: 'm:latest', context_length: 8192 }] } },
      8192,
    ],
    ['no more than is usually set', { '/api/show': show('') }, 32_000],
    ['no more than it was made for', { '/api/show': show('', 4096) }, 4096],
  ])('Ollama: %s', async (_what, answers, contextWindow) => {
    const { facts, asked } = await askedOf('ollama', answers);
    expect(facts).toEqual({ contextWindow, vision: false, takesTools: true });
    expect(asked.find(({ path }) => path === '/api/show')).toMatchObject({ method: 'POST', body: '{"model":"m"}' });
  });

  test('LM Studio: the window a model was loaded with', async () => {
    const list = {
      data: [
        { id: 'm', type: 'vlm', max_context_length: 131_072, loaded_context_length: 8192, capabilities: ['tool_use'] },
      ],
    };
    const { facts } = await askedOf('lmstudio', { '/api/v0/models': list });
    expect(facts).toEqual({ contextWindow: 8192, vision: true, takesTools: true });
  });

  test('LiteLLM: its own table, with prices', async () => {
    const about = {
      max_input_tokens: 200_000,
      max_output_tokens: 64_000,
      input_cost_per_token: 3e-6,
      output_cost_per_token: 1.5e-5,
      supports_vision: true,
    };
    const { facts } = await askedOf('litellm', { '/model/info': { data: [{ model_name: 'm', model_info: about }] } });
    expect(facts).toMatchObject({
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      vision: true,
      price: { input: 3, output: 15 },
    });
  });

  test('Anthropic, Vercel and Hugging Face: window, output, tools and prices under their own names', async () => {
    const models = {
      data: [
        { id: 'claude', display_name: 'Claude', max_input_tokens: 1_000_000, max_tokens: 128_000 },
        {
          ...{ id: 'vercel', context_window: 256_000, max_tokens: 64_000 },
          pricing: { input: '0.000002', output: '0.00001', input_cache_read: '0.0000002' },
        },
        {
          id: 'hf',
          providers: [
            { provider: 'a', context_length: 131_072, supports_tools: true },
            { provider: 'b', context_length: 65_536, supports_tools: false },
          ],
        },
      ],
    };
    const answers = { '/v1/models': models };
    const { facts, listed } = await askedOf('groq', answers, 'claude');
    expect(facts).toEqual({ label: 'Claude', contextWindow: 1_000_000, maxOutputTokens: 128_000 });
    expect(listed).toEqual(['claude', 'vercel', 'hf']);
    expect((await askedOf('groq', answers, 'vercel')).facts).toMatchObject({
      contextWindow: 256_000,
      maxOutputTokens: 64_000,
      price: { input: 2, output: 10, cacheRead: 0.2 },
    });
    expect((await askedOf('groq', answers, 'hf')).facts).toEqual({ contextWindow: 65_536, takesTools: true });
  });

  test('a local server with a custom name is queried in every way, a remote one in one', async () => {
    const { facts, asked } = await askedOf('mine', { '/props': { default_generation_settings: { n_ctx: 12_288 } } });
    expect(facts).toEqual({ contextWindow: 12_288 });
    expect(asked.map(({ path }) => path).toSorted()).toEqual([
      '/api/ps',
      '/api/show',
      '/api/v0/models',
      '/model/info',
      '/props',
      '/v1/models',
    ]);
  });
});

describe('a server without facts', () => {
  test('one that does not know the model has no facts; a missing one is no answer', async () => {
    expect((await askedOf('groq', { '/v1/models': { data: [{ id: 'other', context_length: 5 }] } })).facts).toEqual({});
    const nowhere: Parameters<typeof fetchServerModelFacts>[0] = {
      name: 'groq',
      baseUrl: 'http://127.0.0.1:1/v1',
      getKey: async () => undefined,
    };
    expect(await fetchServerModelFacts(nowhere, 'm', QUICK)).toBeUndefined();
  });

  test.each([
    [{ data: 'nonsense' }],
    [7],
    [{ data: [{ id: 'm', context_length: -1, pricing: { prompt: '-1', completion: '-1' } }] }],
  ])('nonsense is left out: %j', async (list) => {
    expect((await askedOf('groq', { '/v1/models': list })).facts).toEqual({});
  });
});
