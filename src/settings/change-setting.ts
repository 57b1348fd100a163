import { join } from 'node:path';
import { z } from 'zod';
import type { Attempt } from '../contracts/face/host.ts';
import type { JsonValue } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';
import { editJsonc } from '../lib/files/edit-jsonc.ts';
import { publishedSchema } from './keys.ts';
import { readLayer } from './read-layer.ts';

/** How a value can be said in one line: one of some words, or written; `list` stands in its file. */
export type SayableValue =
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'number' | 'text' | 'list' };

/** Where a person's own value goes: into their settings, or into what is theirs of this project. */
export type OwnPlace = 'user' | 'local';

type Homes = { readonly ouroHome: string; readonly cwd: string };

const node = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  const: z.json().optional(),
});
const tree = z.object({
  properties: z.record(z.string(), node.extend({ properties: z.record(z.string(), node).optional() })),
});

/** What may be said for a key of a settings file. */
export function sayableValue(key: string): SayableValue {
  const [top = '', below] = key.split('.');
  const whole = tree.parse(publishedSchema()).properties[top];
  const schema = below === undefined ? whole : whole?.properties?.[below];
  if (schema?.enum !== undefined) return { kind: 'word', words: schema.enum };
  if (schema?.const !== undefined) return { kind: 'word', words: [String(schema.const)] };
  switch (schema?.type) {
    case 'boolean':
      return { kind: 'word', words: ['true', 'false'] };
    case 'number':
    case 'integer':
      return { kind: 'number' };
    case 'string':
      return { kind: 'text' };
    default:
      return { kind: 'list' };
  }
}

/** Writes what a person said for a key; every other byte of the file stays. Without words the value goes. */
export async function changeSetting(
  key: string,
  words: string | undefined,
  place: OwnPlace,
  homes: Homes,
): Promise<Attempt> {
  const value = words === undefined ? undefined : valueSaid(key, words);
  const path = key.split('.');
  if (value !== undefined) {
    const whole = path.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
    const [problem] = readLayer(JSON.stringify(whole), key, 'user').problems;
    if (problem !== undefined) return { ok: false, why: problem.text };
  }
  try {
    await editJsonc(ownFile(place, homes), () => [{ path, value }], place === 'local' ? 'refuse' : 'follow');
    return { ok: true };
  } catch (thrown) {
    return { ok: false, why: messageOf(thrown) };
  }
}

export function ownFile(place: OwnPlace, { ouroHome, cwd }: Homes): string {
  return place === 'local' ? join(cwd, '.claude', 'settings.local.json') : join(ouroHome, 'settings.json');
}

function valueSaid(key: string, words: string): JsonValue {
  const { kind } = sayableValue(key);
  if (kind === 'word' && (words === 'true' || words === 'false')) return words === 'true';
  return kind === 'number' && words.trim() !== '' && Number.isFinite(Number(words)) ? Number(words) : words;
}
