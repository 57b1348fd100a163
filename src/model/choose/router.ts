import type { ModelEvent, ModelOutcome, ModelPort } from '../../contracts/model.ts';
import { withRetry } from '../retry.ts';
import { keyProblem } from './key-problem.ts';
import { createModelInfo, type InfoOfModels } from './model-info.ts';
import { locateModel, type ModelPlace } from './model-name.ts';
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
    const key = place.provider === 'openai' ? `${place.name} ${place.server.baseUrl}` : place.provider;
    const port = ports.get(key) ?? openPort(place, config);
    ports.set(key, port);
    return port;
  }

  return {
    name: locateModel(config.model, config.providers).provider,
    async prepare() {
      await (await portOf(locateModel(config.model, config.providers))).prepare?.();
    },
    async *stream(request, options, signal) {
      const place = locateModel(request.model, config.providers);
      const problem = keyProblem(place, config);
      const isAskedFor = place.provider === 'openai' && options.getApiKey !== undefined;
      if (problem !== undefined && !isAskedFor) return { ok: false, failure: { kind: 'auth', message: problem } };
      const port = await portOf(place);
      const stream = port.stream({ ...request, model: place.model }, options, signal);
      return keyless(yield* underName(stream, request.model), keysFor(place, config));
    },
    async countTokens(request, signal) {
      const place = locateModel(request.model, config.providers);
      return (await portOf(place)).countTokens?.({ ...request, model: place.model }, signal);
    },
  };
}

/** Shorter ones are placeholders, and parts of too many words. */
const SHORTEST_KEY = 8;

function keysFor(place: ModelPlace, { apiKey, authToken }: PortConfig): readonly string[] {
  const keys = place.provider === 'openai' ? [place.server.apiKey] : [apiKey, authToken];
  return keys.filter((key) => typeof key === 'string').filter((key) => key.length >= SHORTEST_KEY);
}

/** Some gateways repeat the key they refuse, and failures are shown and stored. */
function keyless(outcome: ModelOutcome, keys: readonly string[]): ModelOutcome {
  if (outcome.ok) return outcome;
  const message = keys.reduce((words, key) => words.replaceAll(key, '[secret]'), outcome.failure.message);
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
