import type { ContextUsage } from '../../contracts/face/conversation.ts';
import type { Message } from '../../contracts/message.ts';
import type { SystemPart, ToolSpec } from '../../contracts/model.ts';
import { callsIn, describeCall, resultsIn } from '../calls.ts';
import { createTokenEstimate, sum, textTokens } from '../tokens.ts';

export type BreakdownInput = {
  readonly model: string;
  readonly windowTokens: number;
  /** Where auto-compaction starts; what lies beyond is kept free for it and the reply. */
  readonly compactAt: number;
  readonly system: readonly SystemPart[];
  readonly tools: readonly { readonly spec: ToolSpec; readonly source: 'builtin' | 'mcp' | 'host' }[];
  readonly view: readonly Message[];
  /** What the next request is thought to cost, when it is known better than by estimate. */
  readonly knownTokens: number | undefined;
};

type Item = { readonly category: string; readonly name: string; readonly tokens: number };

const ORDER = ['System prompt', 'Memory files', 'Skills and agents', 'Tools', 'MCP tools', 'Messages'];
const BIGGEST = 12;
/** Parts of the system prompt that are counted apart. */
const PARTS: Readonly<Record<string, string>> = {
  memory: 'Memory files',
  skills: 'Skills and agents',
  agents: 'Skills and agents',
};

/** `/context`: where the tokens of the window go. For people only; it never enters the conversation. */
export function usageBreakdown(input: BreakdownInput): ContextUsage {
  const guessed = [...systemItems(input.system), ...toolItems(input.tools), ...messageItems(input.view)];
  const guess = sum(guessed.map((item) => item.tokens));
  const factor = input.knownTokens === undefined || guess === 0 ? 1 : input.knownTokens / guess;
  const items = guessed.map((item) => ({ ...item, tokens: Math.round(item.tokens * factor) }));
  const used = ORDER.map((name) => ({
    name,
    tokens: sum(items.filter((item) => item.category === name).map((item) => item.tokens)),
  })).filter((category) => category.tokens > 0);
  const totalTokens = sum(used.map((category) => category.tokens));
  const buffer = Math.max(0, Math.min(input.windowTokens - input.compactAt, input.windowTokens - totalTokens));
  return {
    model: input.model,
    totalTokens,
    maxTokens: input.windowTokens,
    categories: [
      ...used,
      { name: 'Free', tokens: Math.max(0, input.windowTokens - totalTokens - buffer) },
      { name: 'Buffer', tokens: buffer },
    ],
    biggest: items
      .toSorted((one, other) => other.tokens - one.tokens)
      .slice(0, BIGGEST)
      .map(({ name, tokens }) => ({ name, tokens })),
  };
}

function systemItems(system: readonly SystemPart[]): readonly Item[] {
  return system.map(({ name, text }) => ({
    category: PARTS[name] ?? 'System prompt',
    name: `System prompt: ${name}`,
    tokens: textTokens(text),
  }));
}

function toolItems(tools: BreakdownInput['tools']): readonly Item[] {
  return tools.map(({ spec, source }) => ({
    category: source === 'mcp' ? 'MCP tools' : 'Tools',
    name: `Tool: ${spec.name}`,
    tokens: textTokens(JSON.stringify(spec)),
  }));
}

/** One item for each result, and one for what else a message says. */
function messageItems(view: readonly Message[]): readonly Item[] {
  const estimate = createTokenEstimate();
  const titles = new Map(view.flatMap(callsIn).map((call) => [call.id, describeCall(call)]));
  return view.flatMap((message): readonly Item[] => {
    const results = resultsIn(message).map((result) => ({
      category: 'Messages',
      name: titles.get(result.tool_use_id) ?? 'A result',
      tokens: estimate.blockTokens(result),
    }));
    const rest = estimate.messageTokens(message) - sum(results.map((item) => item.tokens));
    return rest <= 0 ? results : [...results, { category: 'Messages', name: titleOf(message), tokens: rest }];
  });
}

function titleOf(message: Message): string {
  if (message.role === 'boundary') return 'Boundary';
  if (message.role === 'custom') return message.kind;
  const text = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  const words = text.replace(/\s+/g, ' ').trim().slice(0, 60).toWellFormed();
  const who = message.role === 'assistant' ? 'Reply' : message.origin === 'summary' ? 'Summary' : 'Prompt';
  return words === '' ? who : `${who}: ${words}`;
}
