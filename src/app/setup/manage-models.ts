import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import { formatMoney } from '../../lib/text/format.ts';
import { readStoredApiKeys } from '../../model/api-keys.ts';
import { computeCostUsd } from '../../model/pricing.ts';
import { type AvailableModel, listAvailableModels, type ModelListing } from '../../model/registry/available-models.ts';
import {
  CATALOGUE_URL,
  type CatalogueUpdateCounts,
  getCatalogueFolder,
  updateCatalogue,
} from '../../model/registry/catalogue-store.ts';
import { type ModelConfig, readModelConfig } from '../../model/registry/model-config.ts';
import { createModelInfoSource } from '../../model/registry/model-info-source.ts';
import { createModelRegistry, getDefaultSmallModel } from '../../model/registry/model-registry.ts';
import { resolveRoute } from '../../model/registry/model-route.ts';
import { createNetworkFetch } from '../../model/stream/network-fetch.ts';
import { applySettingsEnvironment, resolveTimeoutsAndRetries } from '../../settings/effective-environment.ts';
import { readSettings } from '../read-settings.ts';
import type { DoctorCheckResult } from './doctor.ts';

type ModelContext = { readonly environment: Environment; readonly cwd: string };

/** Reads the model configuration of a run without flags. Throws for an invalid setting. */
async function readConfig({ environment: baseEnvironment, cwd: folder }: ModelContext): Promise<ModelConfig> {
  const cwd = await realpath(folder);
  // The only model setting of a project is a model name, so trust does not matter here.
  const loaded = await readSettings({ cwd }, baseEnvironment, false);
  const { merged } = loaded;
  const environment = applySettingsEnvironment(baseEnvironment, loaded);
  const { keys } = await readStoredApiKeys(environment);
  const read = readModelConfig(merged, environment, keys, () => resolveTimeoutsAndRetries(environment, merged));
  if (!read.ok) throw new Error(read.problem);
  return read.config;
}

/** Lists the usable models, and the providers that only lack a key. */
export async function listUsableModels(context: ModelContext): Promise<ModelListing> {
  const config = await readConfig(context);
  return listAvailableModels(config, createModelInfoSource(config));
}

/** Sends one minimal request to each usable provider. */
export async function checkProviderConnections(context: ModelContext): Promise<readonly DoctorCheckResult[]> {
  const config = await readConfig(context);
  return checkProviders(config, await listAvailableModels(config, createModelInfoSource(config)));
}

/** Updates the model catalogue from the configured URL. */
export async function updateModelCatalogue({
  environment: baseEnvironment,
  cwd,
}: ModelContext): Promise<CatalogueUpdateCounts & { readonly url: string }> {
  const loaded = await readSettings({ cwd: await realpath(cwd) }, baseEnvironment, false);
  const environment = applySettingsEnvironment(baseEnvironment, loaded);
  const url = loaded.merged.modelCatalogueUrl ?? CATALOGUE_URL;
  const update = await updateCatalogue({
    url,
    folder: getCatalogueFolder(environment.ouroHome),
    today: new Date().toISOString().slice(0, 10),
    send: createNetworkFetch({
      variables: environment.variables,
      keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
      extraCaFile: environment.extraCaFile,
    }),
  });
  return { ...update, url };
}

/** The timeout of a check; a local model may have to be loaded first. */
const CHECK_TIMEOUT_MS = 60_000;
/** The smallest output limit that all providers accept. */
const OUTPUT_TOKENS = 16;

/** Asks the cheapest model of each provider for one word, all in parallel. Reports success, time and cost. */
async function checkProviders(config: ModelConfig, { models }: ModelListing): Promise<readonly DoctorCheckResult[]> {
  const byProvider = Map.groupBy(models, ({ info: { id } }) => (id.includes('/') ? id.split('/')[0] : 'anthropic'));
  const silent = Object.entries(config.providers ?? {}).flatMap(([name, { baseUrl }]): DoctorCheckResult[] => {
    const detail = `${baseUrl} lists no models. Is it running, and does the address include its API version?`;
    return baseUrl === undefined || byProvider.has(name) ? [] : [{ name: `live ${name}`, state: 'bad', detail }];
  });
  if (byProvider.size === 0 && silent.length === 0)
    return [
      {
        name: 'live',
        state: 'warn',
        detail: 'No provider can be checked: none has a key, and no local model server responds.',
      },
    ];
  return [...(await Promise.all([...byProvider].map(([, offered]) => checkProvider(config, offered)))), ...silent];
}

async function checkProvider(config: ModelConfig, offered: readonly AvailableModel[]): Promise<DoctorCheckResult> {
  const [first] = offered;
  if (first === undefined) throw new Error('A provider without models cannot be checked.');
  const smallModel = getDefaultSmallModel(resolveRoute(config, first.info.id), config.defaultCloud);
  const { info, provider } = offered.find((model) => model.info.id === smallModel) ?? findCheapest(offered) ?? first;
  const name = `live ${provider}`;
  const choice = createModelRegistry({ ...config, model: info.id, retry: { limits: () => ({ maxRetries: 0 }) } });
  if (!choice.ok) return { name, state: 'bad', detail: choice.problem };
  await choice.lookUp(info.id);
  const startedAt = performance.now();
  const request = {
    model: info.id,
    maxOutputTokens: OUTPUT_TOKENS,
    system: [{ name: 'side', text: 'Answer with one word.' }],
    tools: [],
    messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Say yes.' }] }],
    breakpoints: [],
    effort: 'off',
  } as const;
  const options = { restartable: () => false, overloadLimit: 1, maxRetries: 0 };
  const stream = choice.port.stream(request, options, AbortSignal.timeout(CHECK_TIMEOUT_MS));
  let next = await stream.next();
  while (next.done !== true) next = await stream.next();
  const ms = Math.round(performance.now() - startedAt);
  const outcome = next.value;
  if (!outcome.ok) return { name, state: 'bad', detail: `${info.id}: ${outcome.failure.message}` };
  const { usage } = outcome;
  const cost = computeCostUsd(usage, choice.infoOf(info.id).price);
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const money = cost === undefined ? 'at an unknown price' : `for ${formatMoney(cost)}`;
  return {
    name,
    state: 'ok',
    detail: `${info.id} answered in ${ms} ms: ${input} tokens in, ${usage.outputTokens} tokens out, ${money}`,
  };
}

function findCheapest(offered: readonly AvailableModel[]): AvailableModel | undefined {
  const priced = offered.filter(({ info }) => info.price !== undefined);
  return priced.toSorted((a, b) => (a.info.price?.output ?? 0) - (b.info.price?.output ?? 0))[0];
}
