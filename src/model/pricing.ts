import type { RunOptions } from '../contracts/face/run-options.ts';
import type { Usage } from '../contracts/message.ts';
import type { ModelInfo, ModelPrice } from '../contracts/model.ts';
import { claudeId } from './claude-name.ts';

const AS_OF = '2026-11-21';
const DOLLARS_PER_WEB_SEARCH = 0.01;

/** Dollars per million tokens, or `undefined` when we do not know: never a wrong price. */
export function priceOf(model: string): ModelPrice | undefined {
  const undated = claudeId(model).replace(/-\d{8}$/, '');
  return PRICES.get(undated);
}

/** What one reply cost in dollars. Give it the usage of a single reply: some prices depend on its size. */
export function costUsd(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (!price) return undefined;
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const rates = price.long && promptTokens > price.long.aboveTokens ? price.long : price;
  const tokens =
    usage.inputTokens * rates.input +
    usage.outputTokens * rates.output +
    usage.cacheReadTokens * rates.cacheRead +
    usage.cacheWriteTokens * rates.cacheWrite;
  return tokens / 1_000_000 + (usage.webSearches ?? 0) * DOLLARS_PER_WEB_SEARCH;
}

/** What one model used in a session. `costUsd` is absent once a part of it has no known price. */
type ModelTotal = { readonly usage: Usage; readonly replies: number; readonly costUsd?: number };

/** Totals by model, in the order of first use. */
export type UsageTotals = ReadonlyMap<string, ModelTotal>;

/** The totals with one more reply. */
export function addUsage(totals: UsageTotals, model: string, usage: Usage, price: ModelPrice | undefined): UsageTotals {
  const before = totals.get(model);
  const cost = costUsd(usage, price);
  const isPriced = cost !== undefined && (before === undefined || before.costUsd !== undefined);
  const total: ModelTotal = {
    usage: before ? sumUsage(before.usage, usage) : usage,
    replies: (before?.replies ?? 0) + 1,
    ...(isPriced && { costUsd: (before?.costUsd ?? 0) + cost }),
  };
  return new Map([...totals, [model, total]]);
}

/** The known dollars of all models together; `isComplete` says whether anything had no price. */
export function totalCost(totals: UsageTotals): { readonly usd: number; readonly isComplete: boolean } {
  const all = [...totals.values()];
  return {
    usd: all.reduce((sum, { costUsd: cost }) => sum + (cost ?? 0), 0),
    isComplete: all.every(({ costUsd: cost }) => cost !== undefined),
  };
}

/** Two counts as one. */
export function sumUsage(a: Usage, b: Usage): Usage {
  const webSearches = (a.webSearches ?? 0) + (b.webSearches ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    ...(webSearches > 0 && { webSearches }),
  };
}

function price(input: number, output: number, cacheRead: number): ModelPrice {
  return { input, output, cacheRead, cacheWrite: input * 1.25, asOf: AS_OF };
}

const OPUS = price(5, 25, 0.5);
const SONNET_4 = price(3, 15, 0.3);

const PRICES: ReadonlyMap<string, ModelPrice> = new Map([
  ['claude-fable-5-2', price(8, 40, 0.2)],
  ['claude-fable-5-1', price(10, 50, 0.25)],
  ['claude-fable-5', price(10, 50, 1)],
  ['claude-mythos-5-1', price(10, 50, 0.25)],
  ['claude-mythos-5', price(10, 50, 1)],
  ['claude-opus-5-5', price(4, 20, 0.2)],
  ['claude-opus-5', OPUS],
  ['claude-opus-4-8', OPUS],
  ['claude-opus-4-7', OPUS],
  ['claude-opus-4-6', OPUS],
  ['claude-opus-4-5', OPUS],
  ['claude-opus-4-1', price(15, 75, 1.5)],
  ['claude-sonnet-5-5', price(2, 10, 0.1)],
  ['claude-sonnet-5', price(2, 10, 0.2)],
  ['claude-sonnet-4-6', SONNET_4],
  ['claude-sonnet-4-5', SONNET_4],
  [
    'claude-haiku-5-5',
    {
      ...price(0.1, 0.5, 0.01),
      long: { aboveTokens: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 },
    },
  ],
  ['claude-haiku-4-5', price(1, 5, 0.1)],
  ['demo', price(0, 0, 0)],
]);

/** A limit in dollars means nothing where no price is known; better said than relied on. */
export function budgetWarnings(
  { maxBudgetUsd }: Pick<RunOptions, 'maxBudgetUsd'>,
  { id, price }: Pick<ModelInfo, 'id' | 'price'>,
): readonly string[] {
  if (maxBudgetUsd === undefined || price !== undefined) return [];
  return [`The price of ${id} is not known here, so --max-budget-usd will not stop anything. --max-turns would.`];
}
