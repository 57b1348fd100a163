import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { Settings } from '../../contracts/settings.ts';
import { presetKeys } from '../presets.ts';
import type { Providers } from './model-name.ts';
import { azureUrl, SERVER_APIS } from './server-api.ts';

const provider = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  apiKey: z.string().min(1).optional(),
  /** The name of a variable that holds the key, so that it need not stand in a file. */
  apiKeyEnv: z.string().min(1).optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  vision: z.boolean().optional(),
  api: z.enum(SERVER_APIS).optional(),
});
const providers = z.record(z.string(), provider);

type ReadProviders =
  | { readonly ok: true; readonly providers: Providers }
  | { readonly ok: false; readonly problem: string };

/** Servers of other providers, by name: those of the settings, and those whose key the environment holds. */
export function readProviders(settings: Settings, { variables, keys, openAi }: Environment): ReadProviders {
  const parsed = providers.safeParse(settings.providers ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      ok: false,
      problem: `The setting providers${issue === undefined ? '' : `.${issue.path.join('.')}: ${issue.message}`}. Each provider is { "baseUrl": "http://host:port/v1", "apiKeyEnv": "NAME", "contextWindow": 32000 }.`,
    };
  }
  const named = Object.entries(parsed.data).map(([name, { apiKeyEnv, ...server }]) => {
    const apiKey = server.apiKey ?? (apiKeyEnv === undefined ? undefined : (keys[apiKeyEnv] ?? variables[apiKeyEnv]));
    return [name, { ...server, ...(apiKey === undefined ? {} : { apiKey }) }] as const;
  });
  const endpoint = variables.AZURE_OPENAI_ENDPOINT?.trim();
  const azureKey = keys.AZURE_OPENAI_API_KEY?.trim();
  const fromVariables: Providers = {
    ...Object.fromEntries(presetKeys({ ...variables, ...keys })),
    openai: openAi,
    ...(endpoint && { azure: { baseUrl: azureUrl(endpoint), ...(azureKey && { apiKey: azureKey }) } }),
  };
  const settled = named.map(([name, server]) => [name, { ...fromVariables[name], ...server }] as const);
  return { ok: true, providers: { ...fromVariables, ...Object.fromEntries(settled) } };
}
