import { splitRegion } from '../claude-name.ts';
import { cloudProblem, NO_CLOUDS } from '../clouds/cloud-settings.ts';
import { missingKey } from '../presets.ts';
import type { ModelPlace } from './model-name.ts';
import type { PortConfig } from './port-config.ts';
import { AZURE_UNSET } from './server-api.ts';

/** Why a place cannot be asked: the key it needs is not there. */
export function keyProblem(
  place: ModelPlace,
  { apiKey, authToken, clouds, providers }: PortConfig,
): string | undefined {
  if (place.provider === 'cloud') {
    return cloudProblem(place.cloud, clouds ?? NO_CLOUDS, splitRegion(place.model).region);
  }
  if (place.provider === 'openai' && place.server.baseUrl === AZURE_UNSET) return NO_AZURE;
  if (place.provider === 'openai') return missingKey(place.name, place.server);
  const hasKey = apiKey !== undefined || authToken !== undefined || providers?.anthropic?.apiKey !== undefined;
  return place.provider === 'anthropic' && !hasKey ? NO_KEY : undefined;
}

const NO_AZURE =
  'Azure needs the address of your resource. Set AZURE_OPENAI_ENDPOINT, such as https://my-resource.openai.azure.com, and AZURE_OPENAI_API_KEY.';

/** Said when a model needs a key and there is none. */
export const NO_KEY =
  'No API key. Set ANTHROPIC_API_KEY, use a local model server (for example `--model ollama/qwen3`), or try the built-in demo with `--model demo`.';
