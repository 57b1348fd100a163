import { resolveModel } from '../catalog.ts';
import { type ClaudeHome, type Cloud, nameInCloud, readCloudName, splitRegion } from '../claude-name.ts';
import { PRESETS } from '../presets.ts';
import { AZURE_UNSET, type ServerApi } from './server-api.ts';

/** A server reached by a name of its own: built in, or from the settings. */
type ProviderSettings = {
  /** Up to and including the version, as in `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The key comes from a command or a keyring, and is asked for when it is needed. */
  readonly fetchKey?: () => Promise<string>;
  /** A key that was fetched was refused: the next one is fetched anew. */
  readonly onRefusedKey?: () => void;
  /** Where the key comes from, in words. */
  readonly keySource?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly vision?: boolean;
  readonly api?: ServerApi;
};

/** Settings may complete a built-in server; one of its own name needs its address. */
export type Providers = Readonly<Record<string, Partial<ProviderSettings>>>;

/** Where a model lives. */
export type ModelPlace =
  | { readonly provider: 'anthropic'; readonly model: string }
  | { readonly provider: 'demo'; readonly model: 'demo' }
  | { readonly provider: 'cloud'; readonly cloud: Cloud; readonly model: string }
  | { readonly provider: 'openai'; readonly name: string; readonly server: ProviderSettings; readonly model: string };

/**
 * Reads a model name: an alias or id, `demo`, `ollama/qwen3`, `bedrock/us.anthropic.…`, or `http://host:port/v1#model`.
 * Names without a prefix are Anthropic's own, or those of the cloud that serves its models here.
 */
export function locateModel(name: string, providers: Providers = {}, claudeAt?: ClaudeHome): ModelPlace {
  const wanted = name.trim();
  if (wanted.toLowerCase() === 'demo') return { provider: 'demo', model: 'demo' };
  const address = /^(https?:\/\/[^#\s]+)#(.+)$/.exec(wanted);
  if (address?.[1] && address[2] && URL.canParse(address[1])) {
    return { provider: 'openai', name: new URL(address[1]).host, server: { baseUrl: address[1] }, model: address[2] };
  }
  const prefixed = /^([\w.-]+)[/:](.+)$/.exec(wanted);
  const server = prefixed?.[1] ? serverOf(prefixed[1], providers) : undefined;
  if (prefixed?.[1] && prefixed[2] && server) {
    return { provider: 'openai', name: prefixed[1], server, model: prefixed[2] };
  }
  const { cloud, model } = readCloudName(wanted) ?? { cloud: claudeAt?.cloud, model: wanted };
  if (cloud === undefined) return { provider: 'anthropic', model: resolveModel(wanted) };
  const { region, model: bare } = splitRegion(model);
  const id = resolveModel(bare);
  const own = claudeAt?.cloud === cloud && Object.hasOwn(claudeAt.names, id) ? claudeAt.names[id] : undefined;
  const named = own ?? nameInCloud(cloud, id);
  return { provider: 'cloud', cloud, model: region === undefined || bare === model ? named : `${region}/${named}` };
}

/** Where a name leads under a configuration. `anthropic/…` is Anthropic's own, but a gateway may have names of that kind. */
export function placeOf(config: NameConfig, name: string): ModelPlace {
  const own = config.baseUrl === undefined ? name.trim().replace(/^anthropic\//i, '') : name;
  return locateModel(own, config.providers, config.claudeAt);
}

/** What of a configuration says where names lead. */
export type NameConfig = {
  readonly baseUrl?: string;
  readonly providers?: Providers;
  readonly claudeAt?: ClaudeHome | undefined;
};

/** The name that leads to a place again, whatever the surroundings say then. */
export function choiceName(place: ModelPlace, typed: string): string {
  if (place.provider === 'openai') return typed.trim();
  return place.provider === 'cloud' ? `${place.cloud}/${place.model}` : place.model;
}

/** Settings may add to a built-in server (its key) or replace its address. */
function serverOf(name: string, providers: Providers): ProviderSettings | undefined {
  const known = {
    baseUrl: name === 'azure' ? AZURE_UNSET : PRESETS.get(name)?.baseUrl,
    ...(Object.hasOwn(providers, name) ? providers[name] : {}),
  };
  const { baseUrl } = known;
  return baseUrl === undefined ? undefined : { ...known, baseUrl };
}
