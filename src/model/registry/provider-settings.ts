import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import { EFFORTS } from '../../contracts/model.ts';
import type { Settings } from '../../contracts/settings.ts';
import { createKeyHelper, type StoredApiKey, type StoredApiKeys } from '../api-keys.ts';

import { findPresetKeys } from '../provider-presets.ts';
import type { ModelFacts } from './model-facts.ts';
import { buildAzureOpenAiUrl, MODEL_SERVER_APIS, type ProviderConfigs } from './model-route.ts';

const providerSchema = z.lazy(() =>
  z.strictObject({
    baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    apiKey: z.string().min(1).optional(),
    /** Name of the variable that holds the key, so that the settings file need not contain it. */
    apiKeyEnv: z.string().min(1).optional(),
    /** Command that prints the key. */
    apiKeyHelper: z.string().min(1).optional(),
    contextWindow: z.int().positive().optional(),
    maxOutputTokens: z.int().positive().optional(),
    vision: z.boolean().optional(),
    api: z.enum(MODEL_SERVER_APIS).optional(),
  }),
);
const providersSchema = z.record(z.string(), providerSchema);

type ReadProviders =
  | { readonly ok: true; readonly providers: ProviderConfigs }
  | { readonly ok: false; readonly problem: string };

/** Reads the provider configurations from the settings, the environment and the stored keys. */
export function readProviderConfigs(
  settings: Settings,
  environment: Environment,
  stored: StoredApiKeys,
): ReadProviders {
  const parsed = providersSchema.safeParse(settings.providers ?? {});
  if (!parsed.success) {
    return {
      ok: false,
      problem: `Invalid setting providers${formatFirstIssue(parsed.error)}. Each provider is { "baseUrl": "http://host:port/v1", "apiKeyEnv": "NAME", "contextWindow": 32000 }.`,
    };
  }
  const { variables, keys, openAi } = environment;
  const openAiKey = openAi.apiKey === undefined ? {} : { keySource: 'OPENAI_API_KEY' };
  const endpoint = variables.AZURE_OPENAI_ENDPOINT?.trim();
  const azureKey = keys.AZURE_OPENAI_API_KEY?.trim();
  const fromVariables: ProviderConfigs = {
    ...Object.fromEntries(findPresetKeys({ ...variables, ...keys })),
    openai: { ...openAi, ...openAiKey },
    ...(endpoint && {
      azure: {
        baseUrl: buildAzureOpenAiUrl(endpoint),
        ...(azureKey && { apiKey: azureKey, keySource: 'AZURE_OPENAI_API_KEY' }),
      },
    }),
  };
  const configured = Object.entries(parsed.data).map(
    ([name, entry]) => [name, resolveKey(entry, environment)] as const,
  );
  const merged: ProviderConfigs = {
    ...fromVariables,
    ...Object.fromEntries(configured.map(([name, server]) => [name, { ...fromVariables[name], ...server }])),
  };
  const names = new Set([...Object.keys(merged), ...stored.keys()]);
  // Anthropic's key is read separately.
  names.delete('anthropic');
  return {
    ok: true,
    providers: Object.fromEntries([...names].map((name) => [name, addStoredKey(merged[name], stored.get(name))])),
  };
}

/** Adds the stored key to a server that has no other key. */
function addStoredKey(server: ProviderConfigs[string] = {}, stored: StoredApiKey | undefined): ProviderConfigs[string] {
  const hasKey = server.apiKey !== undefined || server.fetchKey !== undefined;
  if (hasKey || stored === undefined) return server;
  const { key, source } = stored;
  return { ...server, keySource: source, ...(typeof key === 'string' ? { apiKey: key } : { fetchKey: key }) };
}

type ProviderEntry = z.output<typeof providerSchema>;

function resolveKey(
  { apiKeyEnv, apiKeyHelper, apiKey, ...server }: ProviderEntry,
  { variables, keys }: Environment,
): ProviderConfigs[string] {
  if (apiKey !== undefined) return { ...server, apiKey, keySource: 'settings' };
  const envKey = apiKeyEnv === undefined ? undefined : (keys[apiKeyEnv] ?? variables[apiKeyEnv]);
  if (apiKeyEnv !== undefined && envKey !== undefined) return { ...server, apiKey: envKey, keySource: apiKeyEnv };
  if (apiKeyHelper === undefined) return server;
  const { getKey, forget } = createKeyHelper(apiKeyHelper, variables, Date.now);
  return { ...server, fetchKey: getKey, onRefusedKey: forget, keySource: 'apiKeyHelper' };
}

const dollars = z.number().nonnegative();

const modelSchema = z.lazy(() =>
  z.strictObject({
    contextWindow: z.int().positive().optional(),
    maxOutputTokens: z.int().positive().optional(),
    vision: z.boolean().optional(),
    tools: z.boolean().optional(),
    /** Supported efforts, with `off` if thinking can be disabled. */
    efforts: z.array(z.enum(EFFORTS)).optional(),
    /** Dollars per million tokens. */
    price: z
      .strictObject({
        input: dollars,
        output: dollars,
        cacheRead: dollars.optional(),
        cacheWrite: dollars.optional(),
      })
      .optional(),
  }),
);
const modelsSchema = z.record(z.string(), modelSchema);

type ReadModels =
  | { readonly ok: true; readonly models: Readonly<Record<string, ModelFacts>> }
  | { readonly ok: false; readonly problem: string };

/** Parses the `models` setting: facts about models, by name. */
export function parseModelsSetting(settings: Settings, today: string): ReadModels {
  const parsed = modelsSchema.safeParse(settings.models ?? {});
  if (!parsed.success) {
    return {
      ok: false,
      problem: `Invalid setting models${formatFirstIssue(parsed.error)}. Each model is { "contextWindow": 128000, "maxOutputTokens": 32000, "vision": true, "tools": true, "efforts": ["low", "high"], "price": { "input": 1, "output": 5 } }.`,
    };
  }
  const entries = Object.entries(parsed.data).map(([name, entry]) => [name, toFacts(entry, today)] as const);
  return { ok: true, models: Object.fromEntries(entries) };
}

function toFacts(
  { tools, efforts, price, contextWindow, maxOutputTokens, vision }: z.output<typeof modelSchema>,
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

function formatFirstIssue({ issues: [issue] }: z.ZodError): string {
  return issue === undefined ? '' : `.${issue.path.join('.')}: ${issue.message}`;
}
