import { describe, expect, test } from 'vitest';
import { SECRET_VARIABLES } from '../../src/contracts/environment.ts';
import { listEfforts } from '../../src/model/efforts.ts';
import { findPresetKeys, PROVIDER_PRESETS } from '../../src/model/provider-presets.ts';
import { loadCataloguePage } from '../../src/model/registry/catalogue-store.ts';
import { createModelRegistry } from '../../src/model/registry/model-registry.ts';
import { parseModelName } from '../../src/model/registry/model-route.ts';
import { OPENAI } from './dialects.ts';
import { startFaultServer, status, stream } from './fault-server.ts';
import { drain, REQUEST } from './support.ts';

const NAMES = [...PROVIDER_PRESETS.keys()];
const NEED_KEYS = [...PROVIDER_PRESETS].filter(([, { keyVariables }]) => keyVariables.length > 0);
const QUICK = { retry: { limits: () => ({ maxRetries: 0 }) } };

test.each(NAMES)('%s/x is a model of that provider, whatever else is in its name', (name) => {
  for (const model of ['x', 'org/x:free', 'x@1']) {
    expect(parseModelName(`${name}/${model}`)).toMatchObject({ provider: 'openai', name, model });
  }
});

test('the default and the small model of each provider are in its catalogue', async () => {
  for (const [name, { defaultModel, smallModel, catalogueId = name }] of NEED_KEYS) {
    const page = await loadCataloguePage(catalogueId);
    const names = page?.models.map(({ id }) => id) ?? [];
    for (const model of [defaultModel, smallModel])
      if (model !== undefined && page !== undefined) expect(names).toContain(model);
  }
});

test.each(NEED_KEYS)(
  '%s without its key names the variable to set, at the start and in a fallback',
  async (name, preset) => {
    const words = new RegExp(`^${preset.label} needs an API key. Set ${preset.keyVariables[0]}, `);
    expect(createModelRegistry({ model: `${name}/x` })).toMatchObject({
      ok: false,
      problem: expect.stringMatching(words),
    });
    const other = createModelRegistry({ model: 'demo', ...QUICK });
    expect(other.ok && (await drain(other.port, { request: { ...REQUEST, model: `${name}/x` } }))).toMatchObject({
      outcome: { ok: false, failure: { kind: 'auth', message: expect.stringMatching(words) } },
    });
  },
);

test('keys are read from the variables of each provider; provider-only variables are kept from commands', () => {
  for (const [name, { keyVariables, sharesKeyVariables }] of NEED_KEYS) {
    expect(findPresetKeys({ [keyVariables[0] ?? '']: ' k\n' })).toEqual([
      [name, { apiKey: 'k', keySource: keyVariables[0] }],
    ]);
    expect(SECRET_VARIABLES.includes(keyVariables[0] ?? '')).toBe(sharesKeyVariables !== true);
  }
  expect(findPresetKeys({ GROQ_API_KEY: ' ' })).toEqual([]);
});

describe('reasoning effort', () => {
  const fine = stream([OPENAI.open, ...OPENAI.text(0, 'Yes'), ...OPENAI.done('text')]);

  test.each([
    ['groq', 'high', { reasoning_effort: 'high' }],
    ['groq', 'off', { reasoning_effort: 'none' }],
    ['groq', 'auto', {}],
    ['openrouter', 'low', { reasoning: { effort: 'low' } }],
    ['openrouter', 'off', { reasoning: { enabled: false } }],
    ['deepseek', 'off', { thinking: { type: 'disabled' } }],
    ['moonshot', 'medium', { thinking: { type: 'enabled' } }],
    ['mistral', 'high', {}],
  ] as const)('%s is told %s in its own way', async (name, effort, fields) => {
    await using server = await startFaultServer(fine);
    const choice = createModelRegistry({
      model: `${name}/x`,
      providers: { [name]: { baseUrl: server.url, apiKey: 'k' } },
    });
    if (!choice.ok) throw new Error(choice.problem);
    await drain(choice.port, { request: { ...REQUEST, model: `${name}/x`, effort } });
    const { reasoning_effort, reasoning, thinking } = JSON.parse(server.seen[0]?.body ?? '{}');
    expect({ reasoning_effort, reasoning, thinking }).toEqual(fields);
  });

  test('a model that does not support it is asked again without', async () => {
    const body = JSON.stringify({ error: { message: "'reasoning_effort' is not supported with this model" } });
    await using server = await startFaultServer(status(400, body), fine);
    const choice = createModelRegistry({ model: 'groq/x', providers: { groq: { baseUrl: server.url } }, ...QUICK });
    if (!choice.ok) throw new Error(choice.problem);
    const { outcome } = await drain(choice.port, { request: { ...REQUEST, model: 'groq/x', effort: 'low' } });
    expect(outcome.ok).toBe(true);
    expect(server.seen.map((seen) => seen.body.includes('reasoning_effort'))).toEqual([true, false]);
  });

  test('the levels are those of the provider', () => {
    const providers = { deepseek: { apiKey: 'k' } };
    const choice = createModelRegistry({ model: 'deepseek/x', providers });
    if (!choice.ok) throw new Error(choice.problem);
    expect(['deepseek/x', 'groq/x', 'mistral/x', 'ollama/x'].map((name) => listEfforts(choice.infoOf(name)))).toEqual([
      ['auto', 'off'],
      ['auto', 'off', 'low', 'medium', 'high'],
      ['auto', 'off'],
      ['auto', 'off'],
    ]);
  });
});
