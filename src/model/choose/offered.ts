import type { ModelInfo } from '../../contracts/model.ts';
import { listModels } from '../catalog.ts';
import type { Cloud } from '../claude-name.ts';
import { factsOfListed } from '../facts/listed-facts.ts';
import { PRESETS } from '../presets.ts';
import { type DiscoveryOptions, discoverLocalServers, modelsOf } from './discovery.ts';
import type { InfoOfModels } from './model-info.ts';
import { choiceName, type Providers, placeOf } from './model-name.ts';
import type { PortConfig } from './port-config.ts';

/** A model that can be used here. */
export type OfferedModel = {
  readonly info: ModelInfo;
  /** What people call who serves it. */
  readonly place: string;
  /** Where its key comes from, in words. */
  readonly key: string;
};

/** A place that could be used, had it a key. */
export type ClosedPlace = { readonly name: string; readonly place: string; readonly keys: readonly string[] };

export type Offer = { readonly models: readonly OfferedModel[]; readonly closed: readonly ClosedPlace[] };

type ModelFinder = Pick<InfoOfModels, 'infoOf' | 'lookUp' | 'note' | 'namesIn'>;

/** Somebody looks at a list meanwhile. */
const LIST_TIMEOUT_MS = 1500;

/** What can be chosen from: all places with a key, servers that were configured, and those of this machine. */
export async function offeredModels(
  config: PortConfig,
  info: ModelFinder,
  options: DiscoveryOptions = {},
): Promise<Offer> {
  const { providers = {}, fetch: send = fetch } = config;
  const discovery = { send: options.fetch ?? send, timeoutMs: options.timeoutMs ?? LIST_TIMEOUT_MS };
  const [local, ...served] = await Promise.all([
    discoverLocalServers({ fetch: send, ...options }),
    ...Object.keys(providers).map((name) => servedBy(name, providers, info, discovery)),
  ]);
  const here = local.filter(({ prefix }) => providers[prefix]?.baseUrl === undefined);
  const found = here.flatMap(({ name, prefix, models }) =>
    models.map((id) => ({ info: info.infoOf(`${prefix}/${id}`), place: name, key: 'none needed' })),
  );
  const models = [...claude(config, info), ...served.flat(), ...found];
  return { models, closed: closedPlaces(config) };
}

function claude(config: PortConfig, { infoOf }: ModelFinder): readonly OfferedModel[] {
  const { apiKey, authToken, keySource = 'given', claudeAt } = config;
  const hasKey = apiKey !== undefined || authToken !== undefined;
  const of = (place: string, key: string) =>
    listModels().map(({ id }) => {
      const name = choiceName(placeOf(config, id), id);
      return { info: infoOf(name), place, key };
    });
  return [
    ...(hasKey && claudeAt === undefined ? of('Anthropic', keySource) : []),
    ...(claudeAt === undefined ? [] : of(CLOUD_LABELS[claudeAt.cloud], 'of the cloud')),
  ];
}

const CLOUD_LABELS: Readonly<Record<Cloud, string>> = {
  bedrock: 'Amazon Bedrock',
  mantle: 'Amazon Bedrock',
  vertex: 'Google Vertex AI',
  foundry: 'Microsoft Foundry',
};

/** The models of one server: as it lists them, else as the catalogue does. */
async function servedBy(
  name: string,
  providers: Providers,
  { infoOf, lookUp, note, namesIn }: ModelFinder,
  { send, timeoutMs }: { readonly send: typeof fetch; readonly timeoutMs: number },
): Promise<readonly OfferedModel[]> {
  const { baseUrl: settled, apiKey, fetchKey, keySource = 'none' } = providers[name] ?? {};
  const preset = PRESETS.get(name);
  const hasKey = apiKey !== undefined || fetchKey !== undefined;
  // A key that belongs to other programs too is not shown to a place that nobody named.
  const baseUrl = settled ?? (hasKey && preset?.sharesKeys !== true ? preset?.baseUrl : undefined);
  if (baseUrl === undefined) return [];
  const [listed, known] = await Promise.all([
    keyOf(apiKey, fetchKey).then((key) => modelsOf(baseUrl, { send, timeoutMs, apiKey: key })),
    namesIn(preset && (preset.catalogue ?? name)),
  ]);
  for (const { id, entry } of listed ?? []) note(`${name}/${id}`, factsOfListed(entry));
  const all = listed?.map(({ id }) => id) ?? known;
  // Some list what paints, speaks and measures as well; the catalogue has those that talk.
  const talking = all.filter((id) => known.length === 0 || known.includes(id));
  const names = (talking.length === 0 ? all : talking).map((id) => `${name}/${id}`);
  await Promise.all(names.map(lookUp));
  return names
    .map(infoOf)
    .filter(({ takesTools }) => takesTools !== false)
    .map((one) => ({ info: one, place: preset?.label ?? name, key: keySource }));
}

async function keyOf(apiKey: string | undefined, fetchKey: (() => Promise<string>) | undefined) {
  return apiKey ?? fetchKey?.().catch(() => undefined);
}

/** Places that want a key, and have none. */
function closedPlaces({ providers = {}, apiKey, authToken, claudeAt }: PortConfig): readonly ClosedPlace[] {
  const hasClaude = apiKey !== undefined || authToken !== undefined || claudeAt !== undefined;
  const others = [...PRESETS].flatMap(([name, { label, keys }]) => {
    const { apiKey: own, fetchKey, baseUrl } = providers[name] ?? {};
    const isOpen = own !== undefined || fetchKey !== undefined || baseUrl !== undefined || keys.length === 0;
    return isOpen ? [] : [{ name, place: label, keys }];
  });
  return [...(hasClaude ? [] : [{ name: 'anthropic', place: 'Anthropic', keys: ['ANTHROPIC_API_KEY'] }]), ...others];
}
