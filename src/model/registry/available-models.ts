import type { ModelInfo } from '../../contracts/model.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { listModels } from '../built-in-models.ts';
import type { CloudPlatform } from '../claude-model-ids.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';
import { narrowToObject } from '../stream/json-values.ts';
import type { ModelConfig } from './model-config.ts';
import type { ModelInfoSource } from './model-info-source.ts';
import { formatModelName, type ProviderConfigs, resolveRoute } from './model-route.ts';
import { discoverLocalServers, fetchModelList, type LocalServerDiscoveryOptions } from './server-discovery.ts';
import { parseListedModelFacts } from './server-model-facts.ts';

/** A model that can be used with the present configuration. */
export type AvailableModel = {
  readonly info: ModelInfo;
  /** Display name of the provider. */
  readonly provider: string;
  /** Label of the key's origin. */
  readonly keySource: string;
};

/** A provider that lacks an API key. Part of the output of `ouro models --json`. */
export type UnconfiguredProvider = { readonly name: string; readonly place: string; readonly keys: readonly string[] };

/** The available models, and the providers without a key. */
export type ModelListing = {
  readonly models: readonly AvailableModel[];
  readonly unconfigured: readonly UnconfiguredProvider[];
};

type InfoSource = Pick<ModelInfoSource, 'infoOf' | 'lookUp' | 'addFacts' | 'listCatalogueModels'>;

/** Short, because the user waits for the list. */
const LIST_TIMEOUT_MS = 1500;

/** Lists the models of all providers with a key, of configured servers and of local servers. */
export async function listAvailableModels(
  config: ModelConfig,
  info: InfoSource,
  options: LocalServerDiscoveryOptions = {},
): Promise<ModelListing> {
  const { providers = {}, fetch: send = fetch } = config;
  const discovery = { send: options.fetch ?? send, timeoutMs: options.timeoutMs ?? LIST_TIMEOUT_MS };
  const [localServers, ...serverModels] = await Promise.all([
    discoverLocalServers({ fetch: send, ...options }),
    ...Object.keys(providers).map((name) => listServerModels(name, providers, info, discovery)),
  ]);
  const unconfiguredServers = localServers.filter(({ prefix }) => providers[prefix]?.baseUrl === undefined);
  const localModels = unconfiguredServers.flatMap(({ name, prefix, models }) =>
    models.map(
      (id): AvailableModel => ({ info: info.infoOf(`${prefix}/${id}`), provider: name, keySource: 'not needed' }),
    ),
  );
  const models = [...listClaudeModels(config, info), ...serverModels.flat(), ...localModels];
  return { models, unconfigured: listMissingKeys(config) };
}

function listClaudeModels(config: ModelConfig, { infoOf }: InfoSource): readonly AvailableModel[] {
  const { apiKey, authToken, keySource = 'configured', defaultCloud } = config;
  const hasKey = apiKey !== undefined || authToken !== undefined;
  const listFrom = (provider: string, key: string) =>
    listModels().map(({ id }): AvailableModel => {
      const name = formatModelName(resolveRoute(config, id), id);
      return { info: infoOf(name), provider: provider, keySource: key };
    });
  return [
    ...(hasKey && defaultCloud === undefined ? listFrom('Anthropic', keySource) : []),
    ...(defaultCloud === undefined ? [] : listFrom(CLOUD_LABELS[defaultCloud.cloud], 'cloud credentials')),
  ];
}

const CLOUD_LABELS: Readonly<Record<CloudPlatform, string>> = {
  bedrock: 'Amazon Bedrock',
  mantle: 'Amazon Bedrock',
  vertex: 'Google Vertex AI',
  foundry: 'Microsoft Foundry',
};

/** Lists the models of one server as the server reports them, or else from the catalogue. */
async function listServerModels(
  name: string,
  providers: ProviderConfigs,
  { infoOf, lookUp, addFacts, listCatalogueModels }: InfoSource,
  { send, timeoutMs }: { readonly send: typeof fetch; readonly timeoutMs: number },
): Promise<readonly AvailableModel[]> {
  const { baseUrl: configuredUrl, apiKey, fetchKey, keySource = 'none' } = providers[name] ?? {};
  const preset = PROVIDER_PRESETS.get(name);
  const hasKey = apiKey !== undefined || fetchKey !== undefined;
  // A key shared with other programs is only sent to a server that the settings name.
  const baseUrl = configuredUrl ?? (hasKey && preset?.sharesKeyVariables !== true ? preset?.baseUrl : undefined);
  if (baseUrl === undefined) return [];
  const [listedModels, catalogueIds] = await Promise.all([
    fetchApiKey(apiKey, fetchKey).then((key) => fetchModelList(baseUrl, { send, timeoutMs, apiKey: key })),
    listCatalogueModels(preset && (preset.catalogueId ?? name)),
  ]);
  for (const { id, entry } of listedModels ?? []) addFacts(`${name}/${id}`, parseListedModelFacts(entry));
  const ids = listedModels?.map(({ id }) => id) ?? catalogueIds;
  // Servers also list image, speech and embedding models. Most do not say so; the catalogue contains only text models.
  const chatModels =
    listedModels?.flatMap(({ id, entry }) => {
      const outputs = narrowToObject(entry.architecture)?.output_modalities;
      const isChat = Array.isArray(outputs)
        ? outputs.includes('text')
        : catalogueIds.length === 0 || catalogueIds.includes(id);
      return isChat ? [id] : [];
    }) ?? ids;
  const names = (chatModels.length === 0 ? ids : chatModels).map((id) => `${name}/${id}`);
  await Promise.all(names.map(lookUp));
  return names
    .map(infoOf)
    .filter(({ takesTools }) => takesTools !== false)
    .map((model): AvailableModel => ({ info: model, provider: preset?.label ?? name, keySource: keySource }));
}

async function fetchApiKey(apiKey: string | undefined, fetchKey: (() => Promise<string>) | undefined) {
  return apiKey ?? fetchKey?.().catch(() => undefined);
}

/** Lists the built-in providers that need a key and have none. */
function listMissingKeys({
  providers = {},
  apiKey,
  authToken,
  defaultCloud,
}: ModelConfig): readonly UnconfiguredProvider[] {
  const hasClaude = apiKey !== undefined || authToken !== undefined || defaultCloud !== undefined;
  const missing = [...PROVIDER_PRESETS].flatMap(([name, { label, keyVariables }]) => {
    const { apiKey: ownKey, fetchKey, baseUrl } = providers[name] ?? {};
    const isUsable =
      ownKey !== undefined || fetchKey !== undefined || baseUrl !== undefined || keyVariables.length === 0;
    return isUsable ? [] : [{ name, place: label, keys: keyVariables }];
  });
  return [...(hasClaude ? [] : [{ name: 'anthropic', place: 'Anthropic', keys: ['ANTHROPIC_API_KEY'] }]), ...missing];
}
