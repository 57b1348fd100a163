import { expect, test } from 'vitest';
import { BUNDLED, bundledPage } from '../../../src/model/facts/bundled.ts';
import { factsOf } from '../../../src/model/facts/model-entry.ts';
import { PRESETS } from '../../../src/model/presets.ts';

test('every page that came with the program can be read, and its models have a window and a price', async () => {
  for (const name of BUNDLED.keys()) {
    const page = await bundledPage(name);
    const facts = (page?.models ?? []).map((entry) => factsOf(entry, page?.asOf ?? ''));
    expect(facts.length, name).toBeGreaterThan(0);
    for (const fact of facts) expect(fact.contextWindow, `${name} ${fact.label}`).toBeGreaterThan(0);
    // Code search and the like are sold by other measures.
    expect(facts.filter(({ price }) => price !== undefined).length / facts.length, name).toBeGreaterThan(0.7);
  }
});

test('every page belongs to a place that can be named, and to us', () => {
  const named = [...PRESETS].map(([name, { catalogue }]) => catalogue ?? name);
  expect([...BUNDLED.keys()].filter((name) => !named.includes(name))).toEqual(['anthropic']);
});

test('a provider nobody wrote down has no page', async () => {
  expect(await bundledPage('nowhere')).toBeUndefined();
});
