import type { ToolUseBlock } from '../contracts/message.ts';
import type { Tool } from '../contracts/tool.ts';

/** The tool a call names, by its name or an alias. */
export function findTool(name: string, tools: readonly Tool[]): Tool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases.includes(name));
}

/** May it run beside others? What will be refused anyway harms nobody. */
export function isSafe(block: ToolUseBlock, tool: Tool | undefined): boolean {
  if (tool === undefined || block.unparsed !== undefined) return true;
  try {
    const parsed = tool.prepare(block.input);
    return !parsed.ok || parsed.call.isConcurrencySafe;
  } catch {
    return true;
  }
}

/** The call in a few words, its bare name when its input says nothing. */
export function titleOf(block: ToolUseBlock, tool: Tool | undefined): string {
  try {
    const parsed = tool?.prepare(block.input);
    return parsed?.ok === true ? parsed.call.title : block.name;
  } catch {
    return block.name;
  }
}

/** What the model reads when it called something that is not there. */
export function unknownTool(name: string, tools: readonly Tool[]): string {
  const known = tools.map((tool) => tool.name).join(', ');
  return `There is no tool called ${name}. The tools are: ${known}.`;
}
