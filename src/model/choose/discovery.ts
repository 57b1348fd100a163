import type { JsonObject } from '../../contracts/json.ts';
import { PRESETS } from '../presets.ts';
import { objectOf, objectsOf, parseJson, textOf } from '../wire/wire-json.ts';

/** A model server that answered on this machine, with the models it offers. */
export type LocalServer = {
  readonly name: string;
  /** What its models are called by: `ollama` in `ollama/qwen3`. */
  readonly prefix: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
};

/** Where to look, and how long. Everything has a default; nothing but loopback is ever asked. */
export type DiscoveryOptions = {
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
  readonly places?: readonly Place[];
};

type Place = { readonly name: string; readonly prefix: string; readonly port: number };

/** A server that was named may be further away than this machine. */
const NAMED_TIMEOUT_MS = 5000;

/** Places that want no key are on one's own machine. */
const USUAL_PLACES: readonly Place[] = [...PRESETS].flatMap(([prefix, { label, baseUrl, keys }]) =>
  keys.length > 0 ? [] : [{ name: label, prefix, port: Number(new URL(baseUrl).port) }],
);

/** Looks for OpenAI-compatible servers on their usual loopback ports, all at once. */
export async function discoverLocalServers(options: DiscoveryOptions = {}): Promise<readonly LocalServer[]> {
  const { places = USUAL_PLACES, timeoutMs = 400, fetch: send = fetch } = options;
  const found = await Promise.all(places.map((place) => look(place, { send, timeoutMs })));
  return found.filter((server) => server !== undefined);
}

/** The models of a server somebody named; its address with or without the version at its end. */
export async function modelsAt(
  address: string,
): Promise<{ readonly baseUrl: string; readonly models: readonly string[] } | undefined> {
  const given = address.replace(/\/+$/, '');
  const candidates = /\/v\d+$/.test(given) ? [given] : [`${given}/v1`, given];
  for (const baseUrl of candidates) {
    const models = await modelsOf(baseUrl, { send: fetch, timeoutMs: NAMED_TIMEOUT_MS });
    if (models !== undefined) return { baseUrl, models: models.map(({ id }) => id) };
  }
  return undefined;
}

type Asking = { readonly send: typeof fetch; readonly timeoutMs: number; readonly apiKey?: string | undefined };

async function look({ name, prefix, port }: Place, asking: Asking): Promise<LocalServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const models = await modelsOf(baseUrl, asking);
  return models === undefined ? undefined : { name, prefix, baseUrl, models: models.map(({ id }) => id) };
}

/** A model as its server lists it, with whatever it says of it. */
export type ListedModel = { readonly id: string; readonly entry: JsonObject };

/** The models a server lists; `undefined` when nobody answers, or something that is no model server. */
export async function modelsOf(
  baseUrl: string,
  { send, timeoutMs, apiKey }: Asking,
): Promise<readonly ListedModel[] | undefined> {
  try {
    const headers = new Headers(apiKey === undefined ? [] : [['authorization', `Bearer ${apiKey}`]]);
    const limit = AbortSignal.timeout(timeoutMs);
    const response = await send(`${baseUrl}/models`, { signal: limit, redirect: 'error', headers });
    const listed = parseJson(await response.text());
    const list = objectOf(listed)?.data ?? listed;
    if (!response.ok || !Array.isArray(list)) return undefined;
    return objectsOf(list).flatMap((entry) => {
      // Google writes what kind of thing it is before each name.
      const id = textOf(entry.id)?.replace(/^models\//, '');
      return id === undefined ? [] : [{ id, entry }];
    });
  } catch {
    return undefined;
  }
}
