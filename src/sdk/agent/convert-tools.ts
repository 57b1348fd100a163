import type { JsonObject } from '../../contracts/json.ts';
import type { CallContext, ToolOutcome } from '../../contracts/tool.ts';
import { type AgentTool, buildTool, isTool } from '../../tools/definition/application-tool.ts';
import { toToolOutcome } from '../../tools/definition/tool-result.ts';

/** A call of a tool that is about to run, with the function that runs it. */
export type RunnableToolCall = {
  readonly tool: AgentTool;
  readonly input: JsonObject;
  readonly context: CallContext;
  readonly run: () => Promise<ToolOutcome>;
};

/** Converts the tools of an application; each call goes through `runCall`. Throws for tools that no model can call. */
export function toAgentTools(
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
    const tool = isTool(entry) ? entry : buildTool(toDefinition(entry, caller, index));
    if (typeof tool.name !== 'string' || tool.name === '')
      throw new TypeError(`${caller}: tools[${index}] has no name.`);
    if (names.has(tool.name)) throw new TypeError(`${caller}: two tools are named ${tool.name}.`);
    names.add(tool.name);
    return wrapCalls(tool, runCall);
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

/** Wraps a tool so that its calls go through `runCall`, and their results are outcomes whatever it returns. */
function wrapCalls(tool: AgentTool, runCall: (call: RunnableToolCall) => Promise<ToolOutcome>): AgentTool {
  return {
    ...tool,
    aliases: tool.aliases ?? [],
    label: tool.label ?? tool.name,
    get spec() {
      return tool.spec;
    },
    prepare(input) {
      const prepared = tool.prepare(input);
      if (!prepared.ok) return prepared;
      const { call } = prepared;
      return {
        ok: true,
        call: {
          ...call,
          call: (context) => {
            const run = async () => toToolOutcome(await call.call(context), tool.name);
            return runCall({ tool, input: call.input, context, run });
          },
        },
      };
    },
  };
}
