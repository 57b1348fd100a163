import { makeSummarize } from '../../agent/summarize.ts';
import { createContext } from '../../context/create-context.ts';
import { promptTokens } from '../../context/tokens.ts';
import type { Usage } from '../../contracts/message.ts';
import type { ContextPort } from '../../contracts/query.ts';
import { DEFAULT_MAX_RESULT_CHARS } from '../../tools/build-tool.ts';
import { seenByModel } from './callbacks.ts';
import type { AgentOptions } from './options.ts';
import type { Setup } from './setup.ts';

type Needs = {
  readonly options: Pick<
    AgentOptions,
    'compactAtPercent' | 'hooks' | 'convertToLlm' | 'transformContext' | 'onPayload'
  >;
  readonly setup: Setup;
  readonly onUsage: (model: string, usage: Usage) => void;
  readonly newId: () => string;
};

/** Makes room by itself: old results first, then a summary by the model in use. Nothing is kept beside the conversation. */
export function defaultContext({ options, setup, onUsage, newId }: Needs): ContextPort {
  const tools = () => setup.now().tools;
  const named = (name: string) => tools().find((tool) => tool.name === name || tool.aliases.includes(name));
  const specs = () => tools().map(({ spec }) => spec);
  const infoOf = (model: string) => setup.now().chain.infoOf(model);
  return createContext({
    model: () => setup.now().model,
    modelInfo: infoOf,
    overheadTokens: () => promptTokens(setup.now().systemPrompt, specs()),
    compactAtPercent: () => options.compactAtPercent,
    limitChars: (tool) => named(tool)?.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS,
    store: async () => undefined,
    storedAt: () => undefined,
    async summarize(messages, order, signal) {
      const { chain, thinking, thinkingBudgetTokens, model } = setup.now();
      // Whatever the application keeps from the model, it keeps from it here too.
      const seen = (await options.transformContext?.(messages)) ?? messages;
      const others = chain.links.slice(1).map((link) => link.model);
      return makeSummarize({
        chain: () => [model, ...others],
        infoOf,
        port: {
          ...chain.port,
          stream: (request, how, stop) => chain.port.stream(options.onPayload?.(request) ?? request, how, stop),
        },
        toRequestMessages: seenByModel(options),
        system: () => setup.now().systemPrompt,
        specs,
        thinking: () => ({ effort: thinking, thinkingBudgetTokens }),
        onUsage,
      })(seen, order, signal);
    },
    carried: () => ({ todos: [], filesRead: [], filesChanged: [], skills: [] }),
    ...(options.hooks === undefined ? {} : { beforeCompact: options.hooks.beforeCompact }),
    forgetReads: () => {
      for (const tool of tools()) tool.forgetShown?.();
    },
    toolNamed: (name) => named(name)?.statement,
    newId,
  });
}
