import { z } from 'zod';
import type { Effort, ModelInfo, ModelPrice } from '../../contracts/model.ts';

/** What somebody says of a model: a catalogue, its server, or the settings. */
export type ModelFacts = {
  readonly label?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly vision?: boolean;
  readonly takesTools?: boolean;
  /** The levels by which it can be told how hard to think, and whether it can be told not to; without levels it is only switched. */
  readonly thinking?: 'none' | { readonly levels: ModelInfo['efforts']; readonly mayStop: boolean };
  readonly price?: ModelPrice;
  readonly knowledge?: string;
};

const money = z.number().nonnegative();
const rates = z.object({
  input: money,
  output: money,
  cache_read: money.optional(),
  cache_write: money.optional(),
});
const tier = rates.extend({ tier: z.object({ size: z.number().positive() }) });
const reasoningOption = z.object({ type: z.string(), values: z.array(z.unknown()).optional() });

/** A model as models.dev describes it, without what nothing here depends on. */
export const modelEntry = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  reasoning: z.boolean().optional(),
  reasoning_options: z.array(reasoningOption).optional(),
  tool_call: z.boolean().optional(),
  knowledge: z.string().optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }).optional(),
  cost: rates.extend({ tiers: z.array(tier).optional() }).optional(),
  limit: z.object({ context: z.number().nonnegative(), output: z.number().nonnegative().optional() }).optional(),
});

export type ModelEntry = z.output<typeof modelEntry>;

/** What an entry comes to; prices are those of a day. */
export function factsOf(entry: ModelEntry, asOf: string): ModelFacts {
  const { context = 0, output = 0 } = entry.limit ?? {};
  const price = entry.cost && priceOf(entry.cost, asOf);
  return {
    label: entry.name,
    ...(context > 0 && { contextWindow: context }),
    // Some are listed with all of their window as output, which leaves no room for a question.
    ...(output > 0 && { maxOutputTokens: context > 0 ? Math.min(output, Math.ceil(context / 2)) : output }),
    ...(entry.modalities && { vision: entry.modalities.input.includes('image') }),
    ...(entry.tool_call !== undefined && { takesTools: entry.tool_call }),
    ...(entry.reasoning !== undefined && { thinking: entry.reasoning ? levelsOf(entry.reasoning_options) : 'none' }),
    ...(price && { price }),
    ...(entry.knowledge !== undefined && { knowledge: entry.knowledge }),
  };
}

const LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];
const UP_TO_HIGH = ['low', 'medium', 'high'] as const;

function levelsOf(options: ModelEntry['reasoning_options'] = []): Exclude<ModelFacts['thinking'], 'none' | undefined> {
  const named = options.flatMap(({ values = [] }) => values);
  const levels = LEVELS.filter((level) => named.includes(level));
  const isSwitched = options.some(({ type }) => type === 'toggle');
  const isUntold = options.length === 0 || options.some(({ type }) => type === 'budget_tokens');
  return {
    levels: levels.length === 0 && isUntold ? UP_TO_HIGH : levels,
    mayStop: isSwitched || isUntold || named.includes('none') || named.includes(null),
  };
}

type Cost = NonNullable<ModelEntry['cost']>;

/** Where no discount is known, what the cache serves costs what it costs without. */
function priceOf(cost: Cost, asOf: string): ModelPrice {
  const [first] = (cost.tiers ?? []).toSorted((a, b) => a.tier.size - b.tier.size);
  return {
    ...ratesOf(cost),
    ...(first && { long: { aboveTokens: first.tier.size, ...ratesOf(first) } }),
    asOf,
  };
}

function ratesOf({ input, output, cache_read = input, cache_write = input }: z.output<typeof rates>) {
  return { input, output, cacheRead: cache_read, cacheWrite: cache_write };
}
