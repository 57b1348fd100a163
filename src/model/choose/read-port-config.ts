import type { Environment, Limits } from '../../contracts/environment.ts';
import type { Settings } from '../../contracts/settings.ts';
import { once } from '../../lib/once.ts';
import { DEFAULT_MODEL, resolveModel } from '../catalog.ts';
import type { ClaudeHome } from '../claude-name.ts';
import { profileRegion } from '../clouds/aws-profile.ts';
import { type CloudSettings, firstOf, usualCloud } from '../clouds/cloud-settings.ts';
import { catalogueFolder, newestPages } from '../facts/newest-pages.ts';
import { createKeyHelper } from '../keys/key-helper.ts';
import type { StoredKey, StoredKeys } from '../keys/stored-keys.ts';
import { createNetworkFetch } from '../wire/network-fetch.ts';
import type { PortConfig } from './port-config.ts';
import { readModels } from './read-models.ts';
import { readProviders } from './read-providers.ts';

export type ReadPortConfig =
  | { readonly ok: true; readonly config: PortConfig }
  | { readonly ok: false; readonly problem: string };

/** What the surroundings, the settings and the stored keys say about models; the model is the one used without a flag. */
export function readPortConfig(
  settings: Settings,
  environment: Environment,
  keys: StoredKeys,
  limits: () => Limits,
): ReadPortConfig {
  const read = readProviders(settings, environment, keys);
  if (!read.ok) return read;
  const said = readModels(settings, new Date().toISOString().slice(0, 10));
  if (!said.ok) return said;
  const smallModel = environment.smallModel ?? settings.smallModel;
  const baseUrl = environment.baseUrl ?? settings.baseUrl;
  const clouds = cloudSettings(settings, environment);
  const config = {
    model: environment.model ?? settings.model ?? DEFAULT_MODEL,
    providers: read.providers,
    models: said.models,
    clouds,
    claudeAt: claudeHome(clouds),
    ...portLimits(limits),
    ...credentialsOf(settings, environment, keys.get('anthropic')),
    ...(smallModel === undefined ? {} : { smallModel }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    pageOf: newestPages(catalogueFolder(environment.ouroHome)),
    fetch: createNetworkFetch({
      variables: environment.variables,
      keyPassphrase: environment.keys.CLAUDE_CODE_CLIENT_KEY_PASSPHRASE,
    }),
  };
  return { ok: true, config };
}

/** The nearest key wins: the environment's, a helper's, the one that was stored. */
function credentialsOf(
  { apiKeyHelper }: Settings,
  { credentials: { apiKey, authToken }, variables }: Environment,
  stored: StoredKey | undefined,
): Pick<PortConfig, 'apiKey' | 'onRefusedKey' | 'authToken' | 'keySource'> {
  if (apiKey !== undefined) return { apiKey, keySource: 'ANTHROPIC_API_KEY' };
  if (authToken !== undefined) return { authToken, keySource: 'ANTHROPIC_AUTH_TOKEN' };
  if (apiKeyHelper !== undefined) {
    const helper = createKeyHelper(apiKeyHelper, variables, Date.now);
    return { apiKey: helper.key, onRefusedKey: helper.forget, keySource: 'apiKeyHelper' };
  }
  return stored === undefined ? {} : { apiKey: stored.key, keySource: stored.source };
}

function cloudSettings(settings: Settings, { variables, keys }: Environment): CloudSettings {
  const { awsAuthRefresh, awsCredentialExport, gcpAuthRefresh } = settings;
  // Every request asks; the files are read for the first of them.
  const region = once(() => profileRegion(variables));
  return { variables, keys, profileRegion: region, awsAuthRefresh, awsCredentialExport, gcpAuthRefresh };
}

/** The usual cloud, and what people call the newest of each kind there. */
function claudeHome(clouds: CloudSettings): ClaudeHome | undefined {
  const cloud = usualCloud(clouds);
  const named = ['opus', 'sonnet', 'haiku', 'fable'].flatMap((family) => {
    const name = firstOf(clouds, `ANTHROPIC_DEFAULT_${family.toUpperCase()}_MODEL`);
    return name === undefined ? [] : [[resolveModel(family), name.replace(/\[1m\]$/i, '')] as const];
  });
  return cloud === undefined ? undefined : { cloud, names: Object.fromEntries(named) };
}

/** Patience and retries, asked at each request. */
function portLimits(limits: () => Limits): Pick<PortConfig, 'patience' | 'retry'> {
  return {
    patience() {
      const { streamIdleTimeoutMs, headerTimeoutMs } = limits();
      return {
        ...(streamIdleTimeoutMs === undefined ? {} : { idleTimeoutMs: streamIdleTimeoutMs }),
        ...(headerTimeoutMs === undefined ? {} : { headerTimeoutMs }),
      };
    },
    retry: {
      limits() {
        const { maxRetries, retryBaseMs } = limits();
        return { maxRetries, baseMs: retryBaseMs };
      },
    },
  };
}
