import type { ContextUsage } from '../../contracts/frontend/conversation.ts';
import { joinTextBlocks, type Message } from '../../contracts/message.ts';
import type { SystemPart, ToolSpec } from '../../contracts/model.ts';
import { formatTokens } from '../../lib/text/format.ts';
import { createTokenEstimator, estimateTextTokens, sumNumbers } from '../token-estimate.ts';
import { describeToolCall, listToolCalls, listToolResults } from '../tool-calls.ts';

type ContextUsageInput = {
  readonly model: string;
  readonly windowTokens: number;
  /** Tokens at which auto-compaction starts; the rest of the window is kept free for it and the reply. */
  readonly compactAt: number;
  readonly system: readonly SystemPart[];
  readonly tools: readonly { readonly spec: ToolSpec; readonly source: 'builtin' | 'mcp' | 'host' }[];
  readonly view: readonly Message[];
  /** Calibrated tokens of the next request, when known. */
  readonly knownTokens: number | undefined;
};

type Item = { readonly category: string; readonly name: string; readonly tokens: number };

const CATEGORIES = ['System prompt', 'Memory files', 'Skills and agents', 'Tools', 'MCP tools', 'Messages'];
const MAX_ITEMS = 12;
/** Parts of the system prompt that are listed in their own category. */
const PART_CATEGORIES: Readonly<Record<string, string>> = {
  memory: 'Memory files',
  skills: 'Skills and agents',
  agents: 'Skills and agents',
};

/** Computes what fills the context window, for `/context`. It is shown to the user and never sent to the model. */
export function computeContextUsage(input: ContextUsageInput): ContextUsage {
  const estimated = [...listSystemItems(input.system), ...listToolItems(input.tools), ...listMessageItems(input.view)];
  const estimatedTotal = sumNumbers(estimated.map((item) => item.tokens));
  const factor = input.knownTokens === undefined || estimatedTotal === 0 ? 1 : input.knownTokens / estimatedTotal;
  const items = estimated.map((item) => ({ ...item, tokens: Math.round(item.tokens * factor) }));
  const used = CATEGORIES.map((name) => ({
    name,
    tokens: sumNumbers(items.filter((item) => item.category === name).map((item) => item.tokens)),
  })).filter((category) => category.tokens > 0);
  const totalTokens = sumNumbers(used.map((category) => category.tokens));
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
      .slice(0, MAX_ITEMS)
      .map(({ name, tokens }) => ({ name, tokens })),
  };
}

function listSystemItems(system: readonly SystemPart[]): readonly Item[] {
  return system.map(({ name, text }) => ({
    category: PART_CATEGORIES[name] ?? 'System prompt',
    name: `System prompt: ${name}`,
    tokens: estimateTextTokens(text),
  }));
}

function listToolItems(tools: ContextUsageInput['tools']): readonly Item[] {
  return tools.map(({ spec, source }) => ({
    category: source === 'mcp' ? 'MCP tools' : 'Tools',
    name: `Tool: ${spec.name}`,
    tokens: estimateTextTokens(JSON.stringify(spec)),
  }));
}

/** Creates an item per result, and one for the rest of each message. */
function listMessageItems(view: readonly Message[]): readonly Item[] {
  const estimate = createTokenEstimator();
  const titles = new Map(view.flatMap(listToolCalls).map((call) => [call.id, describeToolCall(call)]));
  return view.flatMap((message): readonly Item[] => {
    const results = listToolResults(message).map((result) => ({
      category: 'Messages',
      name: titles.get(result.tool_use_id) ?? 'Tool result',
      tokens: estimate.blockTokens(result),
    }));
    const rest = estimate.messageTokens(message) - sumNumbers(results.map((item) => item.tokens));
    return rest <= 0 ? results : [...results, { category: 'Messages', name: getMessageTitle(message), tokens: rest }];
  });
}

function getMessageTitle(message: Message): string {
  if (message.role === 'boundary') return 'Boundary';
  if (message.role === 'custom') return message.kind;
  const text = joinTextBlocks(message.blocks, ' ');
  const excerpt = text.replace(/\s+/g, ' ').trim().slice(0, 60).toWellFormed();
  const label = message.role === 'assistant' ? 'Reply' : message.origin === 'summary' ? 'Summary' : 'Prompt';
  return excerpt === '' ? label : `${label}: ${excerpt}`;
}

const COLUMNS = 10;
const CELLS = COLUMNS * COLUMNS;
const FREE = '⬜';
const BUFFER = '⬛';
/** Colours of the categories. */
const COLOURS = ['🟦', '🟪', '🟫', '🟩', '🟨', '🟧', '🟥'];

type Part = { readonly name: string; readonly tokens: number; readonly square: string; readonly cells: number };

/** Renders the context usage: a square per percent of the window, a legend, and the largest items. */
export function renderContextUsage({ model, totalTokens, maxTokens, categories, biggest }: ContextUsage): string {
  const parts = assignCells(categories, maxTokens);
  const squares = parts.flatMap(({ square, cells }) => Array<string>(cells).fill(square));
  const grid = Array.from({ length: COLUMNS }, (_, row) => squares.slice(row * COLUMNS, (row + 1) * COLUMNS).join(''));
  const width = Math.max(0, ...parts.map(({ name }) => name.length));
  const legend = parts.map(
    ({ name, tokens, square }) =>
      `${square} ${name.padEnd(width)} ${formatTokens(tokens).padStart(7)} ${formatShare(tokens, maxTokens).padStart(6)}`,
  );
  const rows = Array.from({ length: Math.max(grid.length, legend.length) }, (_, row) =>
    `${grid[row] ?? '  '.repeat(COLUMNS)}   ${legend[row] ?? ''}`.trimEnd(),
  );
  const largest = biggest.slice(0, 8).map(({ name, tokens }) => `${formatTokens(tokens).padStart(7)}  ${name}`);
  return [
    `${model}: ${formatTokens(totalTokens)} of ${formatTokens(maxTokens)} tokens (${formatShare(totalTokens, maxTokens)})`,
    '',
    ...rows,
    ...(largest.length === 0 ? [] : ['', 'Largest:', ...largest]),
  ].join('\n');
}

/** Assigns cells to categories: at least one each, taken from the free space. */
function assignCells(categories: ContextUsage['categories'], maxTokens: number): readonly Part[] {
  const countCells = (tokens: number) =>
    tokens === 0 || maxTokens === 0 ? 0 : Math.max(1, Math.round((tokens / maxTokens) * CELLS));
  const usedCells = categories.reduce(
    (total, { name, tokens }) => total + (name === 'Free' ? 0 : countCells(tokens)),
    0,
  );
  return categories.map(({ name, tokens }, index) => {
    const square = name === 'Free' ? FREE : name === 'Buffer' ? BUFFER : (COLOURS[index % COLOURS.length] ?? FREE);
    return { name, tokens, square, cells: name === 'Free' ? Math.max(0, CELLS - usedCells) : countCells(tokens) };
  });
}

function formatShare(tokens: number, maxTokens: number): string {
  return maxTokens === 0 ? '–' : `${((100 * tokens) / maxTokens).toFixed(1)} %`;
}
