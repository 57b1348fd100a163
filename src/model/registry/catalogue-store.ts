import { join } from 'node:path';
import { z } from 'zod';
import { getErrorPhrase } from '../../lib/errors.ts';
import { writePrivateFile } from '../../lib/files/private-file.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { memoizeByKey } from '../../lib/memoize.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';
import { narrowToObject, parseNetworkJson } from '../stream/json-values.ts';
import { type CatalogueEntry, catalogueEntrySchema } from './model-facts.ts';

const storedPage = z.object({ v: z.literal(1), asOf: z.iso.date(), models: z.array(catalogueEntrySchema) });

/** Returns the directory where `ouro models update` stores catalogue pages. */
export function getCatalogueFolder(ouroHome: string): string {
  return join(ouroHome, 'models');
}

/** Creates a loader that merges a provider's stored and shipped pages; the newer one wins. */
export function createCataloguePageLoader(folder: string): (catalogue: string) => Promise<CataloguePage | undefined> {
  return async (catalogue) => {
    const [bundled, stored] = await Promise.all([loadCataloguePage(catalogue), readStoredPage(folder, catalogue)]);
    if (bundled === undefined || stored === undefined) return stored ?? bundled;
    const [newer, older] = stored.asOf >= bundled.asOf ? [stored, bundled] : [bundled, stored];
    const newerIds = new Set(newer.models.map(({ id }) => id));
    return { asOf: newer.asOf, models: [...newer.models, ...older.models.filter(({ id }) => !newerIds.has(id))] };
  };
}

async function readStoredPage(folder: string, catalogue: string): Promise<CataloguePage | undefined> {
  const text = await readRegularFile(join(folder, `${catalogue}.json`)).catch(() => undefined);
  const parsed = storedPage.safeParse(text === undefined ? undefined : parseNetworkJson(text));
  return parsed.success ? parsed.data : undefined;
}

/** Default URL of the model catalogue. */
export const CATALOGUE_URL = 'https://models.dev/api.json';

const TIMEOUT_MS = 60_000;
const MAX_CHARS = 64_000_000;

type UpdateOptions = {
  readonly url: string;
  readonly folder: string;
  /** Current date: `2026-11-10`. */
  readonly today: string;
  readonly send: typeof fetch;
};

/** Numbers of providers and models read, and of entries that could not be parsed. */
export type CatalogueUpdateCounts = { readonly providers: number; readonly models: number; readonly skipped: number };

/** Downloads the catalogue and stores the pages of known providers. Pages missing from it are left unchanged. */
export async function updateCatalogue({ url, folder, today, send }: UpdateOptions): Promise<CatalogueUpdateCounts> {
  const catalogue = narrowToObject(parseNetworkJson(await fetchText(url, send)));
  const providerIds = ['anthropic', ...[...PROVIDER_PRESETS].map(([name, { catalogueId }]) => catalogueId ?? name)];
  const pages = providerIds.flatMap((name) => {
    const models = narrowToObject(narrowToObject(catalogue?.[name])?.models);
    return models === undefined
      ? []
      : [{ name, entries: Object.values(models).map((entry) => catalogueEntrySchema.safeParse(entry)) }];
  });
  let update: CatalogueUpdateCounts = { providers: 0, models: 0, skipped: 0 };
  for (const { name, entries } of pages) {
    const models = entries.flatMap(({ success, data }) => (success && writesText(data) ? [data] : []));
    const skipped = update.skipped + entries.filter(({ success }) => !success).length;
    update = { ...update, skipped: skipped };
    if (models.length === 0) continue;
    await writePrivateFile(join(folder, `${name}.json`), `${JSON.stringify({ v: 1, asOf: today, models })}\n`);
    update = { ...update, providers: update.providers + 1, models: update.models + models.length };
  }
  if (update.models === 0)
    throw new Error(`${url} is not a model catalogue in the format of ${CATALOGUE_URL}. Nothing was changed.`);
  return update;
}

function writesText({ modalities }: CatalogueEntry): boolean {
  return modalities === undefined || modalities.output.includes('text');
}

async function fetchText(url: string, send: typeof fetch): Promise<string> {
  try {
    const response = await send(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const text = await response.text();
    if (text.length > MAX_CHARS) throw new Error('the response is too large');
    return text;
  } catch (cause) {
    const message = `Cannot read the model catalogue at ${url}: ${getErrorPhrase(cause)}. The stored catalogue is unchanged.`;
    throw new Error(message, { cause });
  }
}

/** The providers in the shipped catalogue, by their id at models.dev. */
export const CATALOGUE_PROVIDERS = [
  ...['anthropic', 'openai', 'google', 'groq', 'mistral', 'deepseek', 'xai', 'togetherai', 'fireworks-ai', 'cerebras'],
  ...['moonshotai', 'zai', 'huggingface', 'openrouter', 'github-models'],
];

/** The catalogue entries of one provider and the date they were read. */
export type CataloguePage = { readonly asOf: string; readonly models: readonly CatalogueEntry[] };

const pageHead = z.object({ provider: z.string(), asOf: z.iso.date() });

/** Loads the shipped catalogue page of a provider; `undefined` if there is none. */
export const loadCataloguePage = memoizeByKey(async (provider: string): Promise<CataloguePage | undefined> => {
  // Pages are separated by an empty line: a line about the provider, then one for each model.
  const { default: text } = await import('./catalogue.jsonl', { with: { type: 'text' } });
  const page = text.split('\n\n').find((lines) => lines.startsWith(`{"provider":"${provider}",`));
  const [head, ...models] = page?.trim().split('\n').map(parseNetworkJson) ?? [];
  if (head === undefined) return undefined;
  return { asOf: pageHead.parse(head).asOf, models: models.map((entry) => catalogueEntrySchema.parse(entry)) };
});
