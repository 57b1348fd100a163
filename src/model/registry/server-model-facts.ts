import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { ModelPrice } from '../../contracts/model.ts';
import {
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseNetworkJson,
} from '../stream/json-values.ts';
import type { ModelFacts } from './model-facts.ts';

/** A server that may report the limits and features of its models. */
export type ModelServer = {
  readonly name: string;
  readonly baseUrl: string;
  readonly getKey: () => Promise<string | undefined>;
  /** `anthropic`: the server expects the headers of Anthropic's API. */
  readonly api?: 'anthropic';
};

type RequestOptions = { readonly send: typeof fetch; readonly timeoutMs: number };

/** Queries for servers that report more than their model list. Unrecognized local servers get all of them. */
const SERVER_QUERIES: ReadonlyMap<string, FactsQuery> = new Map([
  ['ollama', queryOllama],
  ['llamacpp', queryLlamaCpp],
  ['lmstudio', queryLmStudio],
  ['litellm', queryLiteLlm],
]);

/** The facts a server reports about one of its models, and the names in its list of models. */
export type ServerModelReport = { readonly facts: ModelFacts; readonly listed: readonly string[] };

/** Asks a server about one of its models; `undefined` if it does not answer. Unreported facts are omitted. */
export async function fetchServerModelFacts(
  { name, baseUrl, getKey, api }: ModelServer,
  model: string,
  { send, timeoutMs }: RequestOptions,
): Promise<ServerModelReport | undefined> {
  const apiKey = await getKey();
  const root = baseUrl.replace(/\/v\d+\/*$/, '');
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = new Headers({
    'content-type': 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    // Gateways for the API of Anthropic accept one of the two.
    ...(api === 'anthropic' && { 'anthropic-version': '2023-06-01', ...(apiKey && { 'x-api-key': apiKey }) }),
  });
  const request: SendRequest = async (address, body) => {
    try {
      const response = await send(address, {
        signal,
        headers,
        redirect: 'error',
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return response.ok ? parseNetworkJson(await response.text()) : undefined;
    } catch {
      // No server listens at this address, or it is of another kind.
      return undefined;
    }
  };
  const namedQuery = SERVER_QUERIES.get(name);
  const queries = namedQuery === undefined ? (isPrivateUrl(baseUrl) ? [...SERVER_QUERIES.values()] : []) : [namedQuery];
  const [modelList, ...serverFacts] = await Promise.all([
    requestModelList(baseUrl, request),
    ...queries.map((query) => query(root, model, request)),
  ]);
  const knownFacts = [findListedFacts(modelList, model), ...serverFacts].filter((facts) => facts !== undefined);
  if (modelList === undefined && knownFacts.length === 0) return undefined;
  return { facts: knownFacts.reduce(mergeFacts, {}), listed: listModelIds(modelList) };
}

const MAX_PAGES = 20;

/** Requests the list of models with the pages that follow. A page that fails or repeats the one before ends it. */
async function requestModelList(baseUrl: string, request: SendRequest): Promise<JsonValue | undefined> {
  const pages: JsonValue[] = [];
  let lastId: string | undefined;
  while (pages.length < MAX_PAGES) {
    const query = lastId === undefined ? '' : `?after_id=${encodeURIComponent(lastId)}`;
    const page = await request(`${baseUrl}/models${query}`);
    if (page === undefined) break;
    pages.push(page);
    const { has_more, last_id } = narrowToObject(page) ?? {};
    const next = narrowToString(last_id);
    if (has_more !== true || next === undefined || next === lastId) break;
    lastId = next;
  }
  return pages.length === 0 ? undefined : { data: pages.flatMap(listEntries) };
}

/** Returns the entries of a list of models, or of one page of it. */
const listEntries = (list: JsonValue | undefined): readonly JsonObject[] =>
  narrowToObjects(narrowToObject(list)?.data ?? list);

function listModelIds(list: JsonValue | undefined): readonly string[] {
  return listEntries(list).flatMap(({ id }) => narrowToString(id) ?? []);
}

function mergeFacts(base: ModelFacts, override: ModelFacts): ModelFacts {
  return { ...base, ...override };
}

type SendRequest = (address: string, body?: JsonObject) => Promise<JsonValue | undefined>;
type FactsQuery = (root: string, model: string, request: SendRequest) => Promise<ModelFacts | undefined>;

async function queryOllama(root: string, model: string, request: SendRequest): Promise<ModelFacts | undefined> {
  const [shown, running] = await Promise.all([request(`${root}/api/show`, { model }), request(`${root}/api/ps`)]);
  return parseOllamaFacts(narrowToObject(shown), narrowToObject(running), model);
}

async function queryLlamaCpp(root: string, _model: string, request: SendRequest): Promise<ModelFacts | undefined> {
  return parseLlamaCppFacts(narrowToObject(await request(`${root}/props`)));
}

async function queryLmStudio(root: string, model: string, request: SendRequest): Promise<ModelFacts | undefined> {
  return parseLmStudioFacts(narrowToObject(await request(`${root}/api/v0/models`)), model);
}

async function queryLiteLlm(root: string, model: string, request: SendRequest): Promise<ModelFacts | undefined> {
  return parseLiteLlmFacts(narrowToObject(await request(`${root}/model/info`)), model);
}

/** Returns true for local and private addresses: only those are sent requests for APIs they may not have. */
export function isPrivateUrl(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|[\w-]+\.local$)/.test(hostname);
}

/** Reads the facts about one model from a server's model list (`/models`). */
function findListedFacts(list: JsonValue | undefined, model: string): ModelFacts | undefined {
  const entry = listEntries(list).find(({ id }) => narrowToString(id) === model);
  return entry && parseListedModelFacts(entry);
}

/** Parses one entry of a model list. Each server has its own field names. */
export function parseListedModelFacts(entry: JsonObject): ModelFacts {
  const topProvider = narrowToObject(entry.top_provider);
  const capabilities = narrowToObject(entry.capabilities);
  const hosts = narrowToObjects(entry.providers);
  const contextWindow =
    readTokenCount(topProvider?.context_length) ??
    readTokenCount(entry.context_length) ??
    readTokenCount(entry.max_model_len) ??
    readTokenCount(entry.context_window) ??
    readTokenCount(entry.max_context_length) ??
    readTokenCount(entry.max_input_tokens) ??
    readTokenCount(narrowToObject(entry.meta)?.n_ctx) ??
    // Hugging Face lists the servers of a model; a request may reach any of them.
    getSmallest(hosts.map(({ context_length }) => readTokenCount(context_length)));
  const maxOutputTokens =
    readTokenCount(topProvider?.max_completion_tokens) ??
    readTokenCount(entry.max_completion_tokens) ??
    readTokenCount(entry.max_output_tokens) ??
    readTokenCount(entry.max_tokens);
  const inputModalities = narrowToObject(entry.architecture)?.input_modalities;
  const supportedParameters = entry.supported_parameters;
  const vision = Array.isArray(inputModalities) ? inputModalities.includes('image') : readBoolean(capabilities?.vision);
  const hostTools = hosts.map(({ supports_tools }) => readBoolean(supports_tools));
  const takesTools = Array.isArray(supportedParameters)
    ? supportedParameters.includes('tools')
    : (readBoolean(capabilities?.function_calling) ?? (hostTools.includes(true) ? true : undefined));
  const label = narrowToString(entry.name) ?? narrowToString(entry.display_name);
  const price = parsePrice(narrowToObject(entry.pricing));
  return {
    ...(label !== undefined && { label }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
    ...(takesTools !== undefined && { takesTools }),
    ...(Array.isArray(supportedParameters) &&
      !supportedParameters.includes('reasoning') && { thinking: 'none' as const }),
    ...(price && { price }),
  };
}

function getSmallest(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Parses the prices of OpenRouter and Vercel: dollars per token, as strings. Other formats are ignored. */
function parsePrice(pricing: JsonObject | undefined): ModelPrice | undefined {
  const input = parseRatePerMillion(pricing?.prompt ?? pricing?.input);
  const output = parseRatePerMillion(pricing?.completion ?? pricing?.output);
  if (pricing === undefined || input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cacheRead: parseRatePerMillion(pricing.input_cache_read) ?? input,
    cacheWrite: parseRatePerMillion(pricing.input_cache_write) ?? input,
    asOf: new Date().toISOString().slice(0, 10),
  };
}

function parseRatePerMillion(rate: JsonValue | undefined): number | undefined {
  const text = narrowToString(rate);
  const dollars = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  // Negative prices mark models whose price depends on the upstream provider.
  return Number.isFinite(dollars) && dollars >= 0 ? Number((dollars * 1_000_000).toPrecision(12)) : undefined;
}

/** Reads a positive token count. */
function readTokenCount(value: JsonValue | undefined): number | undefined {
  const number = narrowToNumber(value);
  return number !== undefined && number > 0 ? Math.floor(number) : undefined;
}

function readBoolean(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** Assumed window if Ollama reports none: it truncates prompts to its setting, often below the model's window. */
const OLLAMA_DEFAULT_WINDOW = 32_000;

/** Reads Ollama's facts: the window of the loaded model, or the configured one, or a default. */
function parseOllamaFacts(
  showResponse: JsonObject | undefined,
  psResponse: JsonObject | undefined,
  model: string,
): ModelFacts | undefined {
  const modelInfo = narrowToObject(showResponse?.model_info);
  if (showResponse === undefined || modelInfo === undefined) return undefined;
  const trainedWindow = Object.entries(modelInfo).find(([name]) => name.endsWith('.context_length'))?.[1];
  const maxWindow = readTokenCount(trainedWindow) ?? OLLAMA_DEFAULT_WINDOW;
  const isRunning = ({ name, model: id }: JsonObject) =>
    [name, id].some((value) => isSameModel(narrowToString(value), model));
  const loaded = narrowToObjects(psResponse?.models).find(isRunning);
  const configuredWindow = /^num_ctx\s+(\d+)/m.exec(narrowToString(showResponse.parameters) ?? '')?.[1];
  const window =
    readTokenCount(loaded?.context_length) ??
    (configuredWindow === undefined ? undefined : Number(configuredWindow)) ??
    OLLAMA_DEFAULT_WINDOW;
  const capabilities = Array.isArray(showResponse.capabilities) ? showResponse.capabilities : undefined;
  return {
    contextWindow: Math.min(window, maxWindow),
    ...(capabilities && { vision: capabilities.includes('vision'), takesTools: capabilities.includes('tools') }),
  };
}

function isSameModel(name: string | undefined, model: string): boolean {
  return name === model || name === `${model}:latest`;
}

/** Reads llama.cpp's facts: the window the server was started with. */
function parseLlamaCppFacts(props: JsonObject | undefined): ModelFacts | undefined {
  const contextWindow =
    readTokenCount(narrowToObject(props?.default_generation_settings)?.n_ctx) ?? readTokenCount(props?.n_ctx);
  if (contextWindow === undefined) return undefined;
  const vision = readBoolean(narrowToObject(props?.modalities)?.vision);
  return { contextWindow, ...(vision !== undefined && { vision }) };
}

/** Reads LM Studio's facts: the window the model was loaded with, or its maximum. */
function parseLmStudioFacts(list: JsonObject | undefined, model: string): ModelFacts | undefined {
  const entry = narrowToObjects(list?.data).find(({ id }) => narrowToString(id) === model);
  const contextWindow = readTokenCount(entry?.loaded_context_length) ?? readTokenCount(entry?.max_context_length);
  if (entry === undefined || contextWindow === undefined) return undefined;
  const capabilities = Array.isArray(entry.capabilities) ? entry.capabilities : undefined;
  return {
    contextWindow,
    vision: entry.type === 'vlm',
    ...(capabilities && { takesTools: capabilities.includes('tool_use') }),
  };
}

/** Reads LiteLLM's facts from its model table, including prices. */
function parseLiteLlmFacts(list: JsonObject | undefined, model: string): ModelFacts | undefined {
  const entry = narrowToObjects(list?.data).find(({ model_name }) => narrowToString(model_name) === model);
  const modelInfo = narrowToObject(entry?.model_info);
  if (modelInfo === undefined) return undefined;
  const contextWindow = readTokenCount(modelInfo.max_input_tokens) ?? readTokenCount(modelInfo.max_tokens);
  const maxOutputTokens = readTokenCount(modelInfo.max_output_tokens);
  const vision = readBoolean(modelInfo.supports_vision);
  const takesTools = readBoolean(modelInfo.supports_function_calling);
  const [input, output] = [
    toRatePerMillion(modelInfo.input_cost_per_token),
    toRatePerMillion(modelInfo.output_cost_per_token),
  ];
  const cacheRead = toRatePerMillion(modelInfo.cache_read_input_token_cost) ?? input;
  const cacheWrite = toRatePerMillion(modelInfo.cache_creation_input_token_cost) ?? input;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
    ...(takesTools !== undefined && { takesTools }),
    ...(input !== undefined && output !== undefined && cacheRead !== undefined && cacheWrite !== undefined
      ? { price: { input, output, cacheRead, cacheWrite, asOf: new Date().toISOString().slice(0, 10) } }
      : {}),
  };
}

function toRatePerMillion(dollars: JsonValue | undefined): number | undefined {
  const number = narrowToNumber(dollars);
  return number === undefined ? undefined : Number((number * 1_000_000).toPrecision(12));
}
