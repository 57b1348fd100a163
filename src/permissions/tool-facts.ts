import type { JsonObject } from '../contracts/json.ts';
import type { ToolFacts, ToolTraits } from '../contracts/permission.ts';
import type { PermissionFs } from './permission-fs.ts';

/** Returns what a call would touch, as declared by its tool. */
export type GetToolFacts = (tool: string, input: JsonObject, cwd: string) => ToolFacts;

/** The inputs of a decision besides the policy: the disk, and the facts tools declare about their calls. */
export type DecisionSources = { readonly fs: PermissionFs; readonly getToolFacts: GetToolFacts };

/** Creates the lookup of tool facts from tool traits; an unknown tool may touch anything. */
export function createToolFactsLookup(tools: readonly ToolTraits[]): GetToolFacts {
  return (tool, input, cwd) => {
    const traits = findToolTraits(tools, tool);
    const name = traits?.name ?? tool;
    const declared = traits?.facts?.(input, cwd) ?? { kind: tool.startsWith('mcp__') ? 'mcp' : 'other' };
    return { tool: name, input, ...declared };
  };
}

/** Finds the traits of a tool by its name or an alias. */
export function findToolTraits(tools: readonly ToolTraits[], tool: string): ToolTraits | undefined {
  return tools.find(({ name, aliases }) => name === tool || aliases?.includes(tool) === true);
}
