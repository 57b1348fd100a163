import { nearest } from '../../lib/text/nearest.ts';
import { CLOUDS, splitRegion } from '../claude-name.ts';
import { cloudProblem, NO_CLOUDS } from '../clouds/cloud-settings.ts';
import { missingKey, PRESETS } from '../presets.ts';
import type { ModelPlace, NameConfig } from './model-name.ts';
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

/** Anthropic's own models have no prefix: a word before a slash is a place, and this one leads nowhere. */
export function unknownPlace({ baseUrl, providers }: NameConfig, place: ModelPlace): string | undefined {
  if (place.provider !== 'anthropic' || baseUrl !== undefined) return undefined;
  const [, prefix, rest] = /^([\w.-]+)\/(.+)$/.exec(place.model) ?? [];
  if (prefix === undefined || rest === undefined) return undefined;
  const known = [...Object.keys(providers ?? {}), ...PRESETS.keys(), ...CLOUDS, 'anthropic'];
  const meant = nearest(prefix, known);
  const guess = meant === undefined ? '' : ` Did you mean ${meant}/${rest}?`;
  return `No place is called "${prefix}".${guess} There are ${[...new Set(known)].toSorted().join(', ')}, and those that "providers" in your settings names; \`ouro models\` lists what can be used here.`;
}

/** Said when a model needs a key and there is none. */
export const NO_KEY =
  'No API key. Set ANTHROPIC_API_KEY, use a local model server (for example `--model ollama/qwen3`), or try the built-in demo with `--model demo`.';
