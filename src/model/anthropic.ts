import type { Anthropic } from '@anthropic-ai/sdk/client';
import type { JsonObject } from '../contracts/json.ts';
import type { ModelFailure, ModelInfo, ModelPort, ModelRequest, StreamOptions } from '../contracts/model.ts';
import { modelInfo } from './catalog.ts';
import { askedKey } from './keys/asked-key.ts';
import { type ModelAttempt, type Patience, patienceOf, startAttempt } from './wire/attempt.ts';
import { readReply, type WireReader } from './wire/read-reply.ts';
import { ABORTED, failureOfThrown } from './wire/stream-failures.ts';
import { addressOf } from './wire/stream-response.ts';
import { toWire } from './wire/to-wire.ts';
import { numberOf, objectOf, parseJson } from './wire/wire-json.ts';

/** What it takes to talk to the Messages API, or to a gateway that speaks it. */
export type AnthropicSettings = {
  readonly credentials: { readonly apiKey: string | (() => Promise<string>) } | { readonly authToken: string };
  readonly baseUrl?: string;
  /** A key that is fetched may have run out: told so, it is fetched anew and the request sent once more. */
  readonly onRefusedKey?: () => void;
  readonly betas?: readonly string[];
  /** The provider does not leave out old results by itself: from now on `infoOf` says so. */
  readonly onRefusedEditing?: () => void;
  /** Asked at each request. */
  readonly patience?: () => Partial<Patience>;
  readonly fetch?: typeof fetch;
  readonly infoOf?: (model: string) => ModelInfo;
};

const EDITING_BETA = 'context-management-2025-06-27';
const DEFAULT_BASE_URL = 'https://api.anthropic.com';
/** Longer than anybody waits: the clocks are ours, and may be set anew at any time. */
const LIBRARY_TIMEOUT_MS = 86_400_000;
const DEFAULT_PATIENCE: Patience = { headerTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/** The Messages API, one try per stream: repeating is the business of `withRetry`. */
export function createAnthropicPort(settings: AnthropicSettings): ModelPort {
  // Written with or without its version: both are meant the same.
  const baseUrl = (settings.baseUrl ?? DEFAULT_BASE_URL).replace(/(?:\/v1)?\/*$/, '');
  const infoOf = settings.infoOf ?? modelInfo;
  let loading: Promise<Anthropic> | undefined;

  function client(): Promise<Anthropic> {
    loading ??= loadClient(settings, baseUrl);
    return loading;
  }

  async function post(path: string, body: JsonObject, request: ModelRequest, signal: AbortSignal, key?: string) {
    const own = body.context_management === undefined ? [] : [EDITING_BETA];
    const betas = [...new Set([...(settings.betas ?? []), ...(request.betas ?? []), ...own])];
    const headers = {
      ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
      ...(key === undefined ? await keyHeader(settings.credentials) : { 'x-api-key': key, authorization: null }),
    };
    return (await client()).post(path, { body, headers, signal, stream: body.stream === true }).asResponse();
  }

  async function open(
    request: ModelRequest,
    { getApiKey }: Pick<StreamOptions, 'getApiKey'>,
    attempt: ModelAttempt,
  ): Promise<Response | ModelFailure> {
    const key = await askedKey(getApiKey);
    if (typeof key === 'object') return key;
    try {
      return await post('/v1/messages', toWire(request, infoOf(request.model)), request, attempt.signal, key);
    } catch (thrown) {
      return attempt.endedBy() ?? failureOfThrown(thrown, addressOf(baseUrl));
    }
  }

  return {
    name: 'anthropic',
    async prepare() {
      await client();
    },
    async *stream(request, options, signal) {
      if (signal.aborted) return { ok: false, failure: ABORTED };
      const attempt = startAttempt(patienceOf(DEFAULT_PATIENCE, settings.patience?.(), options.timeoutMs), signal);
      try {
        const opening = open(request, options, attempt);
        yield { type: 'request_sent', attempt: 1 };
        let response = await opening;
        if (settings.onRefusedKey && isRefusedKey(response)) {
          settings.onRefusedKey();
          response = await open(request, options, attempt);
        }
        if (settings.onRefusedEditing && isRefusedEditing(response)) {
          settings.onRefusedEditing();
          response = await open(request, options, attempt);
        }
        if (!(response instanceof Response)) return { ok: false, failure: response };
        const newId = () => `msg_${crypto.randomUUID()}`;
        return yield* readReply(response, { reader: READER, model: request.model, newId, attempt, options });
      } finally {
        attempt.close();
      }
    },
    async countTokens(request, signal) {
      const {
        max_tokens: _max,
        stream: _stream,
        metadata: _user,
        context_management: _edits,
        ...body
      } = toWire(request, infoOf(request.model));
      try {
        const response = await post('/v1/messages/count_tokens', body, request, signal);
        return numberOf(objectOf(parseJson(await response.text()))?.input_tokens);
      } catch {
        // A count is a convenience: whoever asked goes on with an estimate.
        return undefined;
      }
    },
  };
}

function isRefusedKey(response: Response | ModelFailure): boolean {
  return !(response instanceof Response) && response.kind === 'auth' && response.status === 401;
}

/** Gateways in front of a provider may not know the field, or its name in a header. */
function isRefusedEditing(response: Response | ModelFailure): boolean {
  return !(response instanceof Response) && response.kind === 'invalid' && /context.management/i.test(response.message);
}

/** The SDK sends keys as bearer tokens; many gateways know only the older header. */
async function keyHeader(credentials: AnthropicSettings['credentials']): Promise<Record<string, string>> {
  if (!('apiKey' in credentials)) return {};
  const { apiKey } = credentials;
  if (typeof apiKey === 'string') return { 'x-api-key': apiKey };
  const key = await apiKey();
  return { 'x-api-key': key, authorization: `Bearer ${key}` };
}

/** The Messages API speaks our language already; an `error` event may be no JSON at all. */
const READER: WireReader = {
  read({ name, data }) {
    const event = objectOf(parseJson(data));
    if (name === 'error') return [{ ...event, type: 'error' }];
    return event ? [event] : [];
  },
  end: () => [],
};

async function loadClient(settings: AnthropicSettings, baseUrl: string): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk/client');
  const { credentials } = settings;
  // A key that is asked for comes with each request; the SDK would ask for it once more.
  const isAsked = 'apiKey' in credentials && typeof credentials.apiKey !== 'string';
  return new Anthropic({
    ...(isAsked ? { apiKey: 'asked for at each request' } : credentials),
    baseURL: baseUrl,
    maxRetries: 0,
    // In a browser the key is whoever's who built the page; the SDK would refuse it there.
    ...(isBrowser() && { dangerouslyAllowBrowser: true }),
    timeout: LIBRARY_TIMEOUT_MS,
    // Everything written to the terminal is ours.
    logLevel: 'off',
    openTelemetry: false,
    // A redirect would contact a host nobody configured.
    fetchOptions: { redirect: 'manual' },
    ...(settings.fetch && { fetch: settings.fetch }),
  });
}

function isBrowser(): boolean {
  const runtime: unknown = globalThis.process;
  return runtime === undefined;
}
