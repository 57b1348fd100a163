import type { Effort, SystemPart } from '../../contracts/model.ts';
import type { ModelSelection } from '../../contracts/query.ts';
import type { ModelChain } from '../../model/model-chain.ts';
import type { AgentTool } from '../../tools/definition/application-tool.ts';
import type { AgentChange, AgentOptions } from './options.ts';

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
