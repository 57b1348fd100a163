import { describe, expect, test } from 'vitest';
import { SECRETS } from '../../src/contracts/environment.ts';
import { choosePort } from '../../src/model/choose/choose-port.ts';
import { locateModel } from '../../src/model/choose/model-name.ts';
import { effortsOf } from '../../src/model/efforts.ts';
import { bundledPage } from '../../src/model/facts/bundled.ts';
import { PRESETS, presetKeys } from '../../src/model/presets.ts';
import { OPENAI } from './dialects.ts';
import { startFaultServer, status, stream } from './fault-server.ts';
import { drain, REQUEST } from './support.ts';

const NAMES = [...PRESETS.keys()];
const NEED_KEYS = [...PRESETS].filter(([, { keys }]) => keys.length > 0);
const QUICK = { retry: { limits: () => ({ maxRetries: 0 }) } };

test.each(NAMES)('%s/x is a model of that place, whatever else is in its name', (name) => {
  for (const model of ['x', 'org/x:free', 'x@1']) {
    expect(locateModel(`${name}/${model}`)).toMatchObject({ provider: 'openai', name, model });
  }
});

test('the model to begin with and the small one of each place are in its catalogue', async () => {
  for (const [name, { main, small, catalogue = name }] of NEED_KEYS) {
    const page = await bundledPage(catalogue);
    const names = page?.models.map(({ id }) => id) ?? [];
    for (const model of [main, small]) if (model !== undefined && page !== undefined) expect(names).toContain(model);
  }
});

test.each(NEED_KEYS)(
  '%s without its key says which variable to set, at the start and in a fallback',
  async (name, preset) => {
    const words = new RegExp(`^${preset.label} needs a key. Set ${preset.keys[0]}, `);
    expect(choosePort({ model: `${name}/x` })).toMatchObject({ ok: false, problem: expect.stringMatching(words) });
    const other = choosePort({ model: 'demo', ...QUICK });
    expect(other.ok && (await drain(other.port, { request: { ...REQUEST, model: `${name}/x` } }))).toMatchObject({
      outcome: { ok: false, failure: { kind: 'auth', message: expect.stringMatching(words) } },
    });
  },
);

test('keys come from the variables of each place; those that are theirs alone are kept from commands', () => {
  for (const [name, { keys, sharesKeys }] of NEED_KEYS) {
    expect(presetKeys({ [keys[0] ?? '']: ' k\n' })).toEqual([[name, { apiKey: 'k', keySource: keys[0] }]]);
    expect(SECRETS.includes(keys[0] ?? '')).toBe(sharesKeys !== true);
  }
  expect(presetKeys({ GROQ_API_KEY: ' ' })).toEqual([]);
});

describe('how hard to think', () => {
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
    const choice = choosePort({ model: `${name}/x`, providers: { [name]: { baseUrl: server.url, apiKey: 'k' } } });
    if (!choice.ok) throw new Error(choice.problem);
    await drain(choice.port, { request: { ...REQUEST, model: `${name}/x`, effort } });
    const { reasoning_effort, reasoning, thinking } = JSON.parse(server.seen[0]?.body ?? '{}');
    expect({ reasoning_effort, reasoning, thinking }).toEqual(fields);
  });

  test('a model that cannot be told is asked once more without', async () => {
    const body = JSON.stringify({ error: { message: "'reasoning_effort' is not supported with this model" } });
    await using server = await startFaultServer(status(400, body), fine);
    const choice = choosePort({ model: 'groq/x', providers: { groq: { baseUrl: server.url } }, ...QUICK });
    if (!choice.ok) throw new Error(choice.problem);
    const { outcome } = await drain(choice.port, { request: { ...REQUEST, model: 'groq/x', effort: 'low' } });
    expect(outcome.ok).toBe(true);
    expect(server.seen.map((seen) => seen.body.includes('reasoning_effort'))).toEqual([true, false]);
  });

  test('the levels are those of the place', () => {
    const providers = { deepseek: { apiKey: 'k' } };
    const choice = choosePort({ model: 'deepseek/x', providers });
    if (!choice.ok) throw new Error(choice.problem);
    expect(['deepseek/x', 'groq/x', 'mistral/x', 'ollama/x'].map((name) => effortsOf(choice.infoOf(name)))).toEqual([
      ['auto', 'off'],
      ['auto', 'off', 'low', 'medium', 'high'],
      ['auto', 'off'],
      ['auto', 'off'],
    ]);
  });
});
