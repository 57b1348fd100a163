import { z } from 'zod';
import type { ModelInfo, ModelLink, ModelPort, ModelPrice } from '../contracts/model.ts';
import { omitUndefined } from '../lib/json.ts';
import { parseArgument } from '../lib/parse-argument.ts';
import { DEFAULT_MODEL } from './built-in-models.ts';
import { guardModelPort } from './model-port-watchdog.ts';
import { findPresetKeys, PROVIDER_PRESETS } from './provider-presets.ts';
import type { ModelConfig } from './registry/model-config.ts';
import type { ProviderConfigs } from './registry/model-route.ts';
import { createNamedModels, type ModelDirectory } from './registry/model-router.ts';
import { withRetry } from './retry.ts';

/** A model: a name (`sonnet`, `ollama/qwen3`, `demo`), a custom port, or either with its own limits. */
export type ModelChoice =
  | string
  | ModelPort
  | (ModelLimits & { readonly model: string; readonly port?: ModelPort })
  | (ModelLimits & { readonly model?: string; readonly port: ModelPort });

/** The limits of one model; without a `port`, the provider of the model name serves it. */
export type ModelLimits = {
  /** An attempt ends when no data arrives for this long. */
  readonly timeoutMs?: number;
  /** Number of retries before the next model of the chain is asked. */
  readonly maxRetries?: number;
  /** Properties of an unknown model; by default 32,000 tokens of context and 4,096 tokens of output, no price. */
  readonly info?: Partial<Omit<ModelInfo, 'id' | 'price'>> & { readonly price?: PriceInput };
};

/** The price of a model in dollars per million tokens. Cached tokens cost as much as others, unless it says so. */
export type PriceInput = Pick<ModelPrice, 'input' | 'output'> & Partial<ModelPrice>;

/** How the provider of the named models is reached. */
export type ModelAccess = {
  /** API key, or a function that is called before each request. By default `ANTHROPIC_API_KEY` of the environment. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Base URL of the API. By default `ANTHROPIC_BASE_URL` of the environment. */
  readonly baseUrl?: string;
  /** Replaces `fetch`, for proxies, recorders and tests. */
  readonly fetch?: typeof fetch;
};

/** A model chain for the loop: one port that routes each request to the port of its model. */
export type ModelChain = {
  readonly links: readonly ModelLink[];
  readonly port: ModelPort;
  readonly getModelInfo: (model: string) => ModelInfo;
  /** Resolves when the properties of all named models are loaded. */
  readonly waitUntilReady: () => Promise<void>;
};

type Link = {
  /** Unique label: the model name, with a number if several ports have a model of that name. */
  readonly label: string;
  readonly model: string;
  readonly port: ModelPort;
  readonly infoOf: (model: string) => ModelInfo;
  readonly limits: Omit<ModelLink, 'model'>;
};

/** Creates a model chain from names and ports, in the order in which they are asked. */
export function createModelChain(
  model: ModelChoice | readonly ModelChoice[] | undefined,
  settings: ModelAccess,
  variables: Readonly<Record<string, string>>,
): ModelChain {
  const choices = model === undefined ? [DEFAULT_MODEL] : isList(model) ? model : [model];
  if (choices.length === 0) throw new TypeError('model: the list of models is empty.');
  const named = createNamedModels(createConfig(choices, settings, variables));
  const links: Link[] = [];
  for (const choice of choices) links.push(createLink(choice, links, named));
  const find = (label: string) => links.find((link) => link.label === label);
  return {
    links: links.map(({ label, limits }) => ({ model: label, ...limits })),
    getModelInfo: (label) => {
      const link = find(label);
      return link === undefined ? named.infoOf(label) : { ...link.infoOf(link.model), id: label };
    },
    waitUntilReady: async () => void (await Promise.all(links.map((link) => named.lookUp(link.model)))),
    port: {
      name: links.map(({ port }) => port.name).join(', '),
      retries: true,
      stream(request, options, signal) {
        const link = find(request.model);
        const port = link?.port ?? named.port;
        return port.stream({ ...request, model: link?.model ?? request.model }, options, signal);
      },
    },
  };
}

function isList(choices: ModelChoice | readonly ModelChoice[]): choices is readonly ModelChoice[] {
  return Array.isArray(choices);
}

function createLink(choice: ModelChoice, earlier: readonly Link[], named: ModelDirectory): Link {
  const { model, port, info: { price, ...info } = {}, ...limits } = resolveChoice(choice);
  const name = port === undefined ? named.nameOf(model) : model;
  const duplicates = earlier.filter((link) => link.model === name).length;
  return {
    label: duplicates === 0 ? name : `${name}#${duplicates + 1}`,
    model: name,
    port: port === undefined ? named.port : preparePort(port),
    infoOf: (id) => ({ ...named.infoOf(id), ...info, ...(price && { price: completePrice(price) }) }),
    limits,
  };
}

function preparePort(port: ModelPort): ModelPort {
  const guarded = guardModelPort(port);
  return port.retries === true ? guarded : withRetry(guarded);
}

function completePrice({ input, output, ...price }: PriceInput): ModelPrice {
  return { input, output, cacheRead: input, cacheWrite: input, asOf: '', ...price };
}

type LinkParts = ModelLink & { readonly port?: ModelPort; readonly info?: LinkInfo };
type LinkInfo = Partial<Omit<ModelInfo, 'price'>> & { readonly price?: PriceInput };

function resolveChoice(choice: ModelChoice): LinkParts {
  if (typeof choice === 'string') return { model: choice };
  if (isPort(choice)) return { model: choice.name ?? 'custom', port: choice };
  const { model = choice.port?.name, ...rest } = parseArgument('model', choice, choiceSchema);
  if (model === undefined) throw new TypeError('model: an entry has neither the name of a model nor a port.');
  return { model, ...rest };
}

function isPort(choice: object): choice is ModelPort {
  return 'stream' in choice && typeof choice.stream === 'function';
}

const portSchema = z.custom<ModelPort>(
  (port) => typeof port === 'object' && port !== null && isPort(port),
  'must be an object with a function stream(request, options, signal)',
);
const priceSchema = z.looseObject({ input: z.number().nonnegative(), output: z.number().nonnegative() });
const infoSchema = z
  .custom<LinkInfo>((info) => typeof info === 'object' && info !== null, 'must be an object')
  .refine(({ price }) => price === undefined || priceSchema.safeParse(price).success, {
    message: 'price must be { input, output } in dollars per million tokens',
  });
const choiceSchema = z.strictObject({
  model: z.string().min(1, 'is empty').exactOptional(),
  port: portSchema.exactOptional(),
  timeoutMs: z.number().positive().exactOptional(),
  maxRetries: z.number().int().nonnegative().exactOptional(),
  info: infoSchema.exactOptional(),
});

/** Returns the credentials of the named models. Key and address belong to the provider of the first one. */
function createConfig(
  choices: readonly ModelChoice[],
  { apiKey, baseUrl = '', fetch }: ModelAccess,
  variables: Readonly<Record<string, string>>,
): Omit<ModelConfig, 'model'> {
  const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL } = variables;
  const preset = findPreset(choices);
  const stored: ProviderConfigs = Object.fromEntries(findPresetKeys(variables));
  const given = typeof apiKey === 'function' ? async () => apiKey() : apiKey;
  // An empty key is usually an unset variable of the application; no other key is taken for it.
  const key = preset === undefined ? (given ?? ANTHROPIC_API_KEY) : ANTHROPIC_API_KEY;
  const address = preset === undefined && baseUrl !== '' ? baseUrl : ANTHROPIC_BASE_URL;
  const ownServer = {
    ...(typeof given === 'function'
      ? { fetchKey: given }
      : given === undefined || given === ''
        ? {}
        : { apiKey: given }),
    ...(baseUrl === '' ? {} : { baseUrl }),
  };
  return {
    keyStore: 'none',
    providers: preset === undefined ? stored : { ...stored, [preset]: { ...stored[preset], ...ownServer } },
    ...(key === undefined || key === '' ? {} : { apiKey: key }),
    ...(authToken === undefined || key !== undefined ? {} : { authToken }),
    ...omitUndefined({ baseUrl: address, fetch }),
  };
}

/** Returns the provider that serves the first named model, if it is not Anthropic. */
function findPreset(choices: readonly ModelChoice[]): string | undefined {
  const names = choices.flatMap((choice) => {
    if (typeof choice === 'string') return [choice];
    return isPort(choice) || choice.port !== undefined ? [] : [choice.model];
  });
  const [prefix = '', ...rest] = names[0]?.split('/') ?? [];
  return rest.length > 0 && PROVIDER_PRESETS.has(prefix) ? prefix : undefined;
}
