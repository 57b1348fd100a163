import type { Anthropic } from '@anthropic-ai/sdk/client';
import type { ModelPort } from '../../../contracts/model.ts';
import { getOrigin } from '../../stream/http-stream.ts';
import { buildAnthropicClientOptions, createMessagesApiPort } from './messages-api-port.ts';
import type { MessagesSettings } from './messages-request.ts';

/** Credentials and address for Anthropic's Messages API, or for a gateway that implements it. */
export type AnthropicSettings = MessagesSettings & {
  readonly credentials: { readonly apiKey: string | (() => Promise<string>) } | { readonly authToken: string };
  readonly baseUrl?: string;
  /** Headers that a gateway asks for. */
  readonly customHeaders?: Readonly<Record<string, string>>;
  /** Called when the API rejects a fetched key; the next `apiKey()` must return a fresh one. The request is retried once. */
  readonly onRefusedKey?: () => void;
};

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** Creates a port for Anthropic's API or a compatible gateway. Makes one attempt per stream; `withRetry` adds retries. */
export function createAnthropicPort(settings: AnthropicSettings): ModelPort {
  const { credentials, onRefusedKey } = settings;
  // The client adds `/v1` itself, so the base URL may be given with or without it.
  const baseUrl = (settings.baseUrl ?? DEFAULT_BASE_URL).replace(/(?:\/v1)?(?<!\/)\/*$/, '');
  let clientPromise: Promise<Anthropic> | undefined;
  return createMessagesApiPort(
    {
      name: 'anthropic',
      getOrigin: () => getOrigin(baseUrl),
      loadClient() {
        clientPromise ??= loadClient(settings, baseUrl);
        return clientPromise;
      },
      getHeaders: async (key) => ({
        ...settings.customHeaders,
        ...(key === undefined ? await buildKeyHeaders(credentials) : { 'x-api-key': key, authorization: null }),
      }),
      ...(onRefusedKey && {
        async renewCredentials({ status }) {
          if (status !== 401) return false;
          onRefusedKey();
          return true;
        },
      }),
      countsTokens: true,
    },
    settings,
  );
}

/** Builds the key headers. A fetched key is sent as a bearer token too: some gateways accept only one of the two. */
async function buildKeyHeaders(credentials: AnthropicSettings['credentials']): Promise<Record<string, string>> {
  if (!('apiKey' in credentials)) return {};
  const { apiKey } = credentials;
  if (typeof apiKey === 'string') return { 'x-api-key': apiKey };
  const key = await apiKey();
  return { 'x-api-key': key, authorization: `Bearer ${key}` };
}

async function loadClient(settings: AnthropicSettings, baseUrl: string): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk/client');
  const { credentials } = settings;
  // A fetched key is added per request by `headers`; passing the function on would make the SDK fetch it again.
  const isFetched = 'apiKey' in credentials && typeof credentials.apiKey !== 'string';
  return new Anthropic({
    ...buildAnthropicClientOptions(settings),
    ...(isFetched ? { apiKey: 'set per request' } : credentials),
    baseURL: baseUrl,
    // The SDK refuses to run in a browser unless told that exposing the key is intended.
    ...(isBrowser() && { dangerouslyAllowBrowser: true }),
  });
}

function isBrowser(): boolean {
  const runtime: unknown = globalThis.process;
  return runtime === undefined;
}
