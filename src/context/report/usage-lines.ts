import type { ContextUsage } from '../../contracts/face/conversation.ts';
import { formatTokens } from '../../lib/text/format.ts';

const COLUMNS = 10;
const CELLS = COLUMNS * COLUMNS;
const FREE = '⬜';
const BUFFER = '⬛';
/** One colour for each kind of thing that fills the window. */
const COLOURS = ['🟦', '🟪', '🟫', '🟩', '🟨', '🟧', '🟥'];

type Part = { readonly name: string; readonly tokens: number; readonly square: string; readonly cells: number };

/** Where the tokens of the window go: a square for each hundredth of it, what the colours mean, and the biggest items. */
export function renderContextUsage({ model, totalTokens, maxTokens, categories, biggest }: ContextUsage): string {
  const parts = coloured(categories, maxTokens);
  const squares = parts.flatMap(({ square, cells }) => Array<string>(cells).fill(square));
  const grid = Array.from({ length: COLUMNS }, (_, row) => squares.slice(row * COLUMNS, (row + 1) * COLUMNS).join(''));
  const width = Math.max(0, ...parts.map(({ name }) => name.length));
  const legend = parts.map(
    ({ name, tokens, square }) =>
      `${square} ${name.padEnd(width)} ${formatTokens(tokens).padStart(7)} ${shareOf(tokens, maxTokens).padStart(6)}`,
  );
  const rows = Array.from({ length: Math.max(grid.length, legend.length) }, (_, row) =>
    `${grid[row] ?? '  '.repeat(COLUMNS)}   ${legend[row] ?? ''}`.trimEnd(),
  );
  const big = biggest.slice(0, 8).map(({ name, tokens }) => `${formatTokens(tokens).padStart(7)}  ${name}`);
  return [
    `${model}: ${formatTokens(totalTokens)} of ${formatTokens(maxTokens)} tokens (${shareOf(totalTokens, maxTokens)})`,
    '',
    ...rows,
    ...(big.length === 0 ? [] : ['', 'Biggest:', ...big]),
  ].join('\n');
}

/** Every kind there is gets a square at least; what is free gives it. */
function coloured(categories: ContextUsage['categories'], maxTokens: number): readonly Part[] {
  const cellsOf = (tokens: number) =>
    tokens === 0 || maxTokens === 0 ? 0 : Math.max(1, Math.round((tokens / maxTokens) * CELLS));
  const taken = categories.reduce((sum, { name, tokens }) => sum + (name === 'Free' ? 0 : cellsOf(tokens)), 0);
  return categories.map(({ name, tokens }, at) => {
    const square = name === 'Free' ? FREE : name === 'Buffer' ? BUFFER : (COLOURS[at % COLOURS.length] ?? FREE);
    return { name, tokens, square, cells: name === 'Free' ? Math.max(0, CELLS - taken) : cellsOf(tokens) };
  });
}

function shareOf(tokens: number, maxTokens: number): string {
  return maxTokens === 0 ? '–' : `${((100 * tokens) / maxTokens).toFixed(1)} %`;
}
