import type { ModelEvent, ModelInfo, ModelOutcome, ModelPort } from '../contracts/model.ts';
import { exhaustive } from '../lib/exhaustive.ts';
import type { AnthropicSettings } from './anthropic.ts';
import { DEFAULT_MODEL, listModels, modelInfo, SMALL_MODEL, serverModelInfo } from './catalog.ts';
import type { DemoSettings } from './demo/demo-port.ts';
import { modelsElsewhere } from './discovery.ts';
import { locateModel, type ModelPlace, type Providers } from './model-name.ts';
import { missingKey, PRESETS } from './presets.ts';
import { type RetryPolicy, sleep, withRetry } from './retry.ts';
import type { Patience } from './wire/attempt.ts';

/** Everything the choice depends on, as plain values. */
export type PortConfig = {
  /** As typed: an alias, an id, `demo`, `ollama/qwen3`, `http://host:port/v1#model`. */
  readonly model: string;
  readonly smallModel?: string;
  readonly apiKey?: string | (() => Promise<string>);
  /** Called when the API refused a key that was fetched, so that a fresh one can be. */
  readonly onRefusedKey?: () => void;
  readonly authToken?: string;
  /** What to call the place the key came from (`ANTHROPIC_API_KEY`, `settings` …). */
  readonly keySource?: string;
  readonly baseUrl?: string;
  readonly betas?: readonly string[];
  readonly providers?: Providers;
  readonly patience?: () => Partial<Patience>;
  readonly retry?: RetryPolicy;
  readonly demo?: Partial<DemoSettings>;
  readonly fetch?: typeof fetch;
};

/** Every model the configuration can reach. */
export type ModelChoice = {
  readonly port: ModelPort;
  /** The model choice: stored with a session and repeated on resume. */
  readonly model: string;
  readonly provider: ModelPlace['provider'];
  readonly keySource: string;
  /** Absent where side calls should be left out. */
  readonly smallModel: string | undefined;
  readonly infoOf: (model: string) => ModelInfo;
  /** What can be chosen from: of the place keys are for, of configured servers, of those on this machine. */
  readonly offered: () => Promise<readonly ModelInfo[]>;
};

/** A port that serves every model the configuration can reach, or the sentence that says why not. */
export type PortChoice = ({ readonly ok: true } & ModelChoice) | { readonly ok: false; readonly problem: string };

/** Said when a model needs a key and there is none. */
export const NO_KEY =
  'No API key. Set ANTHROPIC_API_KEY, use a local model server (for example `--model ollama/qwen3`), or try the built-in demo with `--model demo`.';

/** Whoever serves a model of any name that the configuration can reach. */
export type NamedModels = {
  readonly port: ModelPort;
  readonly infoOf: (model: string) => ModelInfo;
  /** The model choice that a name stands for. */
  readonly nameOf: (model: string) => string;
};

/** The same without a first model: a key that is missing is told by the reply that needed it. */
export function createNamedModels(given: Omit<PortConfig, 'model'>): NamedModels {
  const config = { ...given, model: DEFAULT_MODEL };
  return {
    ...openRouter(config),
    nameOf(model) {
      const place = locateModel(model, config.providers);
      return place.provider === 'openai' ? model.trim() : place.model;
    },
  };
}

/** Chooses how to reach the model that is asked for. Nothing is contacted yet. */
export function choosePort(config: PortConfig): PortChoice {
  const place = locateModel(config.model, config.providers);
  const hasKey = config.apiKey !== undefined || config.authToken !== undefined;
  const problem = keyProblem(place, config);
  if (problem !== undefined) return { ok: false, problem };
  const router = openRouter(config);
  return {
    ok: true,
    ...router,
    model: place.provider === 'openai' ? config.model.trim() : place.model,
    provider: place.provider,
    keySource: place.provider === 'anthropic' ? (config.keySource ?? 'none') : 'none',
    smallModel: config.smallModel ?? (place.provider === 'anthropic' ? SMALL_MODEL : undefined),
    offered: async () => [
      ...(hasKey ? listModels() : []),
      ...(await modelsElsewhere(config.providers)).map(router.infoOf),
    ],
  };
}

/** Why a place cannot be asked: the key it needs is not there. */
function keyProblem(place: ModelPlace, { apiKey, authToken }: PortConfig): string | undefined {
  if (place.provider === 'openai') return missingKey(place.name, place.server);
  return place.provider === 'anthropic' && apiKey === undefined && authToken === undefined ? NO_KEY : undefined;
}

/** The port with its patience, and what is known of its models: also what a provider turned out not to do. */
function openRouter(config: PortConfig): Pick<ModelChoice, 'port' | 'infoOf'> {
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

function infoOf(model: string, { providers }: PortConfig, editing: Editing): ModelInfo {
  const place = locateModel(model, providers);
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

type RouterConfig = PortConfig & Required<Pick<AnthropicSettings, 'infoOf' | 'onRefusedEditing'>>;

async function openPort(place: ModelPlace, config: RouterConfig): Promise<ModelPort> {
  const { patience, fetch: send } = config;
  const common = { ...(patience && { patience }), ...(send && { fetch: send }) };
  switch (place.provider) {
    case 'demo': {
      const { createDemoPort } = await import('./demo/demo-port.ts');
      return createDemoPort({ sleep, ...config.demo });
    }
    case 'openai': {
      const { createOpenAiPort } = await import('./openai-compatible.ts');
      return createOpenAiPort({
        ...place.server,
        name: place.name,
        reasoning: PRESETS.get(place.name)?.reasoning,
        ...common,
      });
    }
    case 'anthropic': {
      const { createAnthropicPort } = await import('./anthropic.ts');
      const { apiKey, authToken = '', baseUrl, betas, onRefusedKey, infoOf, onRefusedEditing } = config;
      return createAnthropicPort({
        credentials: apiKey === undefined ? { authToken } : { apiKey },
        ...(baseUrl && { baseUrl }),
        ...(onRefusedKey && { onRefusedKey }),
        ...(betas && { betas }),
        infoOf,
        onRefusedEditing,
        ...common,
      });
    }
    default:
      return exhaustive(place);
  }
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
