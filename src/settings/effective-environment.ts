import { z } from 'zod';
import {
  type Environment,
  type RuntimeLimits,
  SEARCH_KEY_VARIABLES,
  SECRET_VARIABLES,
} from '../contracts/environment.ts';
import type { LoadedSettings, Settings, WebSearchSettings } from '../contracts/settings.ts';
import { omitUndefined } from '../lib/json.ts';
import { mergeSettingsLayers } from './merge-settings.ts';

const keyedProvider = z.looseObject({ apiKeyEnv: z.string() });

/**
 * Adds the variables of the user's settings to the environment of ouro itself, behind those of the process, and moves
 * all API keys out of the variables. Variables of a project are for commands only.
 */
export function applySettingsEnvironment(
  environment: Environment,
  { merged, layers }: Pick<LoadedSettings, 'merged' | 'layers'>,
): Environment {
  const names = listKeyNames(merged);
  const added =
    mergeSettingsLayers(layers.filter(({ source }) => source !== 'project' && source !== 'local')).env ?? {};
  const variables = { ...added, ...environment.variables };
  const keys = Object.entries({ ...variables, ...environment.keys }).filter(([name]) => names.has(name));
  const hasOwnAuthorities = environment.variables[CA_VARIABLE] !== undefined;
  return {
    ...environment,
    ...resolveEndpoint(environment, added),
    extraCaFile: hasOwnAuthorities ? undefined : added[CA_VARIABLE],
    keys: { ...environment.keys, ...Object.fromEntries(keys) },
    variables: omitVariables(names, variables),
  };
}

const CA_VARIABLE = 'NODE_EXTRA_CA_CERTS';

/** Resolves credentials, endpoint and models from variables of the settings; the process environment comes first. */
function resolveEndpoint(
  { credentials, baseUrl, openAi, model, smallModel }: Environment,
  added: Readonly<Record<string, string>>,
): Pick<Environment, 'credentials' | 'baseUrl' | 'openAi' | 'model' | 'smallModel'> {
  const getVariable = (name: string) => (added[name]?.trim() ? added[name].trim() : undefined);
  const [apiKey, authToken] = [getVariable('ANTHROPIC_API_KEY'), getVariable('ANTHROPIC_AUTH_TOKEN')];
  const [openAiUrl, openAiKey] = [getVariable('OPENAI_BASE_URL'), getVariable('OPENAI_API_KEY')];
  const fromSettings = {
    ...omitUndefined({ apiKey, authToken }),
  };
  return {
    credentials: credentials.apiKey === undefined && credentials.authToken === undefined ? fromSettings : credentials,
    baseUrl: baseUrl ?? getVariable('ANTHROPIC_BASE_URL'),
    openAi: {
      ...omitUndefined({ baseUrl: openAiUrl, apiKey: openAiKey }),
      ...openAi,
    },
    model: model ?? getVariable('ANTHROPIC_MODEL'),
    smallModel: smallModel ?? getVariable('ANTHROPIC_SMALL_FAST_MODEL'),
  };
}

/** Builds the variables for commands, hooks and scripts: the environment and the settings' `env`, without API keys. */
export function buildChildVariables(environment: Environment, settings: Settings): Readonly<Record<string, string>> {
  return omitVariables(listKeyNames(settings), { ...environment.variables, ...settings.env });
}

/** Returns the variables added by the settings' `env`, without API keys. */
export function buildSettingsVariables(environment: Environment, settings: Settings): Readonly<Record<string, string>> {
  const added = Object.keys(settings.env ?? {});
  return Object.fromEntries(
    Object.entries(buildChildVariables(environment, settings)).filter(([name]) => added.includes(name)),
  );
}

/** Returns the variable with the key of the search provider that the settings choose. */
export function getSearchKeyVariable({ provider, apiKeyEnv }: WebSearchSettings): string | undefined {
  return apiKeyEnv ?? SEARCH_KEY_VARIABLES[provider];
}

function listKeyNames({ providers = {}, webSearch }: Settings): ReadonlySet<string> {
  const customKeys = Object.values(providers).flatMap((provider) => {
    const parsed = keyedProvider.safeParse(provider);
    return parsed.success ? [parsed.data.apiKeyEnv] : [];
  });
  const searchKey = webSearch && getSearchKeyVariable(webSearch);
  return new Set([...SECRET_VARIABLES, ...customKeys, ...(searchKey === undefined ? [] : [searchKey])]);
}

function omitVariables(
  names: ReadonlySet<string>,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = { ...variables };
  for (const name of names) delete kept[name];
  return kept;
}

/** Resolves timeouts and retries: the environment wins over the settings; limits set in neither keep their defaults. */
export function resolveTimeoutsAndRetries(
  { limits, variables }: Environment,
  { timeouts = {}, maxRetries, env = {} }: Settings,
): RuntimeLimits {
  // Vendors of gateways print this variable; it has no upper bound, because their models may think for long.
  const apiTimeoutMs = Number(variables.API_TIMEOUT_MS ?? env.API_TIMEOUT_MS);
  return {
    streamIdleTimeoutMs: limits.streamIdleTimeoutMs ?? timeouts.streamIdleMs,
    headerTimeoutMs: limits.headerTimeoutMs ?? timeouts.headerMs ?? (apiTimeoutMs > 0 ? apiTimeoutMs : undefined),
    maxRetries: limits.maxRetries ?? maxRetries,
    retryBaseMs: limits.retryBaseMs ?? timeouts.retryBaseMs,
    mcpTimeoutMs: limits.mcpTimeoutMs ?? timeouts.mcpMs,
    mcpCallTimeoutMs: limits.mcpCallTimeoutMs ?? timeouts.mcpCallMs,
    hookTimeoutMs: limits.hookTimeoutMs ?? timeouts.hookMs,
    bashTimeoutMs: limits.bashTimeoutMs ?? timeouts.bashMs,
    bashMaxTimeoutMs: limits.bashMaxTimeoutMs ?? timeouts.bashMaxMs,
  };
}
