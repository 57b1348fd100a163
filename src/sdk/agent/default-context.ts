import { createAgentContext } from '../../agent/agent-context.ts';
import type { SpendingMeter } from '../../agent/spending.ts';
import { addContextReductionLevels } from '../../context/context-levels.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import { passthroughContext } from '../../engine/default-deps.ts';
import { toRequestMessages } from '../../engine/request/build-model-request.ts';
import type { AgentOptions } from './options.ts';
import type { AgentSetup } from './setup.ts';

/** Creates the context pipeline that the options of an agent describe, with the levels of the application. */
export function createApplicationContext(
  options: AgentOptions,
  setup: AgentSetup,
  meter: SpendingMeter,
  newId: () => string,
): ContextPort {
  const { context = createDefaultContext(options, setup, meter, newId), contextLevels = [] } = options;
  return addContextReductionLevels(context === 'off' ? passthroughContext : context, contextLevels, () => {
    const { chain, model } = setup.current();
    return chain.getModelInfo(model);
  });
}

/**
 * Creates the default context pipeline: it excludes old results, then summarizes with the current model. It stores
 * nothing.
 */
function createDefaultContext(
  options: AgentOptions,
  setup: AgentSetup,
  meter: SpendingMeter,
  newId: () => string,
): ContextPort {
  const { transformContext } = options;
  const tools = () => setup.current().tools;
  const findTool = (name: string) => tools().find((tool) => tool.name === name || tool.aliases.includes(name));
  return createAgentContext({
    model: () => setup.current().model,
    chain(model) {
      const [, ...fallbacks] = setup.current().chain.links;
      return [model, ...fallbacks.map((link) => link.model)];
    },
    getModelInfo: (model) => setup.current().chain.getModelInfo(model),
    port: {
      name: 'summary',
      stream(request, streamOptions, signal) {
        const { port } = setup.current().chain;
        return meter.wrap(port.stream)(options.onPayload?.(request) ?? request, streamOptions, signal);
      },
    },
    // The application's transformation also applies to summaries.
    transformMessages: async (messages) => (await transformContext?.(messages)) ?? messages,
    toRequestMessages: createMessageConversion(options),
    system: () => setup.current().systemPrompt,
    tools,
    listSpecs: () => tools().map(({ spec }) => spec),
    thinking() {
      const { effort, thinkingBudgetTokens } = setup.selectModels();
      return { effort, thinkingBudgetTokens };
    },
    compactAtPercent: () => options.compactAtPercent,
    store: async () => undefined,
    storedAt: () => undefined,
    // The metered port counts the usage.
    onUsage: () => undefined,
    carried: () => ({ todos: [], filesRead: [], filesChanged: [], skills: [] }),
    ...(options.hooks === undefined ? {} : { beforeCompact: options.hooks.beforeCompact }),
    toolNamed: (name) => findTool(name)?.traits,
    newId,
  });
}

/** Creates the conversion of messages for requests. */
export function createMessageConversion({ convertToLlm }: AgentOptions): QueryDeps['toRequestMessages'] {
  return convertToLlm === undefined ? toRequestMessages : (messages) => toRequestMessages(convertToLlm(messages));
}
