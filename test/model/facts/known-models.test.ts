import { expect, test } from 'vitest';
import type { CataloguePage } from '../../../src/model/facts/bundled.ts';
import { createKnownModels, entryNamed, type ServedModel } from '../../../src/model/facts/known-models.ts';
import type { ModelFacts } from '../../../src/model/facts/model-entry.ts';

const PAGE: CataloguePage = {
  asOf: '2026-11-10',
  models: [
    { id: 'gpt-9', name: 'GPT-9', limit: { context: 400_000, output: 100_000 } },
    { id: 'nameless', name: 'Nameless' },
  ],
};

function served(model: string): ServedModel {
  const server = { name: 'openai', baseUrl: 'http://there/v1', key: async () => undefined };
  return { model, catalogue: 'openai', server };
}

function known(answers: readonly (ModelFacts | undefined)[]) {
  const asked: string[] = [];
  const models = createKnownModels({
    pageOf: async (name) => (name === 'openai' ? PAGE : undefined),
    askServer: async (_server, model) => answers[asked.push(model) - 1],
  });
  return { models, asked };
}

test('a name with a date, a choice or other letters means the model it belongs to', () => {
  const names = ['GPT-9', 'gpt-9-2026-03-05', 'gpt-9-20260305', 'models/gpt-9', 'gpt-9:free', 'gpt-90', 'gpt'];
  expect(names.map((name) => entryNamed(PAGE, name)?.id)).toEqual([
    'gpt-9',
    'gpt-9',
    'gpt-9',
    'gpt-9',
    'gpt-9',
    undefined,
    undefined,
  ]);
});

test('what the catalogue knows is asked of nobody; before it is looked up, nothing is known', async () => {
  const { models, asked } = known([{ contextWindow: 1 }]);
  expect(models.factsOf(served('gpt-9'))).toBeUndefined();
  await models.learn(served('gpt-9'));
  expect(models.factsOf(served('gpt-9'))).toMatchObject({ label: 'GPT-9', contextWindow: 400_000 });
  expect(asked).toEqual([]);
});

test('the server is asked once for what the catalogue lacks', async () => {
  const { models, asked } = known([{ contextWindow: 64_000 }]);
  await Promise.all([models.learn(served('nameless')), models.learn(served('nameless'))]);
  await models.learn(served('nameless'));
  expect(models.factsOf(served('nameless'))).toEqual({ label: 'Nameless', contextWindow: 64_000 });
  expect(asked).toEqual(['nameless']);
});

test('a server that did not answer is asked again', async () => {
  const { models } = known([undefined, { contextWindow: 8000 }]);
  await models.learn(served('other'));
  expect(models.factsOf(served('other'))).toBeUndefined();
  await models.learn(served('other'));
  expect(models.factsOf(served('other'))).toEqual({ contextWindow: 8000 });
});
