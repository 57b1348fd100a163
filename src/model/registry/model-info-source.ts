import type { ModelInfo, ModelPrice } from '../../contracts/model.ts';
import { memoizeByKey } from '../../lib/memoize.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';
import { getModelInfo, getServerModelDefaults, isBuiltInModel } from '../built-in-models.ts';
import { type CloudPlatform, normalizeClaudeId, splitRegionFromModelName } from '../claude-model-ids.ts';
import { parseGeminiGeneration } from '../efforts.ts';
import { PROVIDER_PRESETS, type ReasoningParameter } from '../provider-presets.ts';
import { type CloudSettings, EMPTY_CLOUD_SETTINGS, resolveVertexRegion } from '../providers/cloud-settings.ts';
import { loadCataloguePage } from './catalogue-store.ts';
import { findGatewayModelFacts } from './find-gateway-model.ts';
import type { ModelConfig } from './model-config.ts';
import type { ModelFacts } from './model-facts.ts';
import { createModelFactsCache, isListed, type ServedModel } from './model-facts-cache.ts';
import { type ModelRoute, resolveModelServerApi, resolveRoute } from './model-route.ts';
import { fetchServerModelFacts, type ModelServer } from './server-model-facts.ts';

/** Source of facts about every model that a configuration can reach. */
export type ModelInfoSource = {
  /** Returns the facts known so far, with conservative values for the rest. */
  readonly infoOf: (model: string) => ModelInfo;
  /** Loads facts about a model from the catalogue, without network access. */
  readonly lookUp: (model: string) => Promise<void>;
  /** Loads facts from the catalogue or the server. Returns a warning, once, if the limits are still unknown. */
  readonly loadInfo: (model: string) => Promise<string | undefined>;
  /** Asks the server, and returns the reason if it certainly does not serve the model. */
  readonly explainUnlisted: (model: string) => Promise<string | undefined>;
  /** Adds facts that a server reported in its model list. */
  readonly addFacts: (model: string, reported: ModelFacts) => void;
  /** Lists the model ids that the catalogue has for a provider. */
  readonly listCatalogueModels: (catalogue: string | undefined) => Promise<readonly string[]>;
  /** Called when the provider rejects context editing: from then on no model reports `clearsResultsAt`. */
  readonly onRefusedEditing: () => void;
};

/** Short, because the first prompt waits for the answer. */
const SERVER_TIMEOUT_MS = 2000;

/** Creates the info source of a configuration; without one it covers the built-in providers. */
export function createModelInfoSource(config: Omit<ModelConfig, 'model'> = {}): ModelInfoSource {
  const { models = {}, fetch: send = fetch, loadPage = loadCataloguePage, clouds = EMPTY_CLOUD_SETTINGS } = config;
  const resolve = memoizeByKey((model) => resolveRoute(config, model));
  const factsCache = createModelFactsCache({
    loadPage: loadPage,
    searchPages: (model) => findGatewayModelFacts(model, loadPage),
    askServer: (server, model) => fetchServerModelFacts(server, model, { send, timeoutMs: SERVER_TIMEOUT_MS }),
    onChange: () => infos.clear(),
  });
  /** Infos by model, renewed when a fact changes. */
  const infos = new Map<string, ModelInfo>();
  const warnedModels = new Set<string>();
  let supportsContextEditing = true;

  function infoOf(model: string): ModelInfo {
    const info = infos.get(model) ?? createInfo(model);
    infos.set(model, info);
    return info;
  }

  /** Applies the output limit that the user has set for all models. */
  function createInfo(model: string): ModelInfo {
    const info = findInfo(model);
    if (config.maxOutputTokens === undefined) return info;
    const limit = Math.min(
      config.maxOutputTokens,
      hasUnknownLimits(model) ? Number.POSITIVE_INFINITY : info.maxOutputTokens,
    );
    return { ...info, maxOutputTokens: limit, defaultOutputTokens: limit };
  }

  function findInfo(model: string): ModelInfo {
    const route = resolve(model);
    const settingsFacts = models[model] ?? models[route.model] ?? {};
    if (route.provider === 'openai')
      return getServerInfo(
        model,
        route,
        { ...factsCache.getFacts(describeServedModel(route, config)), ...readServerFacts(route) },
        settingsFacts,
      );
    const isCloud = route.provider === 'cloud';
    const { clearsResultsAt, ...assumedInfo } = isCloud
      ? getCloudModelInfo(route.cloud, route.model, clouds)
      : getModelInfo(route.model);
    const cachedFacts =
      isCloud || isBuiltInModel(route.model) ? undefined : factsCache.getFacts(describeServedModel(route, config));
    const info = mergeModelFacts(assumedInfo, { ...cachedFacts, ...settingsFacts }, 'reasoning_effort');
    return clearsResultsAt === undefined || !supportsContextEditing ? info : { ...info, clearsResultsAt };
  }

  const hasUnknownLimits = (model: string) => {
    const route = resolve(model);
    if (route.provider === 'demo' || route.provider === 'cloud') return false;
    if (route.provider === 'anthropic' && (isBuiltInModel(route.model) || describeGateway(config) === undefined))
      return false;
    const facts = {
      ...factsCache.getFacts(describeServedModel(route, config)),
      ...(route.provider === 'openai' && readServerFacts(route)),
      ...(models[model] ?? models[route.model]),
    };
    return facts.contextWindow === undefined;
  };

  async function explainUnlisted(model: string): Promise<string | undefined> {
    const route = resolve(model);
    if (route.provider === 'demo' || route.provider === 'cloud') return undefined;
    if (models[model] !== undefined || models[route.model] !== undefined) return undefined;
    const served = describeServedModel(route, config);
    await factsCache.loadFacts(served);
    if (route.provider === 'anthropic' && served.server === undefined) {
      const isPlausible = /^claude-/i.test(route.model) || factsCache.getFacts(served) !== undefined;
      return isPlausible
        ? undefined
        : `There is no model "${route.model}". Run \`ouro models\` to list available models.`;
    }
    const listed = factsCache.getListedModels(served) ?? [];
    if (listed.length === 0 || isListed(listed, route.model)) return undefined;
    const closest = findClosestWord(route.model, listed);
    const guess = closest === undefined ? '' : ` Did you mean ${closest}?`;
    return `${served.server?.baseUrl} does not list a model "${route.model}".${guess} If it serves the model anyway, describe it under "models" in your settings.`;
  }

  return {
    infoOf,
    lookUp: (model) => factsCache.loadCatalogueFacts(describeServedModel(resolve(model), config)),
    async loadInfo(model) {
      await factsCache.loadFacts(describeServedModel(resolve(model), config));
      if (!hasUnknownLimits(model) || warnedModels.has(model)) return undefined;
      warnedModels.add(model);
      const { contextWindow, maxOutputTokens } = infoOf(model);
      return `The limits of ${model} are unknown; assuming a context window of ${contextWindow} and an output limit of ${maxOutputTokens} tokens. Set them in your settings: "models": { "${model}": { "contextWindow": ${contextWindow} } }.`;
    },
    explainUnlisted,
    addFacts: (model, reported) => factsCache.addFacts(describeServedModel(resolve(model), config), reported),
    async listCatalogueModels(catalogue) {
      const page = catalogue === undefined ? undefined : await factsCache.getPage(catalogue);
      return page?.models.map(({ id }) => id) ?? [];
    },
    onRefusedEditing() {
      supportsContextEditing = false;
      infos.clear();
    },
  };
}

/** Returns the catalogue provider and server of a model. An API key is only ever sent to the server it belongs to. */
function describeServedModel(route: ModelRoute, config: Omit<ModelConfig, 'model'>): ServedModel {
  const { model } = route;
  if (route.provider === 'demo' || route.provider === 'cloud')
    return { model, catalogueId: undefined, server: undefined, isGateway: false };
  if (route.provider === 'anthropic') {
    const server = describeGateway(config);
    return { model, catalogueId: 'anthropic', server, isGateway: server !== undefined };
  }
  const { name, server } = route;
  const preset = PROVIDER_PRESETS.get(name);
  return {
    model,
    catalogueId: name === 'azure' ? 'openai' : preset && (preset.catalogueId ?? name),
    server: { name, baseUrl: server.baseUrl, getKey: async () => server.apiKey ?? server.fetchKey?.() },
    isGateway: true,
  };
}

/** Returns the server of models without a prefix, unless it is Anthropic itself. */
function describeGateway({ baseUrl, apiKey, authToken }: Omit<ModelConfig, 'model'>): ModelServer | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined;
  if (/(?:^|\.)anthropic\.com$/.test(new URL(baseUrl).hostname)) return undefined;
  return {
    name: 'gateway',
    baseUrl: `${baseUrl.replace(/(?:\/v1)?(?<!\/)\/*$/, '')}/v1`,
    getKey: async () => (typeof apiKey === 'function' ? apiKey() : (apiKey ?? authToken)),
    api: 'anthropic',
  };
}

/** The APIs with a search tool of the provider. */
const API_WITH_SEARCH: ReadonlyMap<string, string> = new Map([
  ['openai', 'responses'],
  ['gemini', 'gemini'],
]);

type ServerRoute = Extract<ModelRoute, { readonly provider: 'openai' }>;

function getServerInfo(
  model: string,
  { name, server, model: id }: ServerRoute,
  reportedFacts: ModelFacts,
  settingsFacts: ModelFacts,
): ModelInfo {
  const preset = PROVIDER_PRESETS.get(name);
  const { price, ...otherFacts } = reportedFacts;
  // A preset with a changed address may have other prices.
  const isPresetServer = preset === undefined || preset.baseUrl === server.baseUrl;
  const webSearch = API_WITH_SEARCH.get(name) === resolveModelServerApi(name, server);
  const searchPrice = name === 'gemini' ? { webSearch: parseGeminiGeneration(id) >= 3 ? 0.014 : 0.035 } : {};
  return mergeModelFacts(
    { ...getServerModelDefaults(id, preset), id: model, label: model, webSearch },
    { ...otherFacts, ...(price && isPresetServer && { price: { ...price, ...searchPrice } }), ...settingsFacts },
    preset?.reasoning,
  );
}

/** Returns the facts that the provider settings state for all models of the server. */
function readServerFacts({ server: { contextWindow, maxOutputTokens, vision } }: ServerRoute): ModelFacts {
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
  };
}

/** Cap for the default output limit: some servers reserve memory for the requested number of tokens. */
const DEFAULT_OUTPUT_TOKENS = 32_000;

/** Merges reported facts into the assumed info of a model. Without a reasoning parameter, effort levels are ignored. */
function mergeModelFacts(info: ModelInfo, facts: ModelFacts, parameter: ReasoningParameter | undefined): ModelInfo {
  const { thinking, contextWindow, maxOutputTokens, ...otherFacts } = facts;
  const output = maxOutputTokens ?? limitOutputTokens(contextWindow, info.maxOutputTokens);
  return {
    ...info,
    ...otherFacts,
    ...(contextWindow !== undefined && { contextWindow }),
    maxOutputTokens: output,
    defaultOutputTokens:
      maxOutputTokens === undefined
        ? Math.min(info.defaultOutputTokens, output)
        : Math.min(output, DEFAULT_OUTPUT_TOKENS),
    ...(thinking === 'none' && NO_THINKING),
    ...(thinking !== undefined &&
      thinking !== 'none' &&
      parameter !== undefined &&
      toThinkingInfo(thinking, parameter)),
  };
}

/** Limits the output to a quarter of the window, so that there is room for the prompt. */
function limitOutputTokens(contextWindow: number | undefined, outputTokens: number): number {
  return contextWindow === undefined ? outputTokens : Math.min(outputTokens, Math.ceil(contextWindow / 4));
}

const NO_THINKING = { thinking: 'none', effort: false, efforts: [], thinkingOff: 'silence' } as const;

function toThinkingInfo(
  { levels, mayStop }: Exclude<NonNullable<ModelFacts['thinking']>, 'none'>,
  parameter: ReasoningParameter,
): Pick<ModelInfo, 'thinking' | 'effort' | 'efforts' | 'thinkingOff'> {
  const isOnOff = parameter === 'thinking.type';
  return {
    thinking: 'adaptive',
    effort: true,
    efforts: isOnOff ? [] : levels,
    thinkingOff: isOnOff || mayStop ? 'disabled' : 'never',
  };
}

/**
 * Returns the facts of Anthropic's model, without features the cloud lacks and with the price of its region. @internal
 */
export function getCloudModelInfo(cloud: CloudPlatform, model: string, settings: CloudSettings): ModelInfo {
  const id = `${cloud}/${model}`;
  const { clearsResultsAt, price, ...info } = getModelInfo(normalizeClaudeId(model));
  const isAws = cloud === 'bedrock' || cloud === 'mantle';
  return {
    ...info,
    id,
    label: id,
    webSearch: info.webSearch && !isAws,
    ...(price && { price: isRegional(cloud, model, settings) ? addRegionalSurcharge(price) : price }),
    ...(clearsResultsAt !== undefined && cloud === 'foundry' && { clearsResultsAt }),
  };
}

/** Returns true if the surcharge for regional endpoints applies; it exists since version 4.5. */
function isRegional(cloud: CloudPlatform, model: string, settings: CloudSettings): boolean {
  const [, major = 0, minor = 0] =
    /^claude-[a-z]+-(\d+)(?:-(\d)(?!\d))?/.exec(normalizeClaudeId(model))?.map(Number) ?? [];
  if (major < 4 || (major === 4 && minor < 5)) return false;
  if (cloud === 'bedrock') return !/(?:^|[/:])global\./.test(splitRegionFromModelName(model).model);
  return cloud === 'vertex' && resolveVertexRegion(settings, model) !== 'global';
}

const REGIONAL_FACTOR = 1.1;
/** Rounds because prices are shown to the user. */
const applySurcharge = (rate: number) => Math.round(rate * REGIONAL_FACTOR * 1e6) / 1e6;

function addRegionalSurcharge({ asOf, long, ...rates }: ModelPrice): ModelPrice {
  const scale = <Rates extends Omit<ModelPrice, 'asOf' | 'long'>>(base: Rates) => ({
    ...base,
    input: applySurcharge(base.input),
    output: applySurcharge(base.output),
    cacheRead: applySurcharge(base.cacheRead),
    cacheWrite: applySurcharge(base.cacheWrite),
  });
  return { ...scale(rates), ...(long && { long: scale(long) }), asOf };
}
