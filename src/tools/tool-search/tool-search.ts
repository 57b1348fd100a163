import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import type { Tool } from '../../contracts/tool.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

const PROMPT =
  'Finds tools that are known by name only and loads them, so that they can be called from the next turn on. query: words of what you need, or "select:name,name" for exact names.';
const MOST = 8;

export type DeferredTools = {
  readonly all: () => readonly Tool[];
  readonly load: (names: readonly string[]) => void;
};

/** What it says of itself to those who decide about its calls. */
export const toolSearchStatement: ToolStatement = { name: 'ToolSearch', facts: sessionFacts };

/** Loads tools whose descriptions were left out to keep the prompt small. */
export function createToolSearchTool(deferred: DeferredTools) {
  return buildTool({
    ...toolSearchStatement,
    prompt: PROMPT,
    input: z.object({ query: z.string().min(1) }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ query }) => `Tools ${query}`,
    async call({ query }) {
      const found = search(query, deferred.all());
      if (found.length === 0) {
        const names = deferred.all().map((tool) => tool.name);
        return { content: `Nothing fits "${query}". There are: ${names.slice(0, 60).join(', ')}.`, isError: true };
      }
      deferred.load(found.map((tool) => tool.name));
      const lines = found.map((tool) => `- ${tool.name}: ${firstSentence(tool.spec.description)}`);
      return { content: `Loaded; call them from the next turn on:\n${lines.join('\n')}` };
    },
  });
}

function search(query: string, tools: readonly Tool[]): readonly Tool[] {
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
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.tool.name.localeCompare(b.tool.name))
    .slice(0, MOST)
    .map(({ tool }) => tool);
}

function scoreOf(tool: Tool, words: readonly string[]): number {
  const name = tool.name.toLowerCase();
  const description = tool.spec.description.toLowerCase();
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (description.includes(word) ? 1 : 0), 0);
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.!?])\s|\n/)[0]?.slice(0, 200) ?? '';
}
