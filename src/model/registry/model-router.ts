import type { ModelEvent, ModelInfo, ModelOutcome, ModelPort, StreamOptions } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/errors.ts';
import { DEFAULT_MODEL } from '../built-in-models.ts';
import { resolveRequestEffort } from '../efforts.ts';
import { abandonPortOnAbort } from '../model-port-watchdog.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';
import type { AnthropicSettings } from '../providers/anthropic/anthropic-port.ts';
import { EMPTY_CLOUD_SETTINGS, listCloudSecretValues } from '../providers/cloud-settings.ts';
import { sleep, withRetry } from '../retry.ts';
import { explainMissingCredentials, explainUnknownProvider } from './explain-missing-model.ts';
import type { ModelConfig } from './model-config.ts';
import { createModelInfoSource, type ModelInfoSource } from './model-info-source.ts';
import {
  formatModelName,
  type ModelRoute,
  type ProviderConfigs,
  resolveModelServerApi,
  resolveRoute,
} from './model-route.ts';

/** Creates the router for a configuration, with retries, together with the facts about its models. */
export function createModelRouter(config: ModelConfig): Router {
  const { onRefusedEditing, ...info } = createModelInfoSource(config);
  const router: ProviderPortConfig = { ...config, infoOf: info.infoOf, onRefusedEditing };
  return { port: abandonPortOnAbort(withRetry(createRoutingPort(router), config.retry)), ...info };
}

type Router = { readonly port: ModelPort } & Omit<ModelInfoSource, 'onRefusedEditing'>;

/** Creates a port that sends each request to the provider of its model, so `/model` and fallbacks may switch providers. */
function createRoutingPort(config: ProviderPortConfig): ModelPort {
  const ports = new Map<string, Promise<ModelPort>>();

  function getPort(route: ModelRoute): Promise<ModelPort> {
    const key = formatPortKey(route);
    const port = ports.get(key) ?? createProviderPort(route, config);
    ports.set(key, port);
    return port;
  }

  return {
    name: resolveRoute(config, config.model).provider,
    async prepare() {
      await (await getPort(resolveRoute(config, config.model))).prepare?.();
    },
    async *stream(request, options, signal) {
      const route = resolveRoute(config, request.model);
      const unknown = explainUnknownProvider(config, route);
      if (unknown !== undefined) return { ok: false, failure: { kind: 'not_found', message: unknown } };
      const problem = explainMissingCredentials(route, config);
      const hasRequestKey = route.provider === 'openai' && options.getApiKey !== undefined;
      if (problem !== undefined && !hasRequestKey) return { ok: false, failure: { kind: 'auth', message: problem } };
      const port = await getPort(route);
      const key = prepareFetchedKey(route, options, config);
      const providerRequest = {
        ...request,
        model: route.model,
        effort: resolveRequestEffort(request.effort, config.infoOf(request.model)),
      };
      const streamOnce = () => withModelName(port.stream(providerRequest, key.options, signal), request.model);
      let outcome = yield* streamOnce();
      if (!outcome.ok && outcome.failure.status === 401 && key.renew()) outcome = yield* streamOnce();
      return redactKeys(outcome, [...listKeys(route, config), ...key.used()]);
    },
    async countTokens(request, signal) {
      const route = resolveRoute(config, request.model);
      return (await getPort(route)).countTokens?.({ ...request, model: route.model }, signal);
    },
  };
}

/** Returns the cache key of the port that serves a route. */
function formatPortKey(route: ModelRoute): string {
  if (route.provider === 'openai') return `${route.name} ${route.server.baseUrl} ${route.server.apiKey ?? ''}`;
  return route.provider === 'cloud' ? route.cloud : route.provider;
}

/** Adds the provider's fetched key to the request options; `renew` discards a rejected key so that the next is fresh. */
function prepareFetchedKey(route: ModelRoute, options: StreamOptions, { providers }: ModelConfig) {
  // Anthropic's port holds the key of the start; a key stored later is passed with each request.
  const storedKey = route.provider === 'anthropic' ? providers?.anthropic?.apiKey : undefined;
  const server: ProviderConfigs[string] = route.provider === 'openai' ? route.server : {};
  const { fetchKey = storedKey === undefined ? undefined : async () => storedKey, onRefusedKey } = server;
  if (fetchKey === undefined || options.getApiKey !== undefined) return { options, used: () => [], renew: () => false };
  const used = new Set<string>();
  const getApiKey = async () => {
    const key = await fetchKey();
    used.add(key);
    return key;
  };
  return {
    options: { ...options, getApiKey },
    used: () => [...used],
    renew() {
      onRefusedKey?.();
      return onRefusedKey !== undefined;
    },
  };
}

/** Shorter keys are placeholders that would match ordinary words. */
const MIN_KEY_LENGTH = 8;

function listKeys(route: ModelRoute, { apiKey, authToken, clouds }: ModelConfig): readonly string[] {
  const cloudKeys = route.provider === 'cloud' && clouds !== undefined ? listCloudSecretValues(clouds) : [];
  const keys = route.provider === 'openai' ? [route.server.apiKey] : [apiKey, authToken, ...cloudKeys];
  return keys.filter((key) => typeof key === 'string');
}

/** Redacts API keys in a failure message: some gateways echo the rejected key, and failures are shown and stored. */
function redactKeys(outcome: ModelOutcome, keys: readonly string[]): ModelOutcome {
  if (outcome.ok) return outcome;
  const message = keys
    .filter((key) => key.length >= MIN_KEY_LENGTH)
    .reduce((text, key) => text.replaceAll(key, '[secret]'), outcome.failure.message);
  return { ...outcome, failure: { ...outcome.failure, message } };
}

/** Replaces the server's model name in the reply with the name under which the model was requested. */
async function* withModelName(
  stream: AsyncGenerator<ModelEvent, ModelOutcome>,
  model: string,
): AsyncGenerator<ModelEvent, ModelOutcome> {
  try {
    while (true) {
      const next = await stream.next();
      if (next.done) return setModelName(next.value, model);
      yield next.value.type === 'message_start' ? { ...next.value, model } : next.value;
    }
  } finally {
    await stream.return({ ok: false, failure: { kind: 'aborted', message: 'Interrupted.' } });
  }
}

function setModelName(outcome: ModelOutcome, model: string): ModelOutcome {
  if (outcome.ok) return { ...outcome, message: { ...outcome.message, model } };
  return outcome.partial ? { ...outcome, partial: { ...outcome.partial, model } } : outcome;
}

/** A port and facts for every model that the configuration can reach, addressed by name. */
export type ModelDirectory = {
  readonly port: ModelPort;
  /** Returns the facts known so far, with conservative values for the rest. */
  readonly infoOf: (model: string) => ModelInfo;
  /** Loads facts about a model from the catalogue, without network access. */
  readonly lookUp: (model: string) => Promise<void>;
  /** Resolves an alias to the full model name. */
  readonly nameOf: (model: string) => string;
};

/** Creates access to models by name, without an initial model: a missing key fails the first request that needs it. */
export function createNamedModels(baseConfig: Omit<ModelConfig, 'model'>): ModelDirectory {
  const config = { ...baseConfig, model: DEFAULT_MODEL };
  return {
    ...createModelRouter(config),
    nameOf(model) {
      return formatModelName(resolveRoute(config, model), model);
    },
  };
}

/** The configuration with facts about models and the listener for rejected context editing. */
type ProviderPortConfig = ModelConfig & Required<Pick<AnthropicSettings, 'infoOf' | 'onRefusedEditing'>>;

/** Creates the port of a provider, loading its client library on demand. */
async function createProviderPort(route: ModelRoute, config: ProviderPortConfig): Promise<ModelPort> {
  const { timeouts, fetch: send } = config;
  const common: CommonOptions = { ...(timeouts && { timeouts }), ...(send && { fetch: send }) };
  switch (route.provider) {
    case 'demo': {
      const { createDemoPort } = await import('../providers/demo/demo-port.ts');
      return createDemoPort({ sleep, ...config.demo });
    }
    case 'openai':
      return openServerPort(route, config, common);
    case 'cloud': {
      const { openCloudPort } = await import('../providers/cloud-port.ts');
      const { betas, infoOf, onRefusedEditing, clouds = EMPTY_CLOUD_SETTINGS } = config;
      return openCloudPort(route.cloud, clouds, {
        ...(betas && { betas }),
        infoOf: (model) => infoOf(`${route.cloud}/${model}`),
        onRefusedEditing,
        ...common,
      });
    }
    case 'anthropic': {
      const { createAnthropicPort } = await import('../providers/anthropic/anthropic-port.ts');
      const { apiKey, authToken = '', baseUrl, betas, customHeaders, onRefusedKey, infoOf, onRefusedEditing } = config;
      return createAnthropicPort({
        credentials: apiKey === undefined ? { authToken } : { apiKey },
        ...(baseUrl && { baseUrl }),
        ...(customHeaders && { customHeaders }),
        ...(onRefusedKey && { onRefusedKey }),
        ...(betas && { betas }),
        infoOf,
        onRefusedEditing,
        ...common,
      });
    }
    default:
      return exhaustive(route);
  }
}

type CommonOptions = Pick<ModelConfig, 'timeouts' | 'fetch'>;

/** Creates the port of a server by the API it implements. */
async function openServerPort(
  { name, server }: Extract<ModelRoute, { readonly provider: 'openai' }>,
  { clouds = EMPTY_CLOUD_SETTINGS }: ProviderPortConfig,
  common: CommonOptions,
): Promise<ModelPort> {
  const api = resolveModelServerApi(name, server);
  switch (api) {
    case 'responses': {
      const { createResponsesPort } = await import('../providers/openai-responses/responses-port.ts');
      if (name !== 'azure') return createResponsesPort({ ...server, name, ...common });
      const { openEntraTokenSource } = await import('../providers/entra-token.ts');
      return createResponsesPort({
        ...server,
        name,
        getAzureToken: openEntraTokenSource(clouds, common.fetch),
        ...common,
      });
    }
    case 'gemini': {
      const { createGeminiPort } = await import('../providers/gemini/gemini-port.ts');
      return createGeminiPort({ ...server, name, ...common });
    }
    case 'chat': {
      const { createOpenAiPort } = await import('../providers/openai-chat/openai-chat-port.ts');
      return createOpenAiPort({ ...server, name, reasoning: PROVIDER_PRESETS.get(name)?.reasoning, ...common });
    }
    default:
      return exhaustive(api);
  }
}
