import { z } from 'zod';
import type { ModelInfo, ModelLink, ModelPort, ModelPrice } from '../contracts/model.ts';
import { parseArgument } from '../lib/parse-argument.ts';
import { DEFAULT_MODEL } from './built-in-models.ts';
import { createChainConfig, type ModelAccess } from './chain-credentials.ts';
import { guardModelPort } from './model-port-watchdog.ts';
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

/** A model chain for the loop: one port that routes each request to the port of its model. */
export type ModelChain = {
  readonly links: readonly ModelLink[];
  readonly port: ModelPort;
  readonly getModelInfo: (model: string) => ModelInfo;
  /** Resolves when the properties of all named models are loaded. */
  readonly waitUntilReady: () => Promise<void>;
};

/** A model of the chain, with the port that serves it. */
type ResolvedModel = {
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
  const named = createNamedModels(createChainConfig(findFirstNamed(choices), settings, variables));
  const models: ResolvedModel[] = [];
  for (const choice of choices) models.push(resolveModelChoice(choice, models, named));
  const find = (label: string) => models.find((resolved) => resolved.label === label);
  return {
    links: models.map(({ label, limits }) => ({ model: label, ...limits })),
    getModelInfo: (label) => {
      const resolved = find(label);
      return resolved === undefined ? named.infoOf(label) : { ...resolved.infoOf(resolved.model), id: label };
    },
    waitUntilReady: async () => void (await Promise.all(models.map((resolved) => named.lookUp(resolved.model)))),
    port: {
      name: models.map(({ port }) => port.name).join(', '),
      retries: true,
      stream(request, options, signal) {
        const { port, model } = find(request.model) ?? { port: named.port, model: request.model };
        return port.stream({ ...request, model }, options, signal);
      },
    },
  };
}

function isList(choices: ModelChoice | readonly ModelChoice[]): choices is readonly ModelChoice[] {
  return Array.isArray(choices);
}

function resolveModelChoice(
  choice: ModelChoice,
  earlier: readonly ResolvedModel[],
  named: ModelDirectory,
): ResolvedModel {
  const { model, port, info: { price, ...info } = {}, ...limits } = readChoice(choice);
  const name = port === undefined ? named.nameOf(model) : model;
  const duplicates = earlier.filter((resolved) => resolved.model === name).length;
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

type ChoiceParts = ModelLink & { readonly port?: ModelPort; readonly info?: ChoiceInfo };
type ChoiceInfo = Partial<Omit<ModelInfo, 'price'>> & { readonly price?: PriceInput };

function readChoice(choice: ModelChoice): ChoiceParts {
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
  .custom<ChoiceInfo>((info) => typeof info === 'object' && info !== null, 'must be an object')
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

/** Returns the name of the first model that no port of the application serves. */
function findFirstNamed(choices: readonly ModelChoice[]): string | undefined {
  const names = choices.flatMap((choice) => {
    if (typeof choice === 'string') return [choice];
    return isPort(choice) || choice.port !== undefined ? [] : [choice.model];
  });
  return names[0];
}
