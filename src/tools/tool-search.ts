import { z } from 'zod';
import type { Tool } from '../contracts/tool.ts';
import { buildTool } from './definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

const PROMPT = 'Loads tools that are known by name only, for the next turn. query: words, or "select:name,name".';
const MAX_RESULTS = 8;

/** The deferred tools of a conversation. */
export type DeferredTools = {
  readonly listUnloaded: () => readonly Tool[];
  readonly load: (names: readonly string[]) => void;
};

/** The traits of the ToolSearch tool. */
export const toolSearchTraits: BuiltInToolTraits = defineToolTraits({
  name: 'ToolSearch',
  facts: getSessionOnlyFacts,
  forms: {
    example: 'ToolSearch{query:"select:NotebookEdit"}',
    names: ['search_tools', 'find_tools', 'load_tools'],
    synonyms: { query: ['search', 'name', 'names', 'keywords', 'q'] },
    ignored: ['max_results', 'limit'],
  },
});

/** Creates the tool that loads deferred tools. */
export function createToolSearchTool(deferred: DeferredTools) {
  return buildTool({
    ...toolSearchTraits,
    prompt: PROMPT,
    input: z.strictObject({ query: z.string().min(1) }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ query }) => `Tools ${query}`,
    async call({ query }) {
      const matches = searchTools(query, deferred.listUnloaded());
      if (matches.length === 0) {
        const names = deferred.listUnloaded().map((tool) => tool.name);
        return { content: `Nothing fits "${query}". There are: ${names.slice(0, 60).join(', ')}.`, isError: true };
      }
      deferred.load(matches.map((tool) => tool.name));
      const lines = matches.map((tool) => `- ${tool.name}: ${firstSentence(tool.spec.description)}`);
      return { content: `Loaded; call them from the next turn on:\n${lines.join('\n')}` };
    },
  });
}

function searchTools(query: string, tools: readonly Tool[]): readonly Tool[] {
  if (query.startsWith('select:')) {
    const names = query
      .slice('select:'.length)
      .split(',')
      .map((name) => name.trim());
    return tools.filter((tool) => names.includes(tool.name));
  }
  const words = query
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 1);
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.tool.name.localeCompare(b.tool.name, 'en'))
    .slice(0, MAX_RESULTS)
    .map(({ tool }) => tool);
}

function scoreTool(tool: Tool, words: readonly string[]): number {
  const name = tool.name.toLowerCase();
  const description = tool.spec.description.toLowerCase();
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (description.includes(word) ? 1 : 0), 0);
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.!?])\s|\n/)[0]?.slice(0, 200) ?? '';
}
