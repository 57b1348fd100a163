import type { Effort, SystemPart } from '../contracts/model.ts';
import type { Tool } from '../contracts/tool.ts';
import type { ModelChain } from './model-chain.ts';
import type { AgentChange, AgentOptions } from './options.ts';

/** What an agent is set up with at one moment. */
type SetupValue = {
  readonly chain: ModelChain;
  readonly systemPrompt: readonly SystemPart[];
  readonly tools: readonly Tool[];
  readonly thinking: Effort;
};

export type Setup = {
  now(): SetupValue;
  change(change: AgentChange): void;
};

/** Holds what may be changed while an agent lives. What is handed in is copied: who changes it later changes nothing here. */
export function createSetup(options: AgentOptions, chainOf: (model: AgentOptions['model']) => ModelChain): Setup {
  let value: SetupValue = {
    chain: chainOf(options.model),
    systemPrompt: systemParts(options.systemPrompt ?? ''),
    tools: [...(options.tools ?? [])],
    thinking: options.thinking ?? 'off',
  };
  return {
    now: () => value,
    change({ model, systemPrompt, tools, thinking }) {
      value = {
        chain: model === undefined ? value.chain : chainOf(model),
        systemPrompt: systemPrompt === undefined ? value.systemPrompt : systemParts(systemPrompt),
        tools: tools === undefined ? value.tools : [...tools],
        thinking: thinking ?? value.thinking,
      };
    },
  };
}

function systemParts(given: string | readonly SystemPart[]): readonly SystemPart[] {
  if (typeof given !== 'string') return given.map((part) => ({ ...part }));
  return given === '' ? [] : [{ name: 'base', text: given }];
}
