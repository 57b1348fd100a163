import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { Usage } from '../contracts/message.ts';
import type { ModelInfo, ModelPrice } from '../contracts/model.ts';
import { normalizeClaudeId } from './claude-model-ids.ts';

const AS_OF = '2026-11-21';
/** The price at Anthropic and OpenAI. */
const DOLLARS_PER_WEB_SEARCH = 0.01;

/** Returns the price of a Claude model in dollars per million tokens, or `undefined` if it is unknown. */
export function findModelPrice(model: string): ModelPrice | undefined {
  const undated = normalizeClaudeId(model).replace(/-\d{8}$/, '');
  return PRICES.get(undated);
}

/** Computes the cost of one reply in dollars. Takes the usage of a single reply: long prompts have other rates. */
export function computeCostUsd(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (!price) return undefined;
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const rates = price.long && promptTokens > price.long.aboveTokens ? price.long : price;
  const tokens =
    usage.inputTokens * rates.input +
    usage.outputTokens * rates.output +
    usage.cacheReadTokens * rates.cacheRead +
    usage.cacheWriteTokens * rates.cacheWrite;
  return tokens / 1_000_000 + (usage.webSearches ?? 0) * (price.webSearch ?? DOLLARS_PER_WEB_SEARCH);
}

/** Usage of one model in a session. `costUsd` is absent once any reply had no known price. */
type ModelTotal = { readonly usage: Usage; readonly replies: number; readonly costUsd?: number };

/** Usage totals by model, in order of first use. */
export type ModelUsageTotals = ReadonlyMap<string, ModelTotal>;

/** Adds the usage of a reply to the totals of its model. */
export function addReplyUsage(
  totals: ModelUsageTotals,
  model: string,
  usage: Usage,
  price: ModelPrice | undefined,
): ModelUsageTotals {
  const before = totals.get(model);
  const cost = computeCostUsd(usage, price);
  const isPriced = cost !== undefined && (before === undefined || before.costUsd !== undefined);
  const total: ModelTotal = {
    usage: before ? sumTokenUsage(before.usage, usage) : usage,
    replies: (before?.replies ?? 0) + 1,
    ...(isPriced && { costUsd: (before?.costUsd ?? 0) + cost }),
  };
  return new Map([...totals, [model, total]]);
}

/** Sums the known costs of all models; `isComplete` is false if any model had no price. */
export function sumModelCosts(totals: ModelUsageTotals): { readonly usd: number; readonly isComplete: boolean } {
  const modelTotals = [...totals.values()];
  return {
    usd: modelTotals.reduce((sum, { costUsd: cost }) => sum + (cost ?? 0), 0),
    isComplete: modelTotals.every(({ costUsd: cost }) => cost !== undefined),
  };
}

/** Adds two usage counts. */
export function sumTokenUsage(a: Usage, b: Usage): Usage {
  const webSearches = (a.webSearches ?? 0) + (b.webSearches ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    ...(webSearches > 0 && { webSearches }),
  };
}

function createPrice(input: number, output: number, cacheRead: number): ModelPrice {
  return { input, output, cacheRead, cacheWrite: input * 1.25, asOf: AS_OF };
}

const OPUS = createPrice(5, 25, 0.5);
const SONNET_4 = createPrice(3, 15, 0.3);

const PRICES: ReadonlyMap<string, ModelPrice> = new Map([
  ['claude-fable-5-2', createPrice(8, 40, 0.2)],
  ['claude-fable-5-1', createPrice(10, 50, 0.25)],
  ['claude-fable-5', createPrice(10, 50, 1)],
  ['claude-mythos-5-1', createPrice(10, 50, 0.25)],
  ['claude-mythos-5', createPrice(10, 50, 1)],
  ['claude-opus-5-5', createPrice(4, 20, 0.2)],
  ['claude-opus-5', OPUS],
  ['claude-opus-4-8', OPUS],
  ['claude-opus-4-7', OPUS],
  ['claude-opus-4-6', OPUS],
  ['claude-opus-4-5', OPUS],
  ['claude-opus-4-1', createPrice(15, 75, 1.5)],
  ['claude-sonnet-5-5', createPrice(2, 10, 0.1)],
  ['claude-sonnet-5', createPrice(2, 10, 0.2)],
  ['claude-sonnet-4-6', SONNET_4],
  ['claude-sonnet-4-5', SONNET_4],
  [
    'claude-haiku-5-5',
    {
      ...createPrice(0.1, 0.5, 0.01),
      long: { aboveTokens: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 },
    },
  ],
  ['claude-haiku-4-5', createPrice(1, 5, 0.1)],
  ['demo', createPrice(0, 0, 0)],
]);

/** Returns a warning if a dollar limit is set for a model without a known price. */
export function explainUnpricedBudget({ maxBudgetUsd }: CliRunOptions, { id, price }: ModelInfo): readonly string[] {
  if (maxBudgetUsd === undefined || price !== undefined) return [];
  return [`No price is known for ${id}, so --max-budget-usd has no effect. Use --max-turns to limit the run.`];
}
