import type { Effort, SystemPart } from '../../contracts/model.ts';
import type { Answering } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import type { ModelChain } from './model-chain.ts';
import type { AgentChange, AgentOptions } from './options.ts';

/** What an agent is set up with at one moment. */
type SetupValue = {
  readonly chain: ModelChain;
  /** The first of the chain. */
  readonly model: string;
  readonly systemPrompt: readonly SystemPart[];
  readonly tools: readonly Tool[];
  readonly thinking: Effort;
  readonly thinkingBudgetTokens: number | undefined;
};

export type Setup = {
  now(): SetupValue;
  change(change: AgentChange): void;
  /** The same as the loop asks for it. */
  answering(): Answering;
};

/** Holds what may be changed while an agent lives. What is handed in is copied: who changes it later changes nothing here. */
export function createSetup(options: AgentOptions, chainOf: (model: AgentOptions['model']) => ModelChain): Setup {
  const complete = (parts: Pick<SetupValue, 'chain' | 'systemPrompt' | 'tools' | 'thinking'>): SetupValue => ({
    ...parts,
    model: parts.chain.links[0]?.model ?? '',
    thinkingBudgetTokens: options.thinkingBudgets?.[parts.thinking],
  });
  let value = complete({
    chain: chainOf(options.model),
    systemPrompt: systemParts(options.systemPrompt ?? ''),
    tools: [...(options.tools ?? [])],
    thinking: options.thinking ?? 'off',
  });
  return {
    now: () => value,
    change({ model, systemPrompt, tools, thinking }) {
      value = complete({
        chain: model === undefined ? value.chain : chainOf(model),
        systemPrompt: systemPrompt === undefined ? value.systemPrompt : systemParts(systemPrompt),
        tools: tools === undefined ? value.tools : [...tools],
        thinking: thinking ?? value.thinking,
      });
    },
    answering: () => ({
      chain: value.chain.links,
      effort: value.thinking,
      thinkingBudgetTokens: value.thinkingBudgetTokens,
    }),
  };
}

function systemParts(given: string | readonly SystemPart[]): readonly SystemPart[] {
  if (typeof given !== 'string') return given.map((part) => ({ ...part }));
  return given === '' ? [] : [{ name: 'base', text: given }];
}
