import { describe, expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import type { Settings } from '../../../src/contracts/settings.ts';
import type { StoredApiKeys } from '../../../src/model/api-keys.ts';
import { explainMissingModel, NO_ANTHROPIC_KEY_MESSAGE } from '../../../src/model/registry/explain-missing-model.ts';
import { openModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { readProviderConfigs } from '../../../src/model/registry/provider-settings.ts';
import { discoverLocalServers } from '../../../src/model/registry/server-discovery.ts';
import { resolveTimeoutsAndRetries } from '../../../src/settings/effective-environment.ts';
import { startOpenAiServer } from '../../support/api/openai-server.ts';
import { runOptions } from '../../support/run-options.ts';

const OPTIONS = runOptions({ frontend: 'print' });
const KEY = { ANTHROPIC_API_KEY: 'k' };

type Said = {
  readonly flag?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Settings;
  readonly stored?: { readonly model?: string; readonly apiKey?: string };
};

function choose({ flag, env = KEY, settings = {}, stored = {} }: Said) {
  const options = flag === undefined ? OPTIONS : { ...OPTIONS, model: flag };
  const environment = readEnvironment(env);
  const { apiKey, ...rest } = stored;
  const keys: StoredApiKeys = new Map(
    apiKey === undefined ? [] : [['anthropic', { key: apiKey, source: 'stored key' }]],
  );
  return openModelRegistry(options, settings, environment, () => resolveTimeoutsAndRetries(environment, settings), {
    ...rest,
    keys,
  });
}

describe('the model', () => {
  const everything: Said = {
    flag: 'opus',
    stored: { model: 'claude-sonnet-4-6' },
    env: { ...KEY, ANTHROPIC_MODEL: 'haiku' },
    settings: { model: 'claude-nova-9' },
  };
  test.each<[string, keyof Said | 'nothing', string]>([
    ['the flag wins', 'nothing', 'claude-opus-5-5'],
    ['then the session', 'flag', 'claude-sonnet-4-6'],
    ['then the environment', 'stored', 'claude-haiku-5-5'],
    ['then the settings', 'env', 'claude-nova-9'],
    ['then ours', 'settings', 'claude-sonnet-5-5'],
  ])('%s', (_what, without, model) => {
    const order = ['flag', 'stored', 'env', 'settings'];
    const left = Object.entries(everything).filter(([name]) => order.indexOf(name) > order.indexOf(without));
    expect(choose(Object.fromEntries(left))).toMatchObject({ ok: true, model });
  });
});

describe('the key', () => {
  test.each<[string, Said, string]>([
    ['of the environment', { settings: { apiKeyHelper: 'x' }, stored: { apiKey: 'y' } }, 'ANTHROPIC_API_KEY'],
    ['a token', { env: { ANTHROPIC_AUTH_TOKEN: 't' }, settings: { apiKeyHelper: 'x' } }, 'ANTHROPIC_AUTH_TOKEN'],
    ['of a helper', { env: {}, settings: { apiKeyHelper: 'x' }, stored: { apiKey: 'y' } }, 'apiKeyHelper'],
    ['that was stored', { env: {}, stored: { apiKey: 'y' } }, 'stored key'],
  ])('%s', (_what, said, keySource) => {
    expect(choose(said)).toMatchObject({ ok: true, keySource });
  });

  test('blanks and line ends around a pasted key are removed; blanks alone are no key', () => {
    expect(readEnvironment({ ANTHROPIC_API_KEY: ' abc\n' }).credentials).toEqual({ apiKey: 'abc' });
    expect(readEnvironment({ ANTHROPIC_API_KEY: ' \n' }).credentials).toEqual({});
  });
});

describe('other providers', () => {
  test('a variable of the user holds the key; the environment completes OpenAI', () => {
    const providers = { mine: { baseUrl: 'http://mine/v1', apiKeyEnv: 'MY_KEY', contextWindow: 64_000, vision: true } };
    const choice = choose({ flag: 'mine/fast', env: { MY_KEY: 'secret' }, settings: { providers } });
    expect(choice).toMatchObject({ ok: true, provider: 'openai', model: 'mine/fast', keySource: 'none' });
    expect(choice.ok && choice.infoOf('mine/fast')).toMatchObject({ contextWindow: 64_000, vision: true });
    expect(choose({ flag: 'openai/gpt', env: { OPENAI_BASE_URL: 'http://there/v1' } })).toMatchObject({ ok: true });
  });

  test.each([
    [{ mine: { baseUrl: 'localhost:1' } }, /providers\.mine\.baseUrl.*http/],
    [{ mine: { baseUrl: 'http://x/v1', windows: 3 } }, /providers\.mine.*windows/],
    [{ mine: 'http://x' }, /providers\.mine/],
  ])('%j is told with its place', (providers, words) => {
    const choice = choose({ settings: { providers } });
    expect(choice).toMatchObject({ ok: false, problem: expect.stringMatching(words) });
  });
});

test('limits come from the environment first, then from the settings', () => {
  const environment = readEnvironment({
    OURO_BASH_TIMEOUT_MS: '5',
    OURO_MAX_RETRIES: 'lots',
    OURO_HEADER_TIMEOUT_MS: '0',
  });
  const settings = { timeouts: { bashMs: 7, bashMaxMs: 9 }, maxRetries: 2 };
  expect(resolveTimeoutsAndRetries(environment, settings)).toMatchObject({
    bashTimeoutMs: 5,
    bashMaxTimeoutMs: 9,
    maxRetries: 2,
    headerTimeoutMs: 0,
  });
  expect(environment.problems).toEqual(['OURO_MAX_RETRIES is "lots", which is not a whole number. It is ignored.']);
});

test('without a key a server on this machine is named with the command to use it', async () => {
  await using server = await startOpenAiServer({ turns: [] });
  const servers = [
    { name: 'Ollama', prefix: 'ollama', port: Number(new URL(server.url).port) },
    { name: 'Nobody', prefix: 'nobody', port: 1 },
  ];
  const { problem } = await explainMissingModel(
    { problem: NO_ANTHROPIC_KEY_MESSAGE, code: 'no_api_key' },
    { groq: { apiKey: 'k', keySource: 'GROQ_API_KEY' }, github: { apiKey: 'k', keySource: 'GITHUB_TOKEN' } },
    () => discoverLocalServers({ servers }),
  );
  expect(problem).toBe(
    `${NO_ANTHROPIC_KEY_MESSAGE}\nFound an API key for Groq (GROQ_API_KEY): --model groq/openai/gpt-oss-120b\nOllama is running on this machine: --model ollama/qwen3:8b`,
  );
});

test('any other problem is reported unchanged, and no server is probed', async () => {
  const discover = async () => expect.unreachable();
  expect(await explainMissingModel({ problem: 'The setting is wrong.' }, {}, discover)).toEqual({
    ok: false,
    problem: 'The setting is wrong.',
  });
});

describe('keys of other providers', () => {
  const stored = new Map([['groq', { key: 'of-the-store', source: 'stored key' }]]);
  const read = (env: Readonly<Record<string, string>>, settings: Settings) => {
    const result = readProviderConfigs(settings, readEnvironment(env), stored);
    if (!result.ok) throw new Error(result.problem);
    const { groq } = result.providers;
    return [groq?.apiKey ?? 'fetched', groq?.keySource];
  };

  test('the order is: settings, the variable they name, a helper, the usual variable, the store', () => {
    const provider = (said: Record<string, string>) => ({ providers: { groq: said } });
    expect([
      read({ GROQ_API_KEY: 'usual' }, provider({ apiKey: 'written' })),
      read({ GROQ_API_KEY: 'usual', MINE: 'named' }, provider({ apiKeyEnv: 'MINE', apiKeyHelper: 'echo x' })),
      read({}, provider({ apiKeyHelper: 'echo x' })),
      read({ GROQ_API_KEY: 'usual' }, {}),
      read({}, {}),
    ]).toEqual([
      ['written', 'settings'],
      ['named', 'MINE'],
      ['fetched', 'apiKeyHelper'],
      ['usual', 'GROQ_API_KEY'],
      ['of-the-store', 'stored key'],
    ]);
  });
});
