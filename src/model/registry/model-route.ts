import { resolveModel } from '../built-in-models.ts';
import {
  type CloudPlatform,
  type DefaultCloudPlatform,
  formatCloudModelId,
  parseCloudModelName,
  splitRegionFromModelName,
} from '../claude-model-ids.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';

/** Configuration of a named server: a preset, or an entry of the settings. */
type ProviderSettings = {
  /** Includes the version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Fetches the key from a command or the keyring when it is needed. */
  readonly fetchKey?: () => Promise<string>;
  /** Called when a fetched key was rejected; the next `fetchKey()` returns a fresh one. */
  readonly onRefusedKey?: () => void;
  /** Label of the key's origin. */
  readonly keySource?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly vision?: boolean;
  readonly api?: ServerApi;
};

/** Server configurations by name. Entries of presets may be partial; others need a `baseUrl`. */
export type ProviderConfigs = Readonly<Record<string, Partial<ProviderSettings>>>;

/** A provider and the model's name there. */
export type ModelRoute =
  | { readonly provider: 'anthropic'; readonly model: string }
  | { readonly provider: 'demo'; readonly model: 'demo' }
  | { readonly provider: 'cloud'; readonly cloud: CloudPlatform; readonly model: string }
  | { readonly provider: 'openai'; readonly name: string; readonly server: ProviderSettings; readonly model: string };

/**
 * Parses a model name: an alias or id, `demo`, `ollama/qwen3`, `bedrock/us.anthropic.…`, or `http://host:port/v1#model`.
 * Names without a prefix belong to Anthropic, or to the default cloud if one is configured.
 */
export function parseModelName(
  name: string,
  providers: ProviderConfigs = {},
  defaultCloud?: DefaultCloudPlatform,
): ModelRoute {
  const trimmed = name.trim();
  if (trimmed.toLowerCase() === 'demo') return { provider: 'demo', model: 'demo' };
  const address = /^(https?:\/\/[^#\s]+)#(.+)$/.exec(trimmed);
  if (address?.[1] && address[2] && URL.canParse(address[1])) {
    return { provider: 'openai', name: new URL(address[1]).host, server: { baseUrl: address[1] }, model: address[2] };
  }
  const prefixed = /^([\w.-]+)[/:](.+)$/.exec(trimmed);
  const server = prefixed?.[1] ? findServer(prefixed[1], providers) : undefined;
  if (prefixed?.[1] && prefixed[2] && server) {
    return { provider: 'openai', name: prefixed[1], server, model: prefixed[2] };
  }
  const { cloud, model } = parseCloudModelName(trimmed) ?? { cloud: defaultCloud?.cloud, model: trimmed };
  if (cloud === undefined) return { provider: 'anthropic', model: resolveModel(trimmed) };
  const { region, model: regionlessName } = splitRegionFromModelName(model);
  const id = resolveModel(regionlessName);
  const configuredId =
    defaultCloud?.cloud === cloud && Object.hasOwn(defaultCloud.modelIds, id) ? defaultCloud.modelIds[id] : undefined;
  const cloudId = configuredId ?? formatCloudModelId(cloud, id);
  return {
    provider: 'cloud',
    cloud,
    model: region === undefined || regionlessName === model ? cloudId : `${region}/${cloudId}`,
  };
}

/** Resolves a model name with a configuration. The prefix `anthropic/` is removed unless a gateway may use such names. */
export function resolveRoute(config: ModelRoutingConfig, name: string): ModelRoute {
  const modelName = config.baseUrl === undefined ? name.trim().replace(/^anthropic\//i, '') : name;
  const route = parseModelName(modelName, config.providers, config.defaultCloud);
  const { familyModels = {} } = config;
  if (route.provider !== 'anthropic' || !Object.hasOwn(familyModels, route.model)) return route;
  return { ...route, model: familyModels[route.model] ?? route.model };
}

/** The part of the configuration that model names are resolved with. */
export type ModelRoutingConfig = {
  readonly baseUrl?: string;
  readonly providers?: ProviderConfigs;
  readonly defaultCloud?: DefaultCloudPlatform | undefined;
  /** The models that a gateway has for `opus`, `sonnet` and `haiku`, keyed by Anthropic's ids. */
  readonly familyModels?: Readonly<Record<string, string>>;
};

/** Formats a route as a name that resolves to the same provider, whatever the environment. */
export function formatModelName(route: ModelRoute, typed: string): string {
  if (route.provider === 'openai') return typed.trim();
  return route.provider === 'cloud' ? `${route.cloud}/${route.model}` : route.model;
}

/** Returns the preset or configured server of a name; settings extend or override a preset. */
function findServer(name: string, providers: ProviderConfigs): ProviderSettings | undefined {
  const server = {
    baseUrl: name === 'azure' ? AZURE_PLACEHOLDER_URL : PROVIDER_PRESETS.get(name)?.baseUrl,
    ...(Object.hasOwn(providers, name) ? providers[name] : {}),
  };
  const { baseUrl } = server;
  return baseUrl === undefined ? undefined : { ...server, baseUrl };
}

/** APIs a server may implement: chat completions (most servers), OpenAI's Responses, or Google's Gemini API. */
export const MODEL_SERVER_APIS = ['chat', 'responses', 'gemini'] as const;
/** One of the supported APIs. */
type ServerApi = (typeof MODEL_SERVER_APIS)[number];

/** Returns the configured API of a server, or derives it from the address; gateways default to chat completions. */
export function resolveModelServerApi(
  name: string,
  { baseUrl, api }: { readonly baseUrl: string; readonly api?: ServerApi },
): ServerApi {
  if (api !== undefined) return api;
  if (name === 'azure') return 'responses';
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  if (host === 'api.openai.com' || host.endsWith('.api.openai.com')) return 'responses';
  return host === 'generativelanguage.googleapis.com' ? 'gemini' : 'chat';
}

/** Placeholder for the Azure base URL until `AZURE_OPENAI_ENDPOINT` is set. */
export const AZURE_PLACEHOLDER_URL = 'https://resource-not-set.openai.azure.com/openai/v1';

/** Builds the base URL of an Azure OpenAI resource from its endpoint. */
export function buildAzureOpenAiUrl(endpoint: string): string {
  const base = endpoint.replace(/(?<!\/)\/+$/, '').replace(/\/openai(?:\/v1)?$/, '');
  return `${base}/openai/v1`;
}
