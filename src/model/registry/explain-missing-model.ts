import { findClosestWord } from '../../lib/text/closest-word.ts';
import { CLOUD_PLATFORMS, splitRegionFromModelName } from '../claude-model-ids.ts';
import { explainMissingKey, PROVIDER_PRESETS } from '../provider-presets.ts';
import { EMPTY_CLOUD_SETTINGS, explainMissingCloudSettings } from '../providers/cloud-settings.ts';
import type { ModelConfig } from './model-config.ts';
import {
  AZURE_PLACEHOLDER_URL,
  type ModelRoute,
  type ModelRoutingConfig,
  type ProviderConfigs,
} from './model-route.ts';
import { discoverLocalServers } from './server-discovery.ts';

/** Returns a message if credentials or settings of the provider are missing, otherwise `undefined`. */
export function explainMissingCredentials(route: ModelRoute, config: ModelConfig): string | undefined {
  const { clouds } = config;
  if (route.provider === 'cloud') {
    return explainMissingCloudSettings(
      route.cloud,
      clouds ?? EMPTY_CLOUD_SETTINGS,
      splitRegionFromModelName(route.model).region,
    );
  }
  if (route.provider === 'openai' && route.server.baseUrl === AZURE_PLACEHOLDER_URL) return NO_AZURE_ENDPOINT;
  if (route.provider === 'openai') return explainMissingKey(route.name, route.server, config.keyStore);
  return isAnthropicKeyMissing(route, config) ? NO_ANTHROPIC_KEY_MESSAGE : undefined;
}

/** Returns whether a model of Anthropic is asked for without any key for it. */
export function isAnthropicKeyMissing(route: ModelRoute, { apiKey, authToken, providers }: ModelConfig): boolean {
  const hasKey = apiKey !== undefined || authToken !== undefined || providers?.anthropic?.apiKey !== undefined;
  return route.provider === 'anthropic' && !hasKey;
}

const NO_AZURE_ENDPOINT =
  'Azure needs the endpoint of your resource. Set AZURE_OPENAI_ENDPOINT, such as https://my-resource.openai.azure.com, and AZURE_OPENAI_API_KEY.';

/** Returns a message if the model name has an unknown provider prefix: Anthropic's own ids contain no slash. */
export function explainUnknownProvider(
  { baseUrl, providers }: ModelRoutingConfig,
  route: ModelRoute,
): string | undefined {
  if (route.provider !== 'anthropic' || baseUrl !== undefined) return undefined;
  const [, prefix, rest] = /^([\w.-]+)\/(.+)$/.exec(route.model) ?? [];
  if (prefix === undefined || rest === undefined) return undefined;
  const known = [...Object.keys(providers ?? {}), ...PROVIDER_PRESETS.keys(), ...CLOUD_PLATFORMS, 'anthropic'];
  const closest = findClosestWord(prefix, known);
  const guess = closest === undefined ? '' : ` Did you mean ${closest}/${rest}?`;
  return `Unknown provider "${prefix}".${guess} Known providers: ${[...new Set(known)].toSorted().join(', ')}.`;
}

/** Message for a missing Anthropic API key. @internal Exported for tests. */
export const NO_ANTHROPIC_KEY_MESSAGE =
  'No API key. Set ANTHROPIC_API_KEY, or choose another model: one of a local server (`ollama/qwen3`), or the built-in `demo`.';

/** Explains why no model is available; suggests usable providers if only an Anthropic key is missing. */
export async function explainMissingModel(
  { problem, code }: { readonly problem: string; readonly code?: 'no_api_key' },
  providers: ProviderConfigs,
  discover = discoverLocalServers,
): Promise<{ readonly ok: false; readonly problem: string }> {
  if (code === undefined) return { ok: false, problem };
  const keyHints = listProvidersWithKey(providers).map(
    ({ label, source, model }) => `Found an API key for ${label} (${source}): --model ${model}`,
  );
  const serverHints = (await discover()).flatMap(({ name, prefix, models: [model] }) =>
    model === undefined ? [] : [`${name} is running on this machine: --model ${prefix}/${model}`],
  );
  return { ok: false, problem: [problem, ...keyHints, ...serverHints].join('\n') };
}

/** A provider with an API key, and its default model. */
type ProviderKey = { readonly label: string; readonly source: string; readonly model: string };

/** Lists providers with an API key. A variable shared with other programs is not taken as intended for models. */
export function listProvidersWithKey(providers: ProviderConfigs): readonly ProviderKey[] {
  return [...PROVIDER_PRESETS].flatMap(([name, { label, defaultModel, sharesKeyVariables }]) => {
    const { apiKey, fetchKey, keySource = 'settings' } = providers[name] ?? {};
    const hasKey = apiKey !== undefined || fetchKey !== undefined;
    return hasKey && defaultModel !== undefined && (sharesKeyVariables !== true || keySource === 'settings')
      ? [{ label, source: keySource, model: `${name}/${defaultModel}` }]
      : [];
  });
}
