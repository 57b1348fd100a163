import type { Listed } from './listed.ts';

/** What can be called by name at this moment. */
export type Catalog = {
  readonly skills: readonly Listed[];
  readonly agents: readonly Listed[];
  readonly tools: readonly string[];
  readonly mcpInstructions: readonly { readonly server: string; readonly instructions: string }[];
};

/** What came and what went, a sentence for each kind of thing. */
export function catalogChanges(before: Catalog, after: Catalog): readonly string[] {
  return [
    ...listedChanges('skills', before.skills, after.skills),
    ...listedChanges('kinds of sub-agents', before.agents, after.agents),
    ...toolChanges(before.tools, after.tools),
    ...instructionChanges(before.mcpInstructions, after.mcpInstructions),
  ];
}

function listedChanges(what: string, before: readonly Listed[], after: readonly Listed[]): readonly string[] {
  const known = new Map(before.map((item) => [item.name, item.description]));
  const fresh = after.filter((item) => known.get(item.name) !== item.description);
  const gone = before.filter((item) => after.every((other) => other.name !== item.name));
  return [
    ...(fresh.length === 0 ? [] : [`New or changed ${what}:\n${fresh.map(lineOf).join('\n')}`]),
    ...(gone.length === 0 ? [] : [`No longer there (${what}): ${gone.map((item) => item.name).join(', ')}.`]),
  ];
}

function lineOf({ name, description }: Listed): string {
  return description.trim() === ''
    ? `- ${name}`
    : `- ${name}: ${description.replace(/\s+/g, ' ').trim().slice(0, 250)}`;
}

function toolChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  const fresh = after.filter((name) => !before.includes(name));
  const gone = before.filter((name) => !after.includes(name));
  return [
    ...(fresh.length === 0 ? [] : [`New tools: ${fresh.join(', ')}.`]),
    ...(gone.length === 0 ? [] : [`These tools are gone, do not call them: ${gone.join(', ')}.`]),
  ];
}

function instructionChanges(before: Catalog['mcpInstructions'], after: Catalog['mcpInstructions']): readonly string[] {
  const known = new Map(before.map((item) => [item.server, item.instructions]));
  return after
    .filter((item) => item.instructions.trim() !== '' && known.get(item.server) !== item.instructions)
    .map((item) => `The tool server ${item.server} says about its tools:\n${item.instructions.trim()}`);
}
