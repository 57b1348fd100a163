import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment, RuntimeLimits } from '../../contracts/environment.ts';
import type { Settings } from '../../contracts/settings.ts';
import { readTextOrEmpty } from '../../lib/files/read-or-default.ts';
import { omitUndefined } from '../../lib/json.ts';
import { createLazy } from '../../lib/memoize.ts';
import { createKeyHelper, type StoredApiKey, type StoredApiKeys } from '../api-keys.ts';
import { DEFAULT_MODEL, resolveModel } from '../built-in-models.ts';
import type { DefaultCloudPlatform } from '../claude-model-ids.ts';

import { type CloudSettings, getDefaultCloudPlatform, readFirstVariable } from '../providers/cloud-settings.ts';
import type { DemoSettings } from '../providers/demo/demo-port.ts';
import type { RetryPolicy } from '../retry.ts';
import type { StreamTimeouts } from '../stream/model-attempt.ts';
import { createNetworkFetch } from '../stream/network-fetch.ts';
import { type CataloguePage, createCataloguePageLoader, getCatalogueFolder } from './catalogue-store.ts';

import type { ModelFacts } from './model-facts.ts';
import type { ProviderConfigs } from './model-route.ts';
import { parseModelsSetting, readProviderConfigs } from './provider-settings.ts';

/** Configuration of model access, read from flags, environment, settings and stored keys. */
export type ModelConfig = {
  /** Name of the initial model: an alias, an id, `demo`, `ollama/qwen3`, `http://host:port/v1#model`. */
  readonly model: string;
  /** Model for side calls; `off` disables them. */
  readonly smallModel?: string;
  readonly apiKey?: string | (() => Promise<string>);
  /** Called when the API rejected a fetched key, so that the next one is fetched anew. */
  readonly onRefusedKey?: () => void;
  readonly authToken?: string;
  /** Label of the key's origin (`ANTHROPIC_API_KEY`, `settings` …). */
  readonly keySource?: string;
  readonly baseUrl?: string;
  readonly betas?: readonly string[];
  readonly providers?: ProviderConfigs;
  /** `none`: keys of `ouro login` are not read, so messages do not name it. */
  readonly keyStore?: 'none';
  /** Settings and variables of the clouds that serve Anthropic's models. */
  readonly clouds?: CloudSettings;
  /** The cloud that serves models named without a prefix. */
  readonly defaultCloud?: DefaultCloudPlatform | undefined;
  /** The models that a gateway has for `opus`, `sonnet` and `haiku`, keyed by Anthropic's ids. */
  readonly familyModels?: Readonly<Record<string, string>>;
  /** The most tokens a reply may have, from `CLAUDE_CODE_MAX_OUTPUT_TOKENS`. */
  readonly maxOutputTokens?: number | undefined;
  /** Headers for requests to Anthropic or its gateway, from `ANTHROPIC_CUSTOM_HEADERS`. */
  readonly customHeaders?: Readonly<Record<string, string>>;
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly retry?: RetryPolicy;
  readonly demo?: Partial<DemoSettings>;
  readonly fetch?: typeof fetch;
  /** Loads the catalogue page of a provider; by default the shipped one. */
  readonly loadPage?: (catalogue: string) => Promise<CataloguePage | undefined>;
  /** Facts from the settings by model name; they override all other sources. */
  readonly models?: Readonly<Record<string, ModelFacts>>;
};

/** A model configuration, or the reason why a setting is invalid. */
type ModelConfigResult =
  | { readonly ok: true; readonly config: ModelConfig }
  | { readonly ok: false; readonly problem: string };

/** Reads the model configuration from environment, settings and stored keys. The model is the one used without a flag. */
export function readModelConfig(
  settings: Settings,
  environment: Environment,
  keys: StoredApiKeys,
  limits: () => RuntimeLimits,
): ModelConfigResult {
  const parsedProviders = readProviderConfigs(settings, environment, keys);
  if (!parsedProviders.ok) return parsedProviders;
  const parsedModels = parseModelsSetting(settings, new Date().toISOString().slice(0, 10));
  if (!parsedModels.ok) return parsedModels;
  const smallModel = environment.smallModel ?? settings.smallModel;
  const baseUrl = environment.baseUrl ?? settings.baseUrl;
  const clouds = readCloudSettings(settings, environment);
  const config: ModelConfig = {
    model: environment.model ?? settings.model ?? DEFAULT_MODEL,
    providers: parsedProviders.providers,
    models: parsedModels.models,
    clouds,
    ...readFamilyModels(clouds),
    maxOutputTokens: parsePositive(environment.variables.CLAUDE_CODE_MAX_OUTPUT_TOKENS),
    customHeaders: parseHeaders(environment.keys.ANTHROPIC_CUSTOM_HEADERS),
    ...readLimits(limits),
    ...pickCredentials(settings, environment, keys.get('anthropic')),
    ...omitUndefined({ smallModel, baseUrl }),
    loadPage: createCataloguePageLoader(getCatalogueFolder(environment.ouroHome)),
    fetch: createNetworkFetch({
      variables: environment.variables,
      keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
      extraCaFile: environment.extraCaFile,
    }),
  };
  return { ok: true, config };
}

/** Picks the Anthropic credentials: from the environment, or else from `apiKeyHelper`, or else the stored key. */
function pickCredentials(
  { apiKeyHelper }: Settings,
  { credentials: { apiKey, authToken }, variables }: Environment,
  stored: StoredApiKey | undefined,
): Pick<ModelConfig, 'apiKey' | 'onRefusedKey' | 'authToken' | 'keySource'> {
  if (apiKey !== undefined) return { apiKey, keySource: 'ANTHROPIC_API_KEY' };
  if (authToken !== undefined) return { authToken, keySource: 'ANTHROPIC_AUTH_TOKEN' };
  if (apiKeyHelper !== undefined) {
    const helper = createKeyHelper(apiKeyHelper, variables, Date.now);
    return { apiKey: helper.getKey, onRefusedKey: helper.forget, keySource: 'apiKeyHelper' };
  }
  return stored === undefined ? {} : { apiKey: stored.key, keySource: stored.source };
}

function readCloudSettings(settings: Settings, { variables, keys }: Environment): CloudSettings {
  const { awsAuthRefresh, awsCredentialExport, gcpAuthRefresh } = settings;
  // Called for each request, so the files are read only once.
  const region = createLazy(() => readAwsProfileRegion(variables));
  return { variables, keys, getProfileRegion: region, awsAuthRefresh, awsCredentialExport, gcpAuthRefresh };
}

/** Returns the default cloud and the models set for `opus`, `sonnet` and `haiku`, of that cloud or of the gateway. */
function readFamilyModels(clouds: CloudSettings): Pick<ModelConfig, 'defaultCloud' | 'familyModels'> {
  const cloud = getDefaultCloudPlatform(clouds);
  const entries = ['opus', 'sonnet', 'haiku', 'fable'].flatMap((family) => {
    const name = readFirstVariable(clouds, `ANTHROPIC_DEFAULT_${family.toUpperCase()}_MODEL`);
    return name === undefined ? [] : [[resolveModel(family), resolveModel(name)] as const];
  });
  const models = Object.fromEntries(entries);
  return cloud === undefined ? { familyModels: models } : { defaultCloud: { cloud, modelIds: models } };
}

function parsePositive(value: string | undefined): number | undefined {
  return value !== undefined && /^[1-9]\d*$/.test(value.trim()) ? Number(value) : undefined;
}

/** Parses one header per line: `X-Team: platform`. */
function parseHeaders(text = ''): Readonly<Record<string, string>> {
  const lines = text.split('\n').map((line) => /^\s*([\w-]+)\s*:(.*)$/s.exec(line));
  return Object.fromEntries(
    lines.flatMap((match) => (match === null ? [] : [[match[1] ?? '', match[2]?.trim() ?? '']])),
  );
}

/** Returns timeouts and retry limits, read anew for each request. */
function readLimits(limits: () => RuntimeLimits): Pick<ModelConfig, 'timeouts' | 'retry'> {
  return {
    timeouts() {
      const { streamIdleTimeoutMs, headerTimeoutMs } = limits();
      return {
        ...omitUndefined({ idleTimeoutMs: streamIdleTimeoutMs, headerTimeoutMs }),
      };
    },
    retry: {
      limits() {
        const { maxRetries, retryBaseMs } = limits();
        return { maxRetries, baseMs: retryBaseMs };
      },
    },
  };
}

/**
 * Reads the region of the active profile from the AWS config files; `undefined` if there is none. As in the AWS tools,
 * the config file has precedence over the credentials file, and its sections are named `profile <name>`. @internal
 */
export function readAwsProfileRegion(variables: Readonly<Record<string, string>>): string | undefined {
  const profile = trimOrUndefined(variables.AWS_PROFILE) ?? trimOrUndefined(variables.AWS_DEFAULT_PROFILE) ?? 'default';
  const folder = join(trimOrUndefined(variables.HOME) ?? homedir(), '.aws');
  const config = parseSections(trimOrUndefined(variables.AWS_CONFIG_FILE) ?? join(folder, 'config'));
  const credentials = parseSections(
    trimOrUndefined(variables.AWS_SHARED_CREDENTIALS_FILE) ?? join(folder, 'credentials'),
  );
  return [config.get(`profile ${profile}`), config.get(profile), credentials.get(profile)]
    .map((section) => section?.get('region'))
    .find((region) => region !== undefined && region !== '');
}

function trimOrUndefined(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function parseSections(path: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of readTextOrEmpty(path).split(/\r?\n/)) {
    const name = /^\[([^\]]*)\]/.exec(line)?.[1]?.trim().replace(/\s+/g, ' ').replaceAll(/["']/g, '');
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
    }
    // Indented lines continue the value above and are skipped.
    const [, key, value] = /^([\w-]+)\s*=(.*)$/s.exec(line) ?? [];
    if (key !== undefined && value !== undefined)
      section.set(
        key,
        value
          .trim()
          .replace(/\s[#;].*$/s, '')
          .trimEnd(),
      );
  }
  return sections;
}
