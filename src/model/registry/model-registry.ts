import type { Environment, RuntimeLimits } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type { ModelPort } from '../../contracts/model.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { StoredApiKeys } from '../api-keys.ts';
import { DEFAULT_SMALL_MODEL } from '../built-in-models.ts';
import { isSampleProject } from '../is-sample-project.ts';
import { PROVIDER_PRESETS } from '../provider-presets.ts';
import { type CloudSettings, EMPTY_CLOUD_SETTINGS } from '../providers/cloud-settings.ts';
import { listAvailableModels, type ModelListing } from './available-models.ts';
import { explainMissingCredentials, explainUnknownProvider, isAnthropicKeyMissing } from './explain-missing-model.ts';
import { type ModelConfig, readModelConfig } from './model-config.ts';
import type { ModelInfoSource } from './model-info-source.ts';
import { formatModelName, type ModelRoute, type ProviderConfigs, parseModelName, resolveRoute } from './model-route.ts';
import { createModelRouter } from './model-router.ts';

/** The models a configuration can reach: the port that serves them, facts about them, and the initial model. */
export type ModelRegistry = Pick<ModelInfoSource, 'infoOf' | 'lookUp' | 'loadInfo' | 'explainUnlisted'> & {
  readonly port: ModelPort;
  /** Name of the initial model; stored with the session and used again on resume. */
  readonly model: string;
  readonly provider: ModelRoute['provider'];
  readonly keySource: string;
  /** Resolves a model name, or returns what is missing to use it. */
  readonly findModel: (name: string) => ModelLookupResult;
  /** Sets the API key of a provider for all further requests. */
  readonly setApiKey: (provider: string, key: string) => void;
  /** Returns the model for side calls; `undefined` if side calls should be skipped. */
  readonly getSmallModel: (model: string) => string | undefined;
  /** Lists the available models of providers with a key, configured servers and local servers. */
  readonly listAvailable: () => Promise<ModelListing>;
};

/** A resolved model name, or the reason why the model cannot be used. */
export type ModelLookupResult =
  | { readonly ok: true; readonly model: string }
  | { readonly ok: false; readonly problem: string; readonly code?: 'no_api_key' };

/** A model registry, or the reason why the initial model cannot be used. */
export type ModelRegistryResult =
  | ({ readonly ok: true } & ModelRegistry)
  | { readonly ok: false; readonly problem: string; readonly code?: 'no_api_key' };

/** Creates the model registry for a configuration, without network access. */
export function createModelRegistry(baseConfig: ModelConfig): ModelRegistryResult {
  const providers: Record<string, ProviderConfigs[string]> = { ...baseConfig.providers };
  const config = { ...baseConfig, providers };
  const initial = findModel(config, config.model);
  if (!initial.ok) return initial;
  const initialRoute = resolveRoute(config, config.model);
  const router = createModelRouter(config);
  return {
    ok: true,
    ...router,
    model: initial.model,
    findModel: (name) => findModel(config, name),
    setApiKey(name, apiKey) {
      const { fetchKey: _, ...server } = providers[name] ?? {};
      providers[name] = { ...server, apiKey, keySource: 'stored key' };
    },
    provider: initialRoute.provider,
    keySource: initialRoute.provider === 'anthropic' ? (config.keySource ?? 'none') : 'none',
    getSmallModel: (model) => resolveSmallModel(config, resolveRoute(config, model)),
    listAvailable: () => listAvailableModels(config, router),
  };
}

function findModel(config: ModelConfig, name: string): ModelLookupResult {
  const route = resolveRoute(config, name);
  const unknown = explainUnknownProvider(config, route);
  if (unknown !== undefined)
    return {
      ok: false,
      problem: `${unknown} "providers" in your settings adds more, and \`ouro models\` lists the models.`,
    };
  const problem = explainMissingCredentials(route, config);
  if (problem === undefined) return { ok: true, model: formatModelName(route, name) };
  return { ok: false, problem, ...(isAnthropicKeyMissing(route, config) ? { code: 'no_api_key' } : {}) };
}

/** Returns the configured small model, or else the default one of the provider; `off` disables it. */
function resolveSmallModel({ smallModel, defaultCloud }: ModelConfig, route: ModelRoute): string | undefined {
  if (smallModel !== undefined) return smallModel.trim().toLowerCase() === 'off' ? undefined : smallModel;
  return getDefaultSmallModel(route, defaultCloud);
}

/** Returns the default small model of a provider; `undefined` if it has none. */
export function getDefaultSmallModel(route: ModelRoute, defaultCloud: ModelConfig['defaultCloud']): string | undefined {
  switch (route.provider) {
    case 'cloud': {
      const name = `${route.cloud}/${DEFAULT_SMALL_MODEL}`;
      return formatModelName(parseModelName(name, {}, defaultCloud), name);
    }
    case 'anthropic':
      return DEFAULT_SMALL_MODEL;
    case 'openai': {
      const preset = PROVIDER_PRESETS.get(route.name);
      // A preset with a changed address may serve other models.
      const isPresetServer = preset?.smallModel !== undefined && preset.baseUrl === route.server.baseUrl;
      return isPresetServer ? `${route.name}/${preset.smallModel}` : undefined;
    }
    default:
      return undefined;
  }
}

/** State of a resumed session, stored API keys, and the listener for output of sign-in commands. */
type StoredState = {
  readonly onSignIn?: CloudSettings['onSignIn'];
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly keys?: StoredApiKeys;
  /** Called with each key and its provider or variable: at once, or when the key is fetched. */
  readonly onKey?: ((name: string, key: string) => void) | undefined;
};

/** Creates the model registry from the command line, the session, the environment and the settings. */
export function openModelRegistry(
  options: CliRunOptions,
  settings: Settings,
  environment: Environment,
  limits: () => RuntimeLimits,
  { keys = new Map(), onSignIn, onKey = () => undefined, ...stored }: StoredState,
): ModelRegistryResult {
  const parsed = readModelConfig(settings, environment, keys, limits);
  if (!parsed.ok) return parsed;
  return createModelRegistry({
    ...reportKeys(parsed.config, onKey),
    clouds: { ...(parsed.config.clouds ?? EMPTY_CLOUD_SETTINGS), onSignIn },
    model: options.model ?? stored.model ?? parsed.config.model,
    ...(options.betas === undefined ? {} : { betas: options.betas }),
    demo: createDemoSettings(options, stored.cwd),
  });
}

/** Reports the keys of a configuration: those it contains at once, the others when they are fetched. */
function reportKeys(config: ModelConfig, onKey: NonNullable<StoredState['onKey']>): ModelConfig {
  const { apiKey, authToken, customHeaders = {}, providers = {} } = config;
  const reportFetched = (name: string, fetchKey: () => Promise<string>) => async () => {
    const key = await fetchKey();
    onKey(name, key);
    return key;
  };
  if (typeof apiKey === 'string') onKey('anthropic', apiKey);
  if (authToken !== undefined) onKey('anthropic', authToken);
  for (const [name, value] of Object.entries(customHeaders))
    if (/auth|key|token|secret/i.test(name)) onKey('ANTHROPIC_CUSTOM_HEADERS', value.replace(/^\s*\w+ /, ''));
  const reported = Object.entries(providers).map(([name, server]) => {
    if (server.apiKey !== undefined) onKey(name, server.apiKey);
    const { fetchKey } = server;
    return [name, fetchKey === undefined ? server : { ...server, fetchKey: reportFetched(name, fetchKey) }] as const;
  });
  return {
    ...config,
    ...(typeof apiKey === 'function' && { apiKey: reportFetched('anthropic', apiKey) }),
    providers: Object.fromEntries(reported),
  };
}

/** Chooses the demo's sample project: the session's folder, the working directory, or a separate one. */
function createDemoSettings(
  { cwd, frontend, demoProject }: CliRunOptions,
  storedCwd: string | undefined,
): ModelConfig['demo'] {
  // The typing delay is only useful on screen.
  const timing = frontend === 'screen' ? {} : { sleep: async () => undefined };
  const existingProject = [storedCwd, cwd].find((dir) => dir !== undefined && isSampleProject(dir));
  const projectDir = existingProject ?? demoProject?.folder;
  return projectDir === undefined ? timing : { ...timing, project: { projectDir, cwd: existingProject ?? cwd } };
}
