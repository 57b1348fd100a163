import { z } from 'zod';
import type { Effort, ModelInfo, ModelPrice } from '../../contracts/model.ts';

/** Facts about a model as reported by a catalogue, its server or the settings. */
export type ModelFacts = {
  readonly label?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly vision?: boolean;
  readonly takesTools?: boolean;
  /** Supported efforts and whether thinking can be disabled; without levels, thinking is only on or off. */
  readonly thinking?: 'none' | { readonly levels: ModelInfo['efforts']; readonly mayStop: boolean };
  readonly price?: ModelPrice;
  /** Knowledge cutoff: `2026-01` or with a day. */
  readonly knowledge?: string;
};

const dollars = z.number().nonnegative();
const rates = z.object({
  input: dollars,
  output: dollars,
  cache_read: dollars.optional(),
  cache_write: dollars.optional(),
});
const tier = rates.extend({ tier: z.object({ size: z.number().positive() }) });
const reasoningOption = z.lazy(() => z.object({ type: z.string(), values: z.array(z.unknown()).optional() }));

/** Schema of a models.dev entry, reduced to the fields in use. */
export const catalogueEntrySchema = z.lazy(() =>
  z.object({
    id: z.string().min(1),
    name: z.string().min(1),
    reasoning: z.boolean().optional(),
    reasoning_options: z.array(reasoningOption).optional(),
    tool_call: z.boolean().optional(),
    knowledge: z.string().optional(),
    modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }).optional(),
    cost: rates.extend({ tiers: z.array(tier).optional() }).optional(),
    limit: z.object({ context: z.number().nonnegative(), output: z.number().nonnegative().optional() }).optional(),
  }),
);

/** A models.dev entry. */
export type CatalogueEntry = z.output<typeof catalogueEntrySchema>;

/** Converts a catalogue entry to facts; `asOf` is the date of its prices. */
export function extractModelFacts(entry: CatalogueEntry, asOf: string): ModelFacts {
  const { context = 0, output = 0 } = entry.limit ?? {};
  const price = entry.cost && convertPrice(entry.cost, asOf);
  return {
    label: entry.name,
    ...(context > 0 && { contextWindow: context }),
    // Some entries list the whole window as output limit, which leaves no room for the prompt.
    ...(output > 0 && { maxOutputTokens: context > 0 ? Math.min(output, Math.ceil(context / 2)) : output }),
    ...(entry.modalities && { vision: entry.modalities.input.includes('image') }),
    ...(entry.tool_call !== undefined && { takesTools: entry.tool_call }),
    ...(entry.reasoning !== undefined && {
      thinking: entry.reasoning ? parseThinking(entry.reasoning_options) : 'none',
    }),
    ...(price && { price }),
    ...(entry.knowledge !== undefined && { knowledge: entry.knowledge }),
  };
}

const CATALOGUE_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];
const UP_TO_HIGH = ['low', 'medium', 'high'] as const;

function parseThinking(
  options: CatalogueEntry['reasoning_options'] = [],
): Exclude<ModelFacts['thinking'], 'none' | undefined> {
  const values = options.flatMap(({ values = [] }) => values);
  const levels = CATALOGUE_EFFORTS.filter((level) => values.includes(level));
  const canToggle = options.some(({ type }) => type === 'toggle');
  const hasNoLevels = options.length === 0 || options.some(({ type }) => type === 'budget_tokens');
  return {
    levels: levels.length === 0 && hasNoLevels ? UP_TO_HIGH : levels,
    mayStop: canToggle || hasNoLevels || values.includes('none') || values.includes(null),
  };
}

type CatalogueCost = NonNullable<CatalogueEntry['cost']>;

/** Converts the prices; without a cache price, cached tokens cost as much as others. */
function convertPrice(cost: CatalogueCost, asOf: string): ModelPrice {
  const [firstTier] = (cost.tiers ?? []).toSorted((a, b) => a.tier.size - b.tier.size);
  return {
    ...convertRates(cost),
    ...(firstTier && { long: { aboveTokens: firstTier.tier.size, ...convertRates(firstTier) } }),
    asOf,
  };
}

function convertRates({ input, output, cache_read = input, cache_write = input }: z.output<typeof rates>) {
  return { input, output, cacheRead: cache_read, cacheWrite: cache_write };
}
