import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fetch } from '../../../src/lib/network/fetch.ts';
import {
  type CatalogueUpdateCounts,
  createCataloguePageLoader,
  updateCatalogue,
} from '../../../src/model/registry/catalogue-store.ts';
import { startJsonServer } from '../../support/json-server.ts';
import { createTempProject } from '../../support/temp-project.ts';

const talks = { modalities: { input: ['text'], output: ['text'] } };
const CATALOGUE = {
  openai: {
    models: {
      'gpt-99': { id: 'gpt-99', name: 'GPT-99', limit: { context: 5_000_000, output: 1000 }, ...talks },
      paints: { id: 'paints', name: 'Paints', modalities: { input: ['text'], output: ['image'] } },
      broken: { id: 'broken', limit: 'wide' },
    },
  },
  unheard: { models: { x: { id: 'x', name: 'X' } } },
};

test('downloaded pages are used, older models stay, and unknown providers are omitted', async () => {
  await using project = await createTempProject();
  await using server = await startJsonServer({ '/api.json': CATALOGUE });
  const order = { url: `${server.url}/api.json`, folder: project.dir, today: '2026-12-24', send: fetch };
  const expected: CatalogueUpdateCounts = { providers: 1, models: 1, skipped: 1 };
  expect(await updateCatalogue(order)).toEqual(expected);
  expect((await readdir(project.dir)).filter((name) => name.endsWith('.json'))).toEqual(['openai.json']);
  const page = await createCataloguePageLoader(project.dir)('openai');
  expect(page?.asOf).toBe('2026-12-24');
  expect(page?.models[0]).toMatchObject({ id: 'gpt-99', limit: { context: 5_000_000 } });
  expect(page?.models.map(({ id }) => id)).toContain('gpt-5');
});

test('pages of a newer program override earlier downloads', async () => {
  await using project = await createTempProject();
  await using server = await startJsonServer({
    '/api.json': { openai: { models: { 'gpt-5': { id: 'gpt-5', name: 'Old' } } } },
  });
  await updateCatalogue({ url: `${server.url}/api.json`, folder: project.dir, today: '2020-01-01', send: fetch });
  const page = await createCataloguePageLoader(project.dir)('openai');
  expect(page?.models.find(({ id }) => id === 'gpt-5')?.name).toBe('GPT-5');
});

test.each([
  ['/other.json', /Cannot read .*: the server answered 404/],
  ['/api.json', /is not a model catalogue/],
])('an address without a catalogue changes nothing: %s', async (path, words) => {
  await using project = await createTempProject();
  await using server = await startJsonServer({ '/api.json': { some: 'page' } });
  const order = { url: `${server.url}${path}`, folder: join(project.dir, 'models'), today: '2026-12-24', send: fetch };
  await expect(updateCatalogue(order)).rejects.toThrow(words);
  await expect(readdir(order.folder)).rejects.toThrow('ENOENT');
});

test('a damaged file is ignored', async () => {
  await using project = await createTempProject();
  await mkdir(project.dir, { recursive: true });
  await writeFile(join(project.dir, 'openai.json'), '{"v":1,"asOf":"2030-01-01","models":[{]');
  expect((await createCataloguePageLoader(project.dir)('openai'))?.models.length).toBeGreaterThan(10);
  expect(await createCataloguePageLoader(project.dir)('nowhere')).toBeUndefined();
});
