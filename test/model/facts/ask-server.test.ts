import { describe, expect, test } from 'vitest';
import { askServer } from '../../../src/model/facts/ask-server.ts';
import { startJsonServer } from '../../support/json-server.ts';

const QUICK = { send: fetch, timeoutMs: 2000 };

async function askedOf(name: string, answers: Readonly<Record<string, unknown>>, model = 'm') {
  await using server = await startJsonServer(answers);
  const key = async () => 'secret-key';
  const facts = await askServer({ name, baseUrl: `${server.url}/v1`, key }, model, QUICK);
  return { facts, asked: server.asked };
}

describe('what servers say of a model', () => {
  test('OpenRouter: window, output, pictures, tools and prices', async () => {
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

  test('a server on this machine under a name of its own is asked in every way, one that is far away in one', async () => {
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

describe('a server that is of no help', () => {
  test('one that does not know the model says nothing; one that is not there is no answer', async () => {
    expect((await askedOf('groq', { '/v1/models': { data: [{ id: 'other', context_length: 5 }] } })).facts).toEqual({});
    const nowhere = { name: 'groq', baseUrl: 'http://127.0.0.1:1/v1', key: async () => undefined };
    expect(await askServer(nowhere, 'm', QUICK)).toBeUndefined();
  });

  test.each([
    [{ data: 'nonsense' }],
    [7],
    [{ data: [{ id: 'm', context_length: -1, pricing: { prompt: '-1', completion: '-1' } }] }],
  ])('nonsense is left out: %j', async (list) => {
    expect((await askedOf('groq', { '/v1/models': list })).facts).toEqual({});
  });
});
