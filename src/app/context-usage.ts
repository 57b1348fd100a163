import type { ContextUsage } from '../contracts/conversation.ts';
import { formatTokens } from '../lib/format.ts';

const BAR_CELLS = 40;

/** Where the tokens go, as a bar and a list. */
export function renderContextUsage({ model, totalTokens, maxTokens, categories, biggest }: ContextUsage): string {
  const percent = maxTokens === 0 ? 0 : Math.round((totalTokens / maxTokens) * 100);
  const width = Math.max(0, ...categories.map(({ name }) => name.length));
  const lines = categories.map(({ name, tokens }) => {
    const share = maxTokens === 0 ? 0 : tokens / maxTokens;
    const bar = '#'.repeat(Math.round(share * BAR_CELLS)).padEnd(BAR_CELLS, '.');
    return `${name.padEnd(width)}  ${bar}  ${formatTokens(tokens)}`;
  });
  const big = biggest.slice(0, 8).map(({ name, tokens }) => `  ${formatTokens(tokens).padStart(7)}  ${name}`);
  return [
    `${model}: ${formatTokens(totalTokens)} of ${formatTokens(maxTokens)} (${percent} %)`,
    '',
    ...lines,
    ...(big.length === 0 ? [] : ['', 'Biggest:', ...big]),
  ].join('\n');
}
