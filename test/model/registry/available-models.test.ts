import { expect, test } from 'vitest';
import { listAvailableModels } from '../../../src/model/registry/available-models.ts';
import type { ModelConfig } from '../../../src/model/registry/model-config.ts';
import { createModelInfoSource } from '../../../src/model/registry/model-info-source.ts';
import { startJsonServer } from '../../support/json-server.ts';

async function offered(config: Omit<ModelConfig, 'model'>) {
  const whole = { ...config, model: 'x' };
  return listAvailableModels(whole, createModelInfoSource(whole), { servers: [] });
}

test('models of all providers with a key are listed with provider and key; the other providers are named', async () => {
  await using server = await startJsonServer({
    '/v1/models': { data: [{ id: 'big', max_model_len: 9000 }, { id: 'small' }] },
  });
  const providers = { work: { baseUrl: `${server.url}/v1`, apiKey: 'secret', keySource: 'WORK_KEY' }, groq: {} };
  const { models, unconfigured } = await offered({ apiKey: 'k', keySource: 'ANTHROPIC_API_KEY', providers });
  expect(models.map(({ info, provider, keySource }) => [info.id, info.contextWindow, provider, keySource])).toEqual([
    ['claude-opus-5-5', 1_000_000, 'Anthropic', 'ANTHROPIC_API_KEY'],
    ['claude-sonnet-5-5', 1_000_000, 'Anthropic', 'ANTHROPIC_API_KEY'],
    ['claude-haiku-5-5', 1_000_000, 'Anthropic', 'ANTHROPIC_API_KEY'],
    ['claude-fable-5-2', 1_000_000, 'Anthropic', 'ANTHROPIC_API_KEY'],
    ['work/big', 9000, 'work', 'WORK_KEY'],
    ['work/small', 32_000, 'work', 'WORK_KEY'],
  ]);
  expect(server.asked[0]?.headers.authorization).toBe('Bearer secret');
  expect(unconfigured.map(({ name }) => name)).toContain('groq');
  expect(unconfigured.map(({ name }) => name)).not.toContain('anthropic');
  expect(unconfigured.map(({ name }) => name)).not.toContain('ollama');
});

test('image, audio and tool-less models are omitted where the catalogue knows them', async () => {
  const list = [{ id: 'gpt-5' }, { id: 'dall-e-9' }, { id: 'gpt-5-mini', supported_parameters: [] }];
  await using server = await startJsonServer({ '/v1/models': { data: list } });
  const { models } = await offered({ providers: { openai: { baseUrl: `${server.url}/v1`, apiKey: 'k' } } });
  expect(models.map(({ info }) => info.id)).toEqual(['openai/gpt-5']);
  await using other = await startJsonServer({
    '/v1/models': {
      data: [
        { id: 'a/b', supported_parameters: ['tools'] },
        { id: 'c/d', supported_parameters: [] },
      ],
    },
  });
  const { models: routed } = await offered({ providers: { openrouter: { baseUrl: `${other.url}/v1`, apiKey: 'k' } } });
  expect(routed.map(({ info }) => info.id)).toEqual(['openrouter/a/b']);
});

test('models of a provider that does not answer are listed from the catalogue', async () => {
  const providers = { deepseek: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k' } };
  const { models } = await offered({ providers });
  expect(models.map(({ info }) => info.id)).toContain('deepseek/deepseek-v4-pro');
});

test('a key of other programs is not sent to a provider that was not configured', async () => {
  const asked: string[] = [];
  const send: typeof fetch = async (address: unknown) => {
    asked.push(String(address));
    return new Response('{"data":[{"id":"m"}]}');
  };
  await offered({ providers: { github: { apiKey: 'k' }, groq: { apiKey: 'k' }, openai: {} }, fetch: send });
  expect(asked).toEqual(['https://api.groq.com/openai/v1/models']);
});

test('a key helper command is run', async () => {
  await using server = await startJsonServer({ '/v1/models': { data: [{ id: 'm' }] } });
  const work = { baseUrl: `${server.url}/v1`, fetchKey: async () => 'fetched', keySource: 'apiKeyHelper' };
  const { models } = await offered({ providers: { work } });
  expect(models.map(({ provider, keySource }) => [provider, keySource])).toEqual([['work', 'apiKeyHelper']]);
  expect(server.asked[0]?.headers.authorization).toBe('Bearer fetched');
});
