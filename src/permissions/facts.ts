import type { JsonObject } from '../contracts/json.ts';
import type { ToolFacts, ToolStatement } from '../contracts/permission.ts';

/** What a call would touch, told by its tool. */
export type FactsOf = (tool: string, input: JsonObject, cwd: string) => ToolFacts;

/** Asks the tools that said something of themselves; a tool nobody knows touches anything. */
export function factsFrom(statements: readonly ToolStatement[]): FactsOf {
  return (tool, input, cwd) => {
    const statement = statementOf(statements, tool);
    const name = statement?.name ?? tool;
    const said = statement?.facts?.(input, cwd) ?? { kind: tool.startsWith('mcp__') ? 'mcp' : 'other' };
    return { tool: name, input, ...said };
  };
}

/** The statement of a tool by any of its names. */
export function statementOf(statements: readonly ToolStatement[], tool: string): ToolStatement | undefined {
  return statements.find(({ name, aliases }) => name === tool || aliases?.includes(tool) === true);
}
