import { join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { writePrivately } from '../../lib/files/private-file.ts';
import { PRESETS } from '../presets.ts';
import { objectOf, parseJson } from '../wire/wire-json.ts';
import { type ModelEntry, modelEntry } from './model-entry.ts';

/** Where the catalogue is, unless the settings name another place. */
export const CATALOGUE_URL = 'https://models.dev/api.json';

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 64_000_000;

type Order = {
  readonly url: string;
  readonly folder: string;
  /** The day, as `2026-11-10`. */
  readonly today: string;
  readonly send: typeof fetch;
};

/** How much was read; `leftOut` could not be understood. */
export type CatalogueUpdate = { readonly providers: number; readonly models: number; readonly leftOut: number };

/** Reads the catalogue anew and keeps what belongs to places that can be named. What it does not have stays as it was. */
export async function updateCatalogue({ url, folder, today, send }: Order): Promise<CatalogueUpdate> {
  const whole = objectOf(parseJson(await textAt(url, send)));
  const names = ['anthropic', ...[...PRESETS].map(([name, { catalogue }]) => catalogue ?? name)];
  const pages = names.flatMap((name) => {
    const models = objectOf(objectOf(whole?.[name])?.models);
    return models === undefined
      ? []
      : [{ name, read: Object.values(models).map((entry) => modelEntry.safeParse(entry)) }];
  });
  let update: CatalogueUpdate = { providers: 0, models: 0, leftOut: 0 };
  for (const { name, read } of pages) {
    const models = read.flatMap(({ success, data }) => (success && writes(data) ? [data] : []));
    const leftOut = update.leftOut + read.filter(({ success }) => !success).length;
    update = { ...update, leftOut };
    if (models.length === 0) continue;
    await writePrivately(join(folder, `${name}.json`), `${JSON.stringify({ v: 1, asOf: today, models })}\n`);
    update = { ...update, providers: update.providers + 1, models: update.models + models.length };
  }
  if (update.models === 0)
    throw new Error(`${url} is no catalogue of models in the form of ${CATALOGUE_URL}, so nothing was changed.`);
  return update;
}

function writes({ modalities }: ModelEntry): boolean {
  return modalities === undefined || modalities.output.includes('text');
}

async function textAt(url: string, send: typeof fetch): Promise<string> {
  try {
    const response = await send(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    const text = await response.text();
    if (text.length > MOST_BYTES) throw new Error('it is larger than any catalogue');
    return text;
  } catch (cause) {
    const message = `The catalogue at ${url} could not be read: ${messageOf(cause)}. What is known of models stays as it was.`;
    throw new Error(message, { cause });
  }
}
