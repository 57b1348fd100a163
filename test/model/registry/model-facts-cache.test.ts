import { expect, test } from 'vitest';
import type { CataloguePage } from '../../../src/model/registry/catalogue-store.ts';
import type { ModelFacts } from '../../../src/model/registry/model-facts.ts';
import {
  createModelFactsCache,
  findCatalogueEntry,
  type ServedModel,
} from '../../../src/model/registry/model-facts-cache.ts';

const PAGE: CataloguePage = {
  asOf: '2026-11-10',
  models: [
    { id: 'gpt-9', name: 'GPT-9', limit: { context: 400_000, output: 100_000 } },
    { id: 'nameless', name: 'Nameless' },
  ],
};

function served(model: string): ServedModel {
  return {
    model,
    catalogueId: 'openai',
    server: { name: 'openai', baseUrl: 'http://there/v1', getKey: async () => undefined },
    isGateway: true,
  };
}

function known(answers: readonly (ModelFacts | undefined)[]) {
  const asked: string[] = [];
  const models = createModelFactsCache({
    loadPage: async (name) => (name === 'openai' ? PAGE : undefined),
    searchPages: async () => undefined,
    async askServer(_server, model) {
      const facts = answers[asked.push(model) - 1];
      return facts && { facts, listed: [] };
    },
    onChange: () => undefined,
  });
  return { models, asked };
}

test('a name with a date, a variant or other case means the same model', () => {
  const names = ['GPT-9', 'gpt-9-2026-03-05', 'gpt-9-20260305', 'models/gpt-9', 'gpt-9:free', 'gpt-90', 'gpt'];
  expect(names.map((name) => findCatalogueEntry(PAGE, name)?.id)).toEqual([
    'gpt-9',
    'gpt-9',
    'gpt-9',
    'gpt-9',
    'gpt-9',
    undefined,
    undefined,
  ]);
});

test('what the catalogue knows is not requested; before it is loaded, nothing is known', async () => {
  const { models, asked } = known([{ contextWindow: 1 }]);
  expect(models.getFacts(served('gpt-9'))).toBeUndefined();
  await models.loadFacts(served('gpt-9'));
  expect(models.getFacts(served('gpt-9'))).toMatchObject({ label: 'GPT-9', contextWindow: 400_000 });
  expect(asked).toEqual([]);
});

test('the server is asked once for what the catalogue lacks', async () => {
  const { models, asked } = known([{ contextWindow: 64_000 }]);
  await Promise.all([models.loadFacts(served('nameless')), models.loadFacts(served('nameless'))]);
  await models.loadFacts(served('nameless'));
  expect(models.getFacts(served('nameless'))).toEqual({ label: 'Nameless', contextWindow: 64_000 });
  expect(asked).toEqual(['nameless']);
});

test('a server that did not answer is asked again', async () => {
  const { models } = known([undefined, { contextWindow: 8000 }]);
  await models.loadFacts(served('other'));
  expect(models.getFacts(served('other'))).toBeUndefined();
  await models.loadFacts(served('other'));
  expect(models.getFacts(served('other'))).toEqual({ contextWindow: 8000 });
});
