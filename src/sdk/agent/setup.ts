import type { RunnableToolCall } from '../../agent/undo-calls.ts';
import type { Effort, SystemPart } from '../../contracts/model.ts';
import type { ModelSelection } from '../../contracts/query.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import type { ModelChain } from '../../model/model-chain.ts';
import { type AgentTool, buildApplicationTool, isTool } from '../../tools/definition/application-tool.ts';
import { interceptCalls } from '../../tools/definition/intercept-calls.ts';
import { toToolOutcome } from '../../tools/definition/tool-result.ts';
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
  /** Makes each call of the tools. */
  readonly runCall: (call: RunnableToolCall) => Promise<ToolOutcome>;
};

/** Creates the setup of an agent. Arrays are copied, so later changes by the caller have no effect. */
export function createAgentSetup(options: AgentOptions, { createChain, runCall }: SetupDeps): AgentSetup {
  const toTools = (tools: AgentOptions['tools']) => toAgentTools('createAgent', tools, runCall);
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

/** Converts the tools of an application; each call goes through `runCall`. Throws for tools that no model can call. */
function toAgentTools(
  caller: string,
  tools: unknown,
  runCall: (call: RunnableToolCall) => Promise<ToolOutcome>,
): readonly AgentTool[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) throw new TypeError(`${caller}: tools must be a list.`);
  const names = new Set<string>();
  return tools.map((entry: unknown, index) => {
    if (typeof entry !== 'object' || entry === null)
      throw new TypeError(`${caller}: tools[${index}] is ${entry === null ? 'null' : typeof entry}, not a tool.`);
    const tool = isTool(entry) ? entry : buildApplicationTool(toDefinition(entry, caller, index));
    if (typeof tool.name !== 'string' || tool.name === '')
      throw new TypeError(`${caller}: tools[${index}] has no name.`);
    if (names.has(tool.name)) throw new TypeError(`${caller}: two tools are named ${tool.name}.`);
    names.add(tool.name);
    return interceptCalls(tool, (call, context) => {
      const run = async () => toToolOutcome(await call.call(context), tool.name);
      return runCall({ tool, input: call.input, context, run });
    });
  });
}

function toDefinition(entry: object, caller: string, index: number): object & { readonly name: string } {
  const name = 'name' in entry ? entry.name : findFunctionName(entry);
  if (typeof name !== 'string') throw new TypeError(`${caller}: tools[${index}] has no name.`);
  return { ...entry, name };
}

/** Returns the name in the form of chat completions: `{ type: 'function', function: { name } }`. */
function findFunctionName(entry: object): unknown {
  if (!('function' in entry) || typeof entry.function !== 'object' || entry.function === null) return undefined;
  return 'name' in entry.function ? entry.function.name : undefined;
}
