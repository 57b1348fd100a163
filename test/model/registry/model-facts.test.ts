import { expect, test } from 'vitest';
import { catalogueEntrySchema, extractModelFacts } from '../../../src/model/registry/model-facts.ts';

const ENTRY = {
  id: 'gpt-9',
  name: 'GPT-9',
  reasoning: true,
  reasoning_options: [{ type: 'effort', values: ['none', 'low', 'high', 'xhigh'] }],
  tool_call: true,
  knowledge: '2026-03',
  modalities: { input: ['text', 'image'], output: ['text'] },
  cost: { input: 2, output: 10, cache_read: 0.2, tiers: [{ input: 4, output: 15, tier: { size: 200_000 } }] },
  limit: { context: 400_000, output: 128_000 },
};

test('an entry has window, output, price with cache, images, efforts, tools and a date', () => {
  expect(extractModelFacts(catalogueEntrySchema.parse(ENTRY), '2026-11-10')).toEqual({
    label: 'GPT-9',
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    vision: true,
    takesTools: true,
    thinking: { levels: ['low', 'high', 'xhigh'], mayStop: true },
    price: {
      input: 2,
      output: 10,
      cacheRead: 0.2,
      cacheWrite: 2,
      long: { aboveTokens: 200_000, input: 4, output: 15, cacheRead: 4, cacheWrite: 4 },
      asOf: '2026-11-10',
    },
    knowledge: '2026-03',
  });
});

test('an unknown price stays unknown, and an output limit as large as the window leaves space for the prompt', () => {
  const { cost: _cost, ...free } = { ...ENTRY, limit: { context: 32_000, output: 32_000 } };
  const facts = extractModelFacts(catalogueEntrySchema.parse(free), '2026-11-10');
  expect(facts).not.toHaveProperty('price');
  expect(facts).toMatchObject({ contextWindow: 32_000, maxOutputTokens: 16_000 });
});

test.each([
  [[{ type: 'effort', values: ['low', 'medium', 'high'] }], { levels: ['low', 'medium', 'high'], mayStop: false }],
  [[{ type: 'toggle' }], { levels: [], mayStop: true }],
  [[{ type: 'budget_tokens' }], { levels: ['low', 'medium', 'high'], mayStop: true }],
  [undefined, { levels: ['low', 'medium', 'high'], mayStop: true }],
])('thinking described by %j', (options, thinking) => {
  const { reasoning_options: _options, ...entry } = ENTRY;
  const said = { ...entry, ...(options && { reasoning_options: options }) };
  expect(extractModelFacts(catalogueEntrySchema.parse(said), 'now').thinking).toEqual(thinking);
});
