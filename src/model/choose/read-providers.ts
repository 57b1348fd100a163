import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { Settings } from '../../contracts/settings.ts';
import { createKeyHelper } from '../keys/key-helper.ts';
import type { StoredKey, StoredKeys } from '../keys/stored-keys.ts';
import { presetKeys } from '../presets.ts';
import type { Providers } from './model-name.ts';
import { azureUrl, SERVER_APIS } from './server-api.ts';

const provider = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  apiKey: z.string().min(1).optional(),
  /** The name of a variable that holds the key, so that it need not stand in a file. */
  apiKeyEnv: z.string().min(1).optional(),
  /** A command that prints the key. */
  apiKeyHelper: z.string().min(1).optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  vision: z.boolean().optional(),
  api: z.enum(SERVER_APIS).optional(),
});
const providers = z.record(z.string(), provider);

type ReadProviders =
  | { readonly ok: true; readonly providers: Providers }
  | { readonly ok: false; readonly problem: string };

/** Servers of other providers, by name: those of the settings, and those whose key the environment or a store holds. */
export function readProviders(settings: Settings, environment: Environment, stored: StoredKeys): ReadProviders {
  const parsed = providers.safeParse(settings.providers ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      ok: false,
      problem: `The setting providers${issue === undefined ? '' : `.${issue.path.join('.')}: ${issue.message}`}. Each provider is { "baseUrl": "http://host:port/v1", "apiKeyEnv": "NAME", "contextWindow": 32000 }.`,
    };
  }
  const { variables, keys, openAi } = environment;
  const openAiKey = openAi.apiKey === undefined ? {} : { keySource: 'OPENAI_API_KEY' };
  const endpoint = variables.AZURE_OPENAI_ENDPOINT?.trim();
  const azureKey = keys.AZURE_OPENAI_API_KEY?.trim();
  const fromVariables: Providers = {
    ...Object.fromEntries(presetKeys({ ...variables, ...keys })),
    openai: { ...openAi, ...openAiKey },
    ...(endpoint && {
      azure: { baseUrl: azureUrl(endpoint), ...(azureKey && { apiKey: azureKey, keySource: 'AZURE_OPENAI_API_KEY' }) },
    }),
  };
  const named = Object.entries(parsed.data).map(([name, said]) => [name, settled(said, environment)] as const);
  const all: Providers = {
    ...fromVariables,
    ...Object.fromEntries(named.map(([name, server]) => [name, { ...fromVariables[name], ...server }])),
  };
  const names = new Set([...Object.keys(all), ...stored.keys()]);
  // Anthropic's own is no server among others.
  names.delete('anthropic');
  return {
    ok: true,
    providers: Object.fromEntries([...names].map((name) => [name, keyed(all[name], stored.get(name))])),
  };
}

/** A key that stands nearer outranks a stored one. */
function keyed(server: Providers[string] = {}, stored: StoredKey | undefined): Providers[string] {
  const hasKey = server.apiKey !== undefined || server.fetchKey !== undefined;
  if (hasKey || stored === undefined) return server;
  const { key, source } = stored;
  return { ...server, keySource: source, ...(typeof key === 'string' ? { apiKey: key } : { fetchKey: key }) };
}

type Said = z.output<typeof provider>;

function settled(
  { apiKeyEnv, apiKeyHelper, apiKey, ...server }: Said,
  { variables, keys }: Environment,
): Providers[string] {
  if (apiKey !== undefined) return { ...server, apiKey, keySource: 'settings' };
  const found = apiKeyEnv === undefined ? undefined : (keys[apiKeyEnv] ?? variables[apiKeyEnv]);
  if (apiKeyEnv !== undefined && found !== undefined) return { ...server, apiKey: found, keySource: apiKeyEnv };
  if (apiKeyHelper === undefined) return server;
  const { key, forget } = createKeyHelper(apiKeyHelper, variables, Date.now);
  return { ...server, fetchKey: key, onRefusedKey: forget, keySource: 'apiKeyHelper' };
}
