import { CATALOGUE_PROVIDERS, type CataloguePage } from './catalogue-store.ts';
import { extractModelFacts, type ModelFacts } from './model-facts.ts';
import { findModelByGatewayName } from './model-facts-cache.ts';

/** The pages of providers that serve models of others as well; their limits may be lower than those of the model. */
const RESELLERS = ['groq', 'togetherai', 'fireworks-ai', 'cerebras', 'huggingface', 'github-models', 'openrouter'];

/** Searches the catalogue, the maker's page first, for a gateway's model, whose efforts are unknown. */
export async function findGatewayModelFacts(
  model: string,
  loadPage: (catalogue: string) => Promise<CataloguePage | undefined>,
): Promise<ModelFacts | undefined> {
  const makers = CATALOGUE_PROVIDERS.filter((name) => !RESELLERS.includes(name));
  for (const name of [...makers, ...RESELLERS]) {
    const page = await loadPage(name);
    const entry = page && findModelByGatewayName(page, model);
    if (page === undefined || entry === undefined) continue;
    const { label: _, thinking: _thinking, ...facts } = extractModelFacts(entry, page.asOf);
    return facts;
  }
  return undefined;
}
