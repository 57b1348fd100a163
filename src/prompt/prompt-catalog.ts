import { truncate } from '../lib/text/format.ts';

/** The skills, agents and tools that can be called by name. */
export type CapabilityCatalog = {
  readonly skills: readonly SkillOrAgentEntry[];
  readonly agents: readonly SkillOrAgentEntry[];
  readonly tools: readonly string[];
  readonly mcpInstructions: readonly { readonly server: string; readonly instructions: string }[];
};

/** Describes added, changed and removed entries, with a sentence for each kind. */
export function describePromptCatalogChanges(before: CapabilityCatalog, after: CapabilityCatalog): readonly string[] {
  return [
    ...describeEntryChanges('skills', before.skills, after.skills),
    ...describeEntryChanges('kinds of sub-agents', before.agents, after.agents),
    ...describeToolChanges(before.tools, after.tools),
    ...describeInstructionChanges(before.mcpInstructions, after.mcpInstructions),
  ];
}

function describeEntryChanges(
  kind: string,
  before: readonly SkillOrAgentEntry[],
  after: readonly SkillOrAgentEntry[],
): readonly string[] {
  const known = new Map(before.map((item) => [item.name, item.description]));
  const updated = after.filter((item) => known.get(item.name) !== item.description);
  const removed = before.filter((item) => after.every((other) => other.name !== item.name));
  return [
    ...(updated.length === 0 ? [] : [`New or changed ${kind}:\n${updated.map(renderChangedEntry).join('\n')}`]),
    ...(removed.length === 0 ? [] : [`No longer there (${kind}): ${removed.map((item) => item.name).join(', ')}.`]),
  ];
}

function renderChangedEntry({ name, description }: SkillOrAgentEntry): string {
  return description.trim() === ''
    ? `- ${name}`
    : `- ${name}: ${description.replace(/\s+/g, ' ').trim().slice(0, 250)}`;
}

function describeToolChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  const updated = after.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !after.includes(name));
  return [
    ...(updated.length === 0 ? [] : [`New tools: ${updated.join(', ')}.`]),
    ...(removed.length === 0 ? [] : [`These tools are gone, do not call them: ${removed.join(', ')}.`]),
  ];
}

function describeInstructionChanges(
  before: CapabilityCatalog['mcpInstructions'],
  after: CapabilityCatalog['mcpInstructions'],
): readonly string[] {
  const known = new Map(before.map((item) => [item.server, item.instructions]));
  return after
    .filter((item) => item.instructions.trim() !== '' && known.get(item.server) !== item.instructions)
    .map(
      (item) => `The tool server ${item.server} says about its tools:\n${quoteServerText(item.instructions.trim())}`,
    );
}

/** Quotes the words of a tool server, so that nothing in them looks like a section or a tag of the prompt. */
export function quoteServerText(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${line.replaceAll(/<(\/?)\s*(?=(?:system-)?reminder\b)/gi, '<$1 ')}`)
    .join('\n');
}

/** A skill or agent that the model can call by name. */
export type SkillOrAgentEntry = { readonly name: string; readonly description: string };

const DESCRIPTION_CHARS = [250, 100, 40, 0];

/** Renders names and descriptions within a budget: first shortens descriptions, then omits and counts names. */
export function renderPromptCatalogEntries(
  title: string,
  items: readonly SkillOrAgentEntry[],
  budgetChars: number,
): string {
  if (items.length === 0) return '';
  const sorted = items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const chars of DESCRIPTION_CHARS) {
    const lines = sorted.map((item) => renderEntry(item, chars));
    if (lines.join('\n').length <= budgetChars) return `# ${title}\n${lines.join('\n')}`;
  }
  let remaining = budgetChars;
  const names = sorted
    .map((item) => renderEntry(item, 0))
    .filter((line) => {
      remaining -= line.length + 1;
      return remaining >= 0;
    });
  return `# ${title}\n${[...names, `- and ${sorted.length - names.length} more, not listed here`].join('\n')}`;
}

function renderEntry({ name, description }: SkillOrAgentEntry, chars: number): string {
  const text = description.replace(/\s+/g, ' ').trim();
  if (chars === 0 || text === '') return `- ${name}`;
  return `- ${name}: ${truncate(text, chars)}`;
}
