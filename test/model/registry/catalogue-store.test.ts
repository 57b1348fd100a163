import { expect, test } from 'vitest';
import { PROVIDER_PRESETS } from '../../../src/model/provider-presets.ts';
import { CATALOGUE_PROVIDERS, loadCataloguePage } from '../../../src/model/registry/catalogue-store.ts';
import { extractModelFacts } from '../../../src/model/registry/model-facts.ts';

test('every bundled catalogue page is valid, and its models have a window and a price', async () => {
  for (const name of CATALOGUE_PROVIDERS) {
    const page = await loadCataloguePage(name);
    const facts = (page?.models ?? []).map((entry) => extractModelFacts(entry, page?.asOf ?? ''));
    expect(facts.length, name).toBeGreaterThan(0);
    for (const fact of facts) expect(fact.contextWindow, `${name} ${fact.label}`).toBeGreaterThan(0);
    // Code search and the like are sold by other measures.
    expect(facts.filter(({ price }) => price !== undefined).length / facts.length, name).toBeGreaterThan(0.7);
  }
});

test('every page belongs to a known provider', () => {
  const named = [...PROVIDER_PRESETS].map(([name, { catalogueId }]) => catalogueId ?? name);
  expect(CATALOGUE_PROVIDERS.filter((name) => !named.includes(name))).toEqual(['anthropic']);
});

test('an unknown provider has no page', async () => {
  expect(await loadCataloguePage('nowhere')).toBeUndefined();
});
