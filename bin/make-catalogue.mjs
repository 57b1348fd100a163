// Makes src/model/facts/bundled/ from a catalogue in the form of https://models.dev/api.json:
//   node bin/bootstrap.mjs run bin/make-catalogue.mjs api.json 2026-11-10
import { readFileSync, writeFileSync } from 'node:fs';
import { BUNDLED } from '../src/model/facts/bundled.ts';
import { modelEntry } from '../src/model/facts/model-entry.ts';

const [file, asOf] = process.argv.slice(2);
if (file === undefined || !/^\d{4}-\d\d-\d\d$/.test(asOf ?? ''))
  throw new Error('Say the file and the day it was made: make-catalogue.mjs api.json 2026-11-10');
const catalogue = JSON.parse(readFileSync(file, 'utf8'));
for (const name of BUNDLED.keys()) {
  const models = Object.values(catalogue[name]?.models ?? {})
    .map((entry) => modelEntry.parse(entry))
    .filter(({ modalities }) => modalities === undefined || modalities.output.includes('text'))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (models.length === 0) throw new Error(`The catalogue has no models of ${name}.`);
  const lines = models.map((model) => JSON.stringify(model).replaceAll('\\', '\\\\').replaceAll('`', "'"));
  const text = `/** Made by bin/make-catalogue.mjs from models.dev (MIT): one model a line. */
export const MODELS = \`
${lines.join('\n')}
\`;

/** The day this was known. */
export const AS_OF = '${asOf}';
`;
  writeFileSync(new URL(`../src/model/facts/bundled/${name}.ts`, import.meta.url), text);
}
