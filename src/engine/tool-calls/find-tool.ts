import type { ToolUseBlock } from '../../contracts/message.ts';
import type { Tool } from '../../contracts/tool.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';

/**
 * Returns the tool that a call means: by its exact name, by the form of another assistant, or by a name that differs in
 * case. Tools of servers and applications know no other forms, so nothing else answers to their names.
 */
export function findTool(
  { name, input }: Pick<ToolUseBlock, 'name' | 'input'>,
  tools: readonly Tool[],
): Tool | undefined {
  const exact = tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases.includes(name));
  if (exact !== undefined && exact.answersTo === undefined) return exact;
  const findAnswer = (by: 'arguments' | 'name') => tools.find((tool) => tool.answersTo?.(name, input) === by);
  // The arguments say more than the name: a patch is not a command, even if it is sent to the shell.
  return findAnswer('arguments') ?? exact ?? findAnswer('name') ?? findIgnoringCase(name, tools);
}

function findIgnoringCase(name: string, tools: readonly Tool[]): Tool | undefined {
  const matches = tools.filter((tool) => tool.name.toLowerCase() === name.toLowerCase());
  return matches.length === 1 ? matches[0] : undefined;
}

/** Validates the input of a call; never throws. */
export function prepareCall(block: ToolUseBlock, tool: Tool): ReturnType<Tool['prepare']> {
  if (block.unparsed !== undefined) {
    return {
      ok: false,
      problem: `The input of ${tool.name} was not complete JSON, or nested too deep. Call again with one plain JSON object.`,
    };
  }
  try {
    return tool.prepare(block.input);
  } catch (thrown) {
    return { ok: false, problem: `${tool.name} could not read its input: ${getErrorPhrase(thrown)}.` };
  }
}

/** Returns a short title of a call; the name of the tool if the input is invalid. */
export function getCallTitle(block: ToolUseBlock, tool: Tool | undefined): string {
  const prepared = tool && prepareCall(block, tool);
  return prepared?.ok === true ? prepared.call.title : block.name;
}

/** Returns the message for a call of a tool that does not exist. */
export function describeUnknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.filter((tool) => tool.isHidden !== true).map((tool) => tool.name);
  const closest = findClosestWord(name, names);
  const suggestion = closest === undefined ? '' : ` Did you mean ${closest}?`;
  return `There is no tool called ${name}.${suggestion} The tools are: ${names.join(', ')}.`;
}
