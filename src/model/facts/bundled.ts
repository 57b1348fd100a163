import { remembered } from '../../lib/once.ts';
import { type ModelEntry, modelEntry } from './model-entry.ts';

type Page = { readonly MODELS: string; readonly AS_OF: string };

/**
 * What came with the program, by the name a provider has at models.dev; loaded when a model of it is asked about.
 * @internal Exported for the script that makes it.
 */
export const BUNDLED: ReadonlyMap<string, () => Promise<Page>> = new Map<string, () => Promise<Page>>([
  ['anthropic', () => import('./bundled/anthropic.ts')],
  ['openai', () => import('./bundled/openai.ts')],
  ['google', () => import('./bundled/google.ts')],
  ['groq', () => import('./bundled/groq.ts')],
  ['mistral', () => import('./bundled/mistral.ts')],
  ['deepseek', () => import('./bundled/deepseek.ts')],
  ['xai', () => import('./bundled/xai.ts')],
  ['togetherai', () => import('./bundled/togetherai.ts')],
  ['fireworks-ai', () => import('./bundled/fireworks-ai.ts')],
  ['cerebras', () => import('./bundled/cerebras.ts')],
  ['moonshotai', () => import('./bundled/moonshotai.ts')],
  ['zai', () => import('./bundled/zai.ts')],
  ['huggingface', () => import('./bundled/huggingface.ts')],
  ['github-models', () => import('./bundled/github-models.ts')],
]);

/** The models of one provider, and the day they were written down. */
export type CataloguePage = { readonly asOf: string; readonly models: readonly ModelEntry[] };

/** The page that came with the program, if there is one. */
export const bundledPage = remembered(async (provider: string): Promise<CataloguePage | undefined> => {
  const page = await BUNDLED.get(provider)?.();
  if (page === undefined) return undefined;
  const models = page.MODELS.trim()
    .split('\n')
    .map((line) => modelEntry.parse(JSON.parse(line)));
  return { asOf: page.AS_OF, models };
});
