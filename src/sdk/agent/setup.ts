import { z } from 'zod';
import type { Effort, ModelInfo, ModelLink, ModelPort, ModelPrice, SystemPart } from '../../contracts/model.ts';
import type { ModelSelection } from '../../contracts/query.ts';
import { omitUndefined } from '../../lib/json.ts';
import { DEFAULT_MODEL } from '../../model/built-in-models.ts';
import { findPresetKeys, PROVIDER_PRESETS } from '../../model/provider-presets.ts';
import type { ModelConfig } from '../../model/registry/model-config.ts';
import type { ProviderConfigs } from '../../model/registry/model-route.ts';
import { createNamedModels, type ModelDirectory } from '../../model/registry/model-router.ts';
import { withRetry } from '../../model/retry.ts';
import type { AgentTool } from '../build-tool.ts';
import { parseSdkArgument } from '../parse-sdk-argument.ts';
import { abandonPortOnAbort, guardModelPort } from './model-port-watchdog.ts';
import type { AgentChange, AgentOptions, ModelChoice, PriceInput } from './options.ts';

/** The setup of an agent at one moment. */
type SetupValue = {
  readonly chain: ModelChain;
  /** First model of the chain. */
  readonly model: string;
  readonly systemPrompt: readonly SystemPart[];
  readonly tools: readonly AgentTool[];
  readonly thinking: Effort;
  readonly thinkingBudgetTokens: number | undefined;
};

/** The holder of the changeable setup of an agent. */
export type AgentSetup = {
  current(): SetupValue;
  update(change: AgentChange): void;
  /** Returns the model selection for the loop. */
  selectModels(): ModelSelection;
};

type SetupDeps = {
  readonly createChain: (model: AgentOptions['model']) => ModelChain;
  /** Converts the tools of the application. */
  readonly toTools: (tools: AgentOptions['tools']) => readonly AgentTool[];
};

/** Creates the setup of an agent. Arrays are copied, so later changes by the caller have no effect. */
export function createAgentSetup(options: AgentOptions, { createChain, toTools }: SetupDeps): AgentSetup {
  const completeSetup = (parts: Pick<SetupValue, 'chain' | 'systemPrompt' | 'tools' | 'thinking'>): SetupValue => ({
    ...parts,
    model: parts.chain.links[0]?.model ?? '',
    thinkingBudgetTokens: options.thinkingBudgets?.[parts.thinking],
  });
  let value = completeSetup({
    chain: createChain(options.model),
    systemPrompt: toSystemParts(options.systemPrompt ?? ''),
    tools: toTools(options.tools),
    thinking: options.thinking ?? 'off',
  });
  return {
    current: () => value,
    update({ model, systemPrompt, tools, thinking }) {
      value = completeSetup({
        chain: model === undefined ? value.chain : createChain(model),
        systemPrompt: systemPrompt === undefined ? value.systemPrompt : toSystemParts(systemPrompt),
        tools: tools === undefined ? value.tools : toTools(tools),
        thinking: thinking ?? value.thinking,
      });
    },
    selectModels: () => ({
      chain: value.chain.links,
      effort: value.thinking,
      thinkingBudgetTokens: value.thinkingBudgetTokens,
    }),
  };
}

function toSystemParts(prompt: string | readonly (string | Partial<SystemPart>)[]): readonly SystemPart[] {
  const parts = typeof prompt === 'string' ? [{ name: 'base', text: prompt }] : prompt;
  return parts.flatMap((part, index) => {
    const { text = '', name = `part-${index + 1}` } = typeof part === 'string' ? { text: part } : part;
    return text === '' ? [] : [{ name, text }];
  });
}

/** A model chain for the loop: one port that routes each request to the port of its model. */
type ModelChain = {
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
  model: AgentOptions['model'],
  settings: Pick<AgentOptions, 'apiKey' | 'baseUrl' | 'fetch'>,
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
    port: port === undefined ? abandonPortOnAbort(named.port) : preparePort(port),
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
  const { model = choice.port?.name, ...rest } = parseSdkArgument('model', choice, choiceSchema);
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
  { apiKey, baseUrl = '', fetch }: Pick<AgentOptions, 'apiKey' | 'baseUrl' | 'fetch'>,
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
