import type { ToolUseBlock } from '../contracts/message.ts';
import type { Tool } from '../contracts/tool.ts';
import { messageOf } from '../lib/errors.ts';

/** The tool a call names, by its name or an alias. */
export function findTool(name: string, tools: readonly Tool[]): Tool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases.includes(name));
}

/** Reads the input of a call; never throws. */
export function prepareCall(block: ToolUseBlock, tool: Tool): ReturnType<Tool['prepare']> {
  if (block.unparsed !== undefined) {
    return {
      ok: false,
      problem: `The input of ${block.name} was not complete JSON, or nested too deep. Call again with one plain JSON object.`,
    };
  }
  try {
    return tool.prepare(block.input);
  } catch (thrown) {
    return { ok: false, problem: `${block.name} could not read its input: ${messageOf(thrown)}.` };
  }
}

/** May it run in parallel with others? A call that will be refused anyway may. */
export function isSafe(block: ToolUseBlock, tool: Tool | undefined): boolean {
  const prepared = tool && prepareCall(block, tool);
  return prepared?.ok !== true || prepared.call.isConcurrencySafe;
}

/** The call in a few words, its bare name when its input says nothing. */
export function titleOf(block: ToolUseBlock, tool: Tool | undefined): string {
  const prepared = tool && prepareCall(block, tool);
  return prepared?.ok === true ? prepared.call.title : block.name;
}

/** What the model reads when it called something that is not there. */
export function unknownTool(name: string, tools: readonly Tool[]): string {
  const known = tools.map((tool) => tool.name).join(', ');
  return `There is no tool called ${name}. The tools are: ${known}.`;
}
