import type { Anthropic } from '@anthropic-ai/sdk/client';
import type { ModelPort } from '../contracts/model.ts';
import { createMessagesPort } from './messages/messages-port.ts';
import { clientOptions, type MessagesSettings } from './messages/messages-service.ts';
import { addressOf } from './wire/stream-response.ts';

/** What it takes to talk to the Messages API, or to a gateway that speaks it. */
export type AnthropicSettings = MessagesSettings & {
  readonly credentials: { readonly apiKey: string | (() => Promise<string>) } | { readonly authToken: string };
  readonly baseUrl?: string;
  /** A key that is fetched may have run out: told so, it is fetched anew and the request sent once more. */
  readonly onRefusedKey?: () => void;
};

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** Anthropic's own API, or a gateway that speaks it: one try per stream, repeating is the business of `withRetry`. */
export function createAnthropicPort(settings: AnthropicSettings): ModelPort {
  const { credentials, onRefusedKey } = settings;
  // Written with or without its version: both are meant the same.
  const baseUrl = (settings.baseUrl ?? DEFAULT_BASE_URL).replace(/(?:\/v1)?\/*$/, '');
  let loading: Promise<Anthropic> | undefined;
  return createMessagesPort(
    {
      name: 'anthropic',
      address: () => addressOf(baseUrl),
      client() {
        loading ??= loadClient(settings, baseUrl);
        return loading;
      },
      headers: async (key) => (key === undefined ? keyHeader(credentials) : { 'x-api-key': key, authorization: null }),
      ...(onRefusedKey && {
        async renew({ status }) {
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

/** The SDK sends keys as bearer tokens; many gateways know only the older header. */
async function keyHeader(credentials: AnthropicSettings['credentials']): Promise<Record<string, string>> {
  if (!('apiKey' in credentials)) return {};
  const { apiKey } = credentials;
  if (typeof apiKey === 'string') return { 'x-api-key': apiKey };
  const key = await apiKey();
  return { 'x-api-key': key, authorization: `Bearer ${key}` };
}

async function loadClient(settings: AnthropicSettings, baseUrl: string): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk/client');
  const { credentials } = settings;
  // A key that is asked for comes with each request; the SDK would ask for it once more.
  const isAsked = 'apiKey' in credentials && typeof credentials.apiKey !== 'string';
  return new Anthropic({
    ...clientOptions(settings),
    ...(isAsked ? { apiKey: 'asked for at each request' } : credentials),
    baseURL: baseUrl,
    // In a browser the key is whoever's who built the page; the SDK would refuse it there.
    ...(isBrowser() && { dangerouslyAllowBrowser: true }),
  });
}

function isBrowser(): boolean {
  const runtime: unknown = globalThis.process;
  return runtime === undefined;
}
