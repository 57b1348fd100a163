import type { ModelEvent, ModelInfo, ModelOutcome, ModelPort } from '../../contracts/model.ts';
import { modelInfo, serverModelInfo } from '../catalog.ts';
import { claudeId } from '../claude-name.ts';
import { cloudSecrets } from '../clouds/cloud-settings.ts';
import { PRESETS } from '../presets.ts';
import { withRetry } from '../retry.ts';
import { keyProblem } from './key-problem.ts';
import { locateModel, type ModelPlace } from './model-name.ts';
import { openPort, type RouterConfig } from './open-port.ts';
import type { PortConfig } from './port-config.ts';

/** The port with its patience, and what is known of its models: also what a provider turned out not to do. */
export function openRouter(config: PortConfig): Router {
  let editing: Editing = 'by the provider';
  const router: RouterConfig = {
    ...config,
    infoOf: (model) => infoOf(model, config, editing),
    onRefusedEditing: () => {
      editing = 'by us';
    },
  };
  return { port: withRetry(createRouter(router), config.retry), infoOf: router.infoOf };
}

/** Who leaves old results out of a request. */
type Editing = 'by the provider' | 'by us';

function infoOf(model: string, { providers, claudeAt }: PortConfig, editing: Editing): ModelInfo {
  const place = locateModel(model, providers, claudeAt);
  if (place.provider === 'cloud') return cloudModelInfo(place, editing);
  if (place.provider !== 'openai') {
    const { clearsResultsAt, ...info } = modelInfo(place.model);
    return clearsResultsAt === undefined || editing === 'by us' ? info : { ...info, clearsResultsAt };
  }
  const { contextWindow, maxOutputTokens, vision } = place.server;
  return {
    ...serverModelInfo(place.model, PRESETS.get(place.name)),
    id: model,
    label: model,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens, defaultOutputTokens: maxOutputTokens }),
    ...(vision !== undefined && { vision }),
  };
}

/** The same model as Anthropic's own, without what the cloud lacks. */
function cloudModelInfo({ cloud, model }: CloudPlace, editing: Editing): ModelInfo {
  const id = `${cloud}/${model}`;
  const { clearsResultsAt, ...info } = modelInfo(claudeId(model));
  const isOfAws = cloud === 'bedrock' || cloud === 'mantle';
  return {
    ...info,
    id,
    label: id,
    webSearch: info.webSearch && !isOfAws,
    ...(clearsResultsAt !== undefined && cloud === 'foundry' && editing === 'by the provider' && { clearsResultsAt }),
  };
}

type CloudPlace = Extract<ModelPlace, { readonly provider: 'cloud' }>;

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
    name: locateModel(config.model, config.providers, config.claudeAt).provider,
    async prepare() {
      await (await portOf(locateModel(config.model, config.providers, config.claudeAt))).prepare?.();
    },
    async *stream(request, options, signal) {
      const place = locateModel(request.model, config.providers, config.claudeAt);
      const problem = keyProblem(place, config);
      const isAskedFor = place.provider === 'openai' && options.getApiKey !== undefined;
      if (problem !== undefined && !isAskedFor) return { ok: false, failure: { kind: 'auth', message: problem } };
      const port = await portOf(place);
      const stream = port.stream({ ...request, model: place.model }, options, signal);
      return keyless(yield* underName(stream, request.model), keysFor(place, config));
    },
    async countTokens(request, signal) {
      const place = locateModel(request.model, config.providers, config.claudeAt);
      return (await portOf(place)).countTokens?.({ ...request, model: place.model }, signal);
    },
  };
}

/** Requests with the same key go through the same port. */
function keyOf(place: ModelPlace): string {
  if (place.provider === 'openai') return `${place.name} ${place.server.baseUrl}`;
  return place.provider === 'cloud' ? place.cloud : place.provider;
}

type Router = { readonly port: ModelPort; readonly infoOf: (model: string) => ModelInfo };

/** Shorter ones are placeholders, and parts of too many words. */
const SHORTEST_KEY = 8;

function keysFor(place: ModelPlace, { apiKey, authToken, clouds }: PortConfig): readonly string[] {
  const ofClouds = place.provider === 'cloud' && clouds !== undefined ? cloudSecrets(clouds) : [];
  const keys = place.provider === 'openai' ? [place.server.apiKey] : [apiKey, authToken, ...ofClouds];
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
