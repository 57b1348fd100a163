import type { ModelEvent, ModelOutcome, ModelPort, StreamOptions } from '../../contracts/model.ts';
import { cloudSecrets } from '../clouds/cloud-settings.ts';
import { effortToSend } from '../efforts.ts';
import { withRetry } from '../retry.ts';
import { keyProblem } from './key-problem.ts';
import { createModelInfo, type InfoOfModels } from './model-info.ts';
import { type ModelPlace, type Providers, placeOf } from './model-name.ts';
import { openPort, type RouterConfig } from './open-port.ts';
import type { PortConfig } from './port-config.ts';

/** The port with its patience, and what is known of its models: also what a provider turned out not to do. */
export function openRouter(config: PortConfig): Router {
  const { onRefusedEditing, ...info } = createModelInfo(config);
  const router: RouterConfig = { ...config, infoOf: info.infoOf, onRefusedEditing };
  return { port: withRetry(createRouter(router), config.retry), ...info };
}

type Router = { readonly port: ModelPort } & Omit<InfoOfModels, 'onRefusedEditing'>;

/** Sends each request to the provider its model belongs to, so that `/model` and fallbacks may cross providers. */
function createRouter(config: RouterConfig): ModelPort {
  const ports = new Map<string, Promise<ModelPort>>();

  function portOf(place: ModelPlace): Promise<ModelPort> {
    const key = keyOf(place);
    const port = ports.get(key) ?? openPort(place, config);
    ports.set(key, port);
    return port;
  }

  return {
    name: placeOf(config, config.model).provider,
    async prepare() {
      await (await portOf(placeOf(config, config.model))).prepare?.();
    },
    async *stream(request, options, signal) {
      const place = placeOf(config, request.model);
      const problem = keyProblem(place, config);
      const isAskedFor = place.provider === 'openai' && options.getApiKey !== undefined;
      if (problem !== undefined && !isAskedFor) return { ok: false, failure: { kind: 'auth', message: problem } };
      const port = await portOf(place);
      const key = fetchedKey(place, options, config);
      const told = {
        ...request,
        model: place.model,
        effort: effortToSend(request.effort, config.infoOf(request.model)),
      };
      const attempt = () => underName(port.stream(told, key.options, signal), request.model);
      let outcome = yield* attempt();
      if (!outcome.ok && outcome.failure.status === 401 && key.renew()) outcome = yield* attempt();
      return keyless(outcome, [...keysFor(place, config), ...key.used()]);
    },
    async countTokens(request, signal) {
      const place = placeOf(config, request.model);
      return (await portOf(place)).countTokens?.({ ...request, model: place.model }, signal);
    },
  };
}

/** Requests with the same key go through the same port. */
function keyOf(place: ModelPlace): string {
  if (place.provider === 'openai') return `${place.name} ${place.server.baseUrl} ${place.server.apiKey ?? ''}`;
  return place.provider === 'cloud' ? place.cloud : place.provider;
}

/** The key of a place that fetches it: asked for with each request, and anew once when it is refused. */
function fetchedKey(place: ModelPlace, options: StreamOptions, { providers }: PortConfig) {
  // Anthropic's port was made with the key of the start; one that came later is shown instead.
  const later = place.provider === 'anthropic' ? providers?.anthropic?.apiKey : undefined;
  const server: Providers[string] = place.provider === 'openai' ? place.server : {};
  const { fetchKey = later === undefined ? undefined : async () => later, onRefusedKey } = server;
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

/** Shorter ones are placeholders, and parts of too many words. */
const SHORTEST_KEY = 8;

function keysFor(place: ModelPlace, { apiKey, authToken, clouds }: PortConfig): readonly string[] {
  const ofClouds = place.provider === 'cloud' && clouds !== undefined ? cloudSecrets(clouds) : [];
  const keys = place.provider === 'openai' ? [place.server.apiKey] : [apiKey, authToken, ...ofClouds];
  return keys.filter((key) => typeof key === 'string');
}

/** Some gateways repeat the key they refuse, and failures are shown and stored. */
function keyless(outcome: ModelOutcome, keys: readonly string[]): ModelOutcome {
  if (outcome.ok) return outcome;
  const message = keys
    .filter((key) => key.length >= SHORTEST_KEY)
    .reduce((words, key) => words.replaceAll(key, '[secret]'), outcome.failure.message);
  return { ...outcome, failure: { ...outcome.failure, message } };
}

/** Replies carry the model as it was chosen, not as its server calls it. */
async function* underName(
  stream: AsyncGenerator<ModelEvent, ModelOutcome>,
  model: string,
): AsyncGenerator<ModelEvent, ModelOutcome> {
  try {
    while (true) {
      const next = await stream.next();
      if (next.done) return renamed(next.value, model);
      yield next.value.type === 'message_start' ? { ...next.value, model } : next.value;
    }
  } finally {
    await stream.return({ ok: false, failure: { kind: 'aborted', message: 'Interrupted.' } });
  }
}

function renamed(outcome: ModelOutcome, model: string): ModelOutcome {
  if (outcome.ok) return { ...outcome, message: { ...outcome.message, model } };
  return outcome.partial ? { ...outcome, partial: { ...outcome.partial, model } } : outcome;
}
