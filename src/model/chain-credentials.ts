import { omitUndefined } from '../lib/json.ts';
import { findPresetKeys, PROVIDER_PRESETS } from './provider-presets.ts';
import type { ModelConfig } from './registry/model-config.ts';
import type { ProviderConfigs } from './registry/model-route.ts';

/** The access to the provider of the named models. */
export type ModelAccess = {
  /** API key, or a function that is called before each request. By default `ANTHROPIC_API_KEY` of the environment. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Base URL of the API. By default `ANTHROPIC_BASE_URL` of the environment. */
  readonly baseUrl?: string;
  /** Replaces `fetch`, for proxies, recorders and tests. */
  readonly fetch?: typeof fetch;
};

/** Variables of the environment, from which keys and addresses are taken. */
type Variables = Readonly<Record<string, string>>;

type ChainConfig = Omit<ModelConfig, 'model'>;

/** Creates the configuration of a model chain. Key and address belong to the provider of its first named model. */
export function createChainConfig(
  firstModel: string | undefined,
  access: ModelAccess,
  variables: Variables,
): ChainConfig {
  const preset = findPreset(firstModel);
  const config =
    preset === undefined ? configureAnthropic(access, variables) : configurePreset(preset, access, variables);
  return { keyStore: 'none', ...config, ...omitUndefined({ fetch: access.fetch }) };
}

/** Returns the provider of a model, if it is one of the presets and not Anthropic. */
function findPreset(model: string | undefined): string | undefined {
  const [prefix = '', ...rest] = model?.split('/') ?? [];
  return rest.length > 0 && PROVIDER_PRESETS.has(prefix) ? prefix : undefined;
}

/** Uses the given key and address for Anthropic, and otherwise those of the environment. */
function configureAnthropic(access: ModelAccess, variables: Variables): ChainConfig {
  const key = getGivenKey(access) ?? variables.ANTHROPIC_API_KEY;
  const baseUrl = access.baseUrl || variables.ANTHROPIC_BASE_URL;
  return { ...pickAnthropic(key, baseUrl, variables), providers: getStoredProviders(variables) };
}

/** Uses the given key and address for a preset; Anthropic has those of the environment. */
function configurePreset(preset: string, access: ModelAccess, variables: Variables): ChainConfig {
  const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL } = variables;
  const providers = getStoredProviders(variables);
  const server = { ...providers[preset], ...pickKey(getGivenKey(access)), ...pickBaseUrl(access.baseUrl) };
  return {
    ...pickAnthropic(ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, variables),
    providers: { ...providers, [preset]: server },
  };
}

function getGivenKey({ apiKey }: ModelAccess): string | (() => Promise<string>) | undefined {
  return typeof apiKey === 'function' ? async () => apiKey() : apiKey;
}

function getStoredProviders(variables: Variables): ProviderConfigs {
  return Object.fromEntries(findPresetKeys(variables));
}

/** Returns the fields of Anthropic. An empty key is usually an unset variable; no other key is taken for it. */
function pickAnthropic(key: ModelConfig['apiKey'], baseUrl: string | undefined, variables: Variables) {
  const { ANTHROPIC_AUTH_TOKEN: authToken } = variables;
  return {
    ...(key === undefined || key === '' ? {} : { apiKey: key }),
    ...(key === undefined && authToken !== undefined ? { authToken } : {}),
    ...omitUndefined({ baseUrl }),
  };
}

function pickKey(key: string | (() => Promise<string>) | undefined) {
  if (typeof key === 'function') return { fetchKey: key };
  return key === undefined || key === '' ? {} : { apiKey: key };
}

function pickBaseUrl(baseUrl = '') {
  return baseUrl === '' ? {} : { baseUrl };
}
