import type { RunnableToolCall } from '../../agent/undo-calls.ts';
import type { Effort, SystemPart } from '../../contracts/model.ts';
import type { ModelSelection } from '../../contracts/query.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { createModelChain, type ModelChain } from '../../model/model-chain.ts';
import { type AgentTool, buildApplicationTool, isTool } from '../../tools/definition/application-tool.ts';
import { interceptCalls } from '../../tools/definition/intercept-calls.ts';
import { toToolOutcome } from '../../tools/definition/tool-result.ts';
import { getEnvironmentVariables } from '../runtime.ts';
import type { AgentChange, AgentOptions } from './options.ts';

/** The parts of an agent that `update` changes. */
type SetupParts = {
  readonly chain: ModelChain;
  readonly systemPrompt: readonly SystemPart[];
  readonly tools: readonly AgentTool[];
  readonly thinking: Effort;
};

/** The setup of an agent at one moment. */
export type SetupValue = SetupParts & {
  /** First model of the chain. */
  readonly model: string;
};

/** The holder of the changeable setup of an agent. */
export type AgentSetup = {
  current(): SetupValue;
  update(change: AgentChange): void;
  /** Returns the model selection for the loop. */
  selectModels(): ModelSelection;
};

/** Makes a call of a tool. */
type RunCall = (call: RunnableToolCall) => Promise<ToolOutcome>;

/** Creates the setup of an agent. Arrays are copied, so later changes by the caller have no effect. */
export function createAgentSetup(options: AgentOptions, runCall: RunCall): AgentSetup {
  const createChain = (model: AgentOptions['model']) => createModelChain(model, options, getEnvironmentVariables());
  let parts: SetupParts = {
    chain: createChain(options.model),
    systemPrompt: toSystemParts(options.systemPrompt ?? ''),
    tools: toAgentTools(options.tools ?? [], runCall),
    thinking: options.thinking ?? 'off',
  };
  return {
    current: () => ({ ...parts, model: parts.chain.links[0]?.model ?? '' }),
    update({ model, systemPrompt, tools, thinking }) {
      parts = {
        chain: model === undefined ? parts.chain : createChain(model),
        systemPrompt: systemPrompt === undefined ? parts.systemPrompt : toSystemParts(systemPrompt),
        tools: tools === undefined ? parts.tools : toAgentTools(tools, runCall),
        thinking: thinking ?? parts.thinking,
      };
    },
    selectModels: () => ({
      chain: parts.chain.links,
      effort: parts.thinking,
      thinkingBudgetTokens: options.thinkingBudgets?.[parts.thinking],
    }),
  };
}

/** Names the parts of a system prompt, which the report on the context shows. Empty parts are left out. */
function toSystemParts(prompt: string | readonly (string | Partial<SystemPart>)[]): readonly SystemPart[] {
  const parts = typeof prompt === 'string' ? [{ name: 'base', text: prompt }] : prompt;
  return parts.flatMap((part, index) => {
    const { text = '', name = `part-${index + 1}` } = typeof part === 'string' ? { text: part } : part;
    return text === '' ? [] : [{ name, text }];
  });
}

/** Converts the tools of an application; each call goes through `runCall`. Throws for tools that no model can call. */
function toAgentTools(entries: unknown, runCall: RunCall): readonly AgentTool[] {
  if (!Array.isArray(entries)) throw new TypeError('createAgent: tools must be a list.');
  const tools = entries.map((entry: unknown, index) => toAgentTool(entry, `createAgent: tools[${index}]`));
  const repeated = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) < index);
  if (repeated !== undefined) throw new TypeError(`createAgent: two tools are named ${repeated.name}.`);
  return tools.map((tool) =>
    interceptCalls(tool, (call, context) => {
      const run = async () => toToolOutcome(await call.call(context), tool.name);
      return runCall({ tool, input: call.input, context, run });
    }),
  );
}

/** Converts an entry of `tools`; `location` names it in messages. */
function toAgentTool(entry: unknown, location: string): AgentTool {
  if (typeof entry !== 'object' || entry === null)
    throw new TypeError(`${location} is ${entry === null ? 'null' : typeof entry}, not a tool.`);
  const name = 'name' in entry ? entry.name : findFunctionName(entry);
  if (typeof name !== 'string' || name === '') throw new TypeError(`${location} has no name.`);
  return isTool(entry) ? entry : buildApplicationTool({ ...entry, name });
}

/** Returns the name in the form of chat completions: `{ type: 'function', function: { name } }`. */
function findFunctionName(entry: object): unknown {
  if (!('function' in entry) || typeof entry.function !== 'object' || entry.function === null) return undefined;
  return 'name' in entry.function ? entry.function.name : undefined;
}
