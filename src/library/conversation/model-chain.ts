import type { ModelInfo, ModelLink, ModelPort } from '../../contracts/model.ts';
import { DEFAULT_MODEL } from '../../model/catalog.ts';
import { createNamedModels, type NamedModels } from '../../model/choose/named-models.ts';
import { withRetry } from '../../model/retry.ts';
import type { AgentOptions, ModelChoice } from './options.ts';

/** A chain of models as the loop takes it: one port that knows who serves which link. */
export type ModelChain = {
  readonly links: readonly ModelLink[];
  readonly port: ModelPort;
  readonly infoOf: (model: string) => ModelInfo;
  /** What is known of the models that were named has been read. */
  readonly ready: () => Promise<void>;
};

type Link = {
  /** How the conversation calls it: the name of the model, told apart where two ports have one of that name. */
  readonly label: string;
  readonly model: string;
  readonly port: ModelPort;
  readonly infoOf: (model: string) => ModelInfo;
  readonly limits: Omit<ModelLink, 'model'>;
};

/** Names, ports and both with their patience, in the order in which they are asked. */
export function modelChain(
  chosen: AgentOptions['model'],
  settings: Pick<AgentOptions, 'apiKey' | 'baseUrl' | 'fetch'>,
  variables: Readonly<Record<string, string | undefined>>,
): ModelChain {
  const named = createNamedModels(namedConfig(settings, variables));
  const choices = chosen === undefined ? [DEFAULT_MODEL] : isList(chosen) ? chosen : [chosen];
  const links: Link[] = [];
  for (const choice of choices) links.push(linkOf(choice, links, named));
  const find = (label: string) => links.find((link) => link.label === label);
  return {
    links: links.map(({ label, limits }) => ({ model: label, ...limits })),
    infoOf: (label) => {
      const link = find(label);
      return link === undefined ? named.infoOf(label) : { ...link.infoOf(link.model), id: label };
    },
    ready: async () => void (await Promise.all(links.map(({ model }) => named.lookUp(model)))),
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

function isList(chosen: ModelChoice | readonly ModelChoice[]): chosen is readonly ModelChoice[] {
  return Array.isArray(chosen);
}

function linkOf(choice: ModelChoice, before: readonly Link[], named: NamedModels): Link {
  const { model, port, info = {}, ...limits } = partsOf(choice);
  const name = port === undefined ? named.nameOf(model) : model;
  const taken = before.filter((link) => link.model === name).length;
  return {
    label: taken === 0 ? name : `${name}#${taken + 1}`,
    model: name,
    port: port === undefined ? named.port : port.retries === true ? port : withRetry(port),
    infoOf: (id) => ({ ...named.infoOf(id), ...info }),
    limits,
  };
}

type LinkParts = ModelLink & { readonly port?: ModelPort; readonly info?: Partial<ModelInfo> };

function partsOf(choice: ModelChoice): LinkParts {
  if (typeof choice === 'string') return { model: choice };
  return 'stream' in choice ? { model: choice.name, port: choice } : choice;
}

function namedConfig(
  { apiKey, baseUrl = '', fetch }: Pick<AgentOptions, 'apiKey' | 'baseUrl' | 'fetch'>,
  variables: Readonly<Record<string, string | undefined>>,
) {
  const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL } = variables;
  const key = typeof apiKey === 'function' ? async () => apiKey() : (apiKey ?? ANTHROPIC_API_KEY);
  const address = baseUrl === '' ? ANTHROPIC_BASE_URL : baseUrl;
  return {
    ...(key === undefined ? {} : { apiKey: key }),
    ...(authToken === undefined || key !== undefined ? {} : { authToken }),
    ...(address === undefined ? {} : { baseUrl: address }),
    ...(fetch === undefined ? {} : { fetch }),
  };
}
