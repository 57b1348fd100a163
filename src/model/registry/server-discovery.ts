import type { LocalModelServer } from '../../contracts/frontend/first-run.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';
import { narrowToObject, narrowToObjects, narrowToString, parseNetworkJson } from '../stream/json-values.ts';

/** A model server found on this machine, with its models. */
export type DiscoveredModelServer = {
  readonly name: string;
  /** Prefix of its model names: `ollama` in `ollama/qwen3`. */
  readonly prefix: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
};

/** Servers to probe and the timeout. Only loopback addresses are contacted. */
export type LocalServerDiscoveryOptions = {
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
  readonly servers?: readonly LocalServerPort[];
};

type LocalServerPort = { readonly name: string; readonly prefix: string; readonly port: number };

/** Timeout for a server given by address, which may be remote. */
const NAMED_TIMEOUT_MS = 5000;

/** Lists the presets without key variables, which are local servers. */
const listPresetServers = (): readonly LocalServerPort[] =>
  [...PROVIDER_PRESETS].flatMap(([prefix, { label, baseUrl, keyVariables }]) =>
    keyVariables.length > 0 ? [] : [{ name: label, prefix, port: Number(new URL(baseUrl).port) }],
  );

/** Probes the default loopback ports of OpenAI-compatible servers in parallel. */
export async function discoverLocalServers(
  options: LocalServerDiscoveryOptions = {},
): Promise<readonly DiscoveredModelServer[]> {
  const { servers = listPresetServers(), timeoutMs = 400, fetch: send = fetch } = options;
  const found = await Promise.all(servers.map((server) => probeServer(server, { send, timeoutMs })));
  return found.filter((server) => server !== undefined);
}

/** Finds model servers on the usual ports of this machine, with model names that `--model` accepts. */
export async function findLocalModelServers(): Promise<readonly LocalModelServer[]> {
  return (await discoverLocalServers()).map(({ name, prefix, models }) => ({
    name,
    models: models.map((model) => `${prefix}/${model}`),
  }));
}

/** Lists the models of a server as the setting names them; throws if none responds. The version suffix may be absent. */
export async function listServerModels(address: string): Promise<readonly string[]> {
  const baseAddress = address.replace(/(?<!\/)\/+$/, '');
  const candidates = /\/v\d+$/.test(baseAddress) ? [baseAddress] : [`${baseAddress}/v1`, baseAddress];
  for (const baseUrl of candidates) {
    const models = await fetchModelList(baseUrl, { send: fetch, timeoutMs: NAMED_TIMEOUT_MS });
    if (models !== undefined) return models.map(({ id }) => `${baseUrl}#${id}`);
  }
  throw new Error(`No model server responds at ${address}. Is it running?`);
}

type RequestOptions = { readonly send: typeof fetch; readonly timeoutMs: number; readonly apiKey?: string | undefined };

async function probeServer(
  { name, prefix, port }: LocalServerPort,
  options: RequestOptions,
): Promise<DiscoveredModelServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const models = await fetchModelList(baseUrl, options);
  return models === undefined ? undefined : { name, prefix, baseUrl, models: models.map(({ id }) => id) };
}

/** A model id with the server's raw list entry. */
export type ListedModel = { readonly id: string; readonly entry: JsonObject };

/** Fetches the model list of a server; `undefined` if nothing answers or it is not a model server. */
export async function fetchModelList(
  baseUrl: string,
  { send, timeoutMs, apiKey }: RequestOptions,
): Promise<readonly ListedModel[] | undefined> {
  try {
    const headers = new Headers(apiKey === undefined ? [] : [['authorization', `Bearer ${apiKey}`]]);
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await send(`${baseUrl}/models`, { signal, redirect: 'error', headers });
    const listed = parseNetworkJson(await response.text());
    const list = narrowToObject(listed)?.data ?? listed;
    if (!response.ok || !Array.isArray(list)) return undefined;
    return narrowToObjects(list).flatMap((entry) => {
      // Google prefixes each id with the resource type.
      const id = narrowToString(entry.id)?.replace(/^models\//, '');
      return id === undefined ? [] : [{ id, entry }];
    });
  } catch {
    return undefined;
  }
}
