import { createSummarizer } from '../../agent/summarize.ts';
import { createContext } from '../../context/create-context.ts';
import { estimateSystemPromptTokens } from '../../context/token-estimate.ts';
import type { ContextPort } from '../../contracts/query.ts';
import { DEFAULT_MAX_RESULT_CHARS } from '../../tools/build-tool.ts';
import type { AgentOptions } from './options.ts';
import { createMessageConversion } from './run-deps.ts';
import type { AgentSetup } from './setup.ts';
import type { SpendingMeter } from './spending.ts';

type DefaultContextDeps = {
  readonly options: Pick<
    AgentOptions,
    'compactAtPercent' | 'hooks' | 'convertToLlm' | 'transformContext' | 'onPayload'
  >;
  readonly setup: AgentSetup;
  readonly meter: SpendingMeter;
  readonly newId: () => string;
};

/**
 * Creates the default context pipeline: it excludes old results, then summarizes with the current model. It stores
 * nothing.
 */
export function createDefaultContext({ options, setup, meter, newId }: DefaultContextDeps): ContextPort {
  const tools = () => setup.current().tools;
  const findTool = (name: string) => tools().find((tool) => tool.name === name || tool.aliases.includes(name));
  const listSpecs = () => tools().map(({ spec }) => spec);
  const getModelInfo = (model: string) => setup.current().chain.getModelInfo(model);
  return createContext({
    model: () => setup.current().model,
    modelInfo: getModelInfo,
    overheadTokens: () => estimateSystemPromptTokens(setup.current().systemPrompt, listSpecs()),
    compactAtPercent: () => options.compactAtPercent,
    limitChars: (tool) => findTool(tool)?.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    store: async () => undefined,
    storedAt: () => undefined,
    async summarize(messages, order, signal) {
      const { chain, thinking, thinkingBudgetTokens, model } = setup.current();
      // The application's transformation also applies to summaries.
      const transformed = (await options.transformContext?.(messages)) ?? messages;
      const others = chain.links.slice(1).map((link) => link.model);
      return createSummarizer({
        chain: () => [model, ...others],
        getModelInfo: getModelInfo,
        port: {
          ...chain.port,
          stream: (request, streamOptions, abortSignal) =>
            meter.wrap(chain.port.stream)(options.onPayload?.(request) ?? request, streamOptions, abortSignal),
        },
        toRequestMessages: createMessageConversion(options),
        system: () => setup.current().systemPrompt,
        listSpecs: listSpecs,
        thinking: () => ({ effort: thinking, thinkingBudgetTokens }),
        // The metered port counts the usage.
        onUsage: () => undefined,
      })(transformed, order, signal);
    },
    carried: () => ({ todos: [], filesRead: [], filesChanged: [], skills: [] }),
    ...(options.hooks === undefined ? {} : { beforeCompact: options.hooks.beforeCompact }),
    toolNamed: (name) => findTool(name)?.traits,
    newId,
  });
}
