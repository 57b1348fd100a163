import { memoizeByKey } from '../../lib/memoize.ts';
import { type CatalogueEntry, catalogueEntrySchema } from './model-facts.ts';

type PageModule = { readonly MODELS: string; readonly AS_OF: string };

/** Loaders of the catalogue pages shipped with the program, by provider id at models.dev. */
export const BUNDLED_CATALOGUE_PAGES: ReadonlyMap<string, () => Promise<PageModule>> = new Map<
  string,
  () => Promise<PageModule>
>([
  ['anthropic', () => import('./catalogue-pages/anthropic.ts')],
  ['openai', () => import('./catalogue-pages/openai.ts')],
  ['google', () => import('./catalogue-pages/google.ts')],
  ['groq', () => import('./catalogue-pages/groq.ts')],
  ['mistral', () => import('./catalogue-pages/mistral.ts')],
  ['deepseek', () => import('./catalogue-pages/deepseek.ts')],
  ['xai', () => import('./catalogue-pages/xai.ts')],
  ['togetherai', () => import('./catalogue-pages/togetherai.ts')],
  ['fireworks-ai', () => import('./catalogue-pages/fireworks-ai.ts')],
  ['cerebras', () => import('./catalogue-pages/cerebras.ts')],
  ['moonshotai', () => import('./catalogue-pages/moonshotai.ts')],
  ['zai', () => import('./catalogue-pages/zai.ts')],
  ['huggingface', () => import('./catalogue-pages/huggingface.ts')],
  ['openrouter', () => import('./catalogue-pages/openrouter.ts')],
  ['github-models', () => import('./catalogue-pages/github-models.ts')],
]);

/** The catalogue entries of one provider and the date they were read. */
export type CataloguePage = { readonly asOf: string; readonly models: readonly CatalogueEntry[] };

/** Loads the shipped catalogue page of a provider; `undefined` if there is none. */
export const loadCataloguePage = memoizeByKey(async (provider: string): Promise<CataloguePage | undefined> => {
  const page = await BUNDLED_CATALOGUE_PAGES.get(provider)?.();
  if (page === undefined) return undefined;
  const models = page.MODELS.trim()
    .split('\n')
    .map((line) => catalogueEntrySchema.parse(JSON.parse(line)));
  return { asOf: page.AS_OF, models };
});
