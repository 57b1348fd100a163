import { z } from 'zod';
import { EFFORTS } from '../../contracts/model.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { ModelFacts } from '../facts/model-entry.ts';

const dollars = z.number().nonnegative();

const model = z.strictObject({
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  vision: z.boolean().optional(),
  tools: z.boolean().optional(),
  /** The words it takes about how hard to think; `off` among them where it can be switched off. */
  efforts: z.array(z.enum(EFFORTS)).optional(),
  /** Dollars for a million tokens. */
  price: z
    .strictObject({
      input: dollars,
      output: dollars,
      cacheRead: dollars.optional(),
      cacheWrite: dollars.optional(),
    })
    .optional(),
});
const models = z.record(z.string(), model);

type ReadModels =
  | { readonly ok: true; readonly models: Readonly<Record<string, ModelFacts>> }
  | { readonly ok: false; readonly problem: string };

/** What the settings say of models, by the name each is chosen by. */
export function readModels(settings: Pick<Settings, 'models'>, today: string): ReadModels {
  const parsed = models.safeParse(settings.models ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      ok: false,
      problem: `The setting models${issue === undefined ? '' : `.${issue.path.join('.')}: ${issue.message}`}. Each model is { "contextWindow": 128000, "maxOutputTokens": 32000, "vision": true, "tools": true, "efforts": ["low", "high"], "price": { "input": 1, "output": 5 } }.`,
    };
  }
  const named = Object.entries(parsed.data).map(([name, said]) => [name, factsOf(said, today)] as const);
  return { ok: true, models: Object.fromEntries(named) };
}

function factsOf(
  { tools, efforts, price, contextWindow, maxOutputTokens, vision }: z.output<typeof model>,
  asOf: string,
) {
  const levels = efforts?.filter((effort) => effort !== 'auto' && effort !== 'off');
  const facts: ModelFacts = {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(vision !== undefined && { vision }),
    ...(tools !== undefined && { takesTools: tools }),
    ...(levels && {
      thinking: efforts?.length === 0 ? 'none' : { levels, mayStop: efforts?.includes('off') === true },
    }),
    ...(price && {
      price: {
        input: price.input,
        output: price.output,
        cacheRead: price.cacheRead ?? price.input,
        cacheWrite: price.cacheWrite ?? price.input,
        asOf,
      },
    }),
  };
  return facts;
}
