/** What a server speaks: chat completions, as most do, OpenAI's Responses, or Google's own API. */
export const SERVER_APIS = ['chat', 'responses', 'gemini'] as const;
export type ServerApi = (typeof SERVER_APIS)[number];

/** What is said of a server, else what its address says: gateways in front of OpenAI and Google speak chat completions. */
export function apiOf(
  name: string,
  { baseUrl, api }: { readonly baseUrl: string; readonly api?: ServerApi },
): ServerApi {
  if (api !== undefined) return api;
  if (name === 'azure') return 'responses';
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  if (host === 'api.openai.com' || host.endsWith('.api.openai.com')) return 'responses';
  return host === 'generativelanguage.googleapis.com' ? 'gemini' : 'chat';
}

/** The address of one's own resource: known once its variable is set. */
export const AZURE_UNSET = 'https://resource-not-set.openai.azure.com/openai/v1';

/** Where Azure serves the models of a resource. */
export function azureUrl(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '');
  return `${base}/openai/v1`;
}
