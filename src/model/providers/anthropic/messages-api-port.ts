import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { JsonObject } from '../../../contracts/json.ts';
import type { ModelFailure, ModelPort, ModelRequest } from '../../../contracts/model.ts';
import { fetch } from '../../../lib/network/fetch.ts';
import { getModelInfo } from '../../built-in-models.ts';
import { classifyThrown } from '../../stream/failures.ts';
import { shortenErrorBodies } from '../../stream/http-stream.ts';
import {
  narrowToNumber,
  narrowToObject,
  narrowToString,
  parseEventObjects,
  parseNetworkJson,
} from '../../stream/json-values.ts';
import type { ModelAttempt, StreamTimeouts } from '../../stream/model-attempt.ts';
import { MALFORMED_EVENT, type StreamEventTranslator } from '../../stream/read-reply.ts';
import { createStreamingPort } from '../../stream/streaming-port.ts';
import { buildMessagesRequest, type MessagesSettings, serializeMessagesRequest } from './messages-request.ts';

const EDITING_BETA = 'context-management-2025-06-27';
const DEFAULT_TIMEOUTS: StreamTimeouts = { headerTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/** Creates a port for a service with the Messages API. Makes one attempt per stream; `withRetry` adds retries. */
export function createMessagesApiPort(service: MessagesApiService, settings: MessagesSettings): ModelPort {
  const sender = createSender(service, settings);
  return {
    ...createStreamingPort(
      {
        name: service.name,
        timeouts: DEFAULT_TIMEOUTS,
        prepare: () => service.loadClient(''),
        sendRequest: sender.sendAdapted,
        createReader: ({ tools }) => createEventReader(new Set(tools.map((tool) => tool.name))),
      },
      settings.timeouts,
    ),
    ...(service.countsTokens && { countTokens: sender.countTokens }),
  };
}

/** Creates functions that send requests in the form the service accepts, learning from rejected ones. */
function createSender(service: MessagesApiService, settings: MessagesSettings) {
  const { infoOf = getModelInfo } = settings;
  const adapter = createRequestAdapter(service, settings);

  async function post(path: string, body: JsonObject, request: ModelRequest, signal: AbortSignal, key?: string) {
    const requiredBetas = body.context_management === undefined ? [] : [EDITING_BETA];
    const requestedBetas = adapter.filterBetas([...(settings.betas ?? []), ...(request.betas ?? [])]);
    const betas = [...new Set([...requestedBetas, ...requiredBetas])];
    const client = await service.loadClient(request.model, key);
    const headers = {
      'content-type': 'application/json',
      ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
      ...(await service.getHeaders(key)),
    };
    const acceptedBody = adapter.removeUnknownFields(body);
    const sent = service.adaptBody?.(acceptedBody) ?? serializeMessagesRequest(acceptedBody);
    return client.post(path, { body: sent, headers, signal, stream: body.stream === true }).asResponse();
  }

  async function send(
    request: ModelRequest,
    key: string | undefined,
    attempt: ModelAttempt,
  ): Promise<Response | ModelFailure> {
    try {
      return await post(
        '/v1/messages',
        buildMessagesRequest(request, infoOf(request.model)),
        request,
        attempt.signal,
        key,
      );
    } catch (thrown) {
      return attempt.getFailure() ?? classifyThrown(thrown, service.getOrigin(request.model));
    }
  }

  /** Sends a request, and again after each new adaptation. */
  async function sendAdapted(...[request, key, attempt]: Parameters<typeof send>): ReturnType<typeof send> {
    const triedAdaptations = new Set<Adaptation>();
    while (true) {
      const response = await send(request, key, attempt);
      try {
        const adaptation = attempt.getFailure() ? undefined : await adapter.learn(response);
        if (adaptation === undefined || triedAdaptations.has(adaptation)) return response;
        triedAdaptations.add(adaptation);
      } catch (thrown) {
        // The error of the failed renewal is more useful than the rejection of the old credentials.
        return classifyThrown(thrown, service.getOrigin(request.model));
      }
    }
  }

  async function countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined> {
    const {
      max_tokens: _max,
      stream: _stream,
      metadata: _user,
      context_management: _edits,
      ...body
    } = buildMessagesRequest(request, infoOf(request.model));
    try {
      const response = await post('/v1/messages/count_tokens', body, request, signal);
      return narrowToNumber(narrowToObject(parseNetworkJson(await response.text()))?.input_tokens);
    } catch {
      // Counting is optional: the caller falls back to an estimate.
      return undefined;
    }
  }

  return { sendAdapted, countTokens };
}

/** Creates a reader that passes Messages API events through; the data of an `error` event may not be JSON. */
function createEventReader(tools: ReadonlySet<string>): StreamEventTranslator {
  return {
    read({ name, data }) {
      if (name === 'error') return [{ ...narrowToObject(parseNetworkJson(data)), type: 'error' }];
      const events = parseEventObjects(data) ?? [MALFORMED_EVENT];
      return events.map((event) => {
        if (startsUnreadableCall(event, tools)) return MALFORMED_EVENT;
        return typeof event.type === 'string' ? event : { ...event, type: name ?? null };
      });
    },
    end: () => [],
  };
}

/** Returns true if a block of an unknown type calls an offered tool. */
function startsUnreadableCall({ content_block }: JsonObject, tools: ReadonlySet<string>): boolean {
  const { type, name } = narrowToObject(content_block) ?? {};
  return tools.has(narrowToString(name) ?? '') && !CALL_TYPES.includes(narrowToString(type) ?? '');
}

const CALL_TYPES: readonly string[] = ['tool_use', 'server_tool_use', 'mcp_tool_use'];

/** A service with the Messages API: how to reach it and what it supports. */
export type MessagesApiService = {
  readonly name: string;
  /** Scheme and host, for error messages. */
  readonly getOrigin: (model: string) => string;
  /** Loads the SDK client for a model; `key` overrides the credentials. */
  readonly loadClient: (model: string, key?: string) => Promise<Pick<BaseAnthropic, 'post'>>;
  /** Returns the authentication headers; rejects if there are no credentials. */
  readonly getHeaders: (key?: string) => Promise<Readonly<Record<string, string | null>>>;
  /** Adapts the request body to the service. Without it, the body is sent as text, whose parts are used again. */
  readonly adaptBody?: (body: JsonObject) => JsonObject;
  /** Tries to renew the credentials after a failure; resolves to true if the request should be sent again. */
  readonly renewCredentials?: (failure: ModelFailure) => Promise<boolean>;
  /** Returns false for betas the service does not support; by default all are sent. */
  readonly acceptsBeta?: (beta: string) => boolean;
  readonly countsTokens: boolean;
};

/** Effectively no timeout: `startAttempt` has its own timers, which follow changed settings. */
const SDK_TIMEOUT_MS = 86_400_000;

/** Returns SDK client options that disable the SDK's own retries, timeout, logging and redirects. */
export function buildAnthropicClientOptions({ fetch: send, timeouts }: MessagesSettings) {
  return {
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    // The SDK must not write to the terminal.
    logLevel: 'off',
    openTelemetry: false,
    // A redirect would contact a host that is not configured.
    fetchOptions: { redirect: 'manual' },
    fetch: shortenErrorBodies(send ?? fetch, timeouts),
  } as const;
}

/** A change made after a rejected request; each is tried once per request. */
type Adaptation = 'key' | 'editing' | 'betas' | OptionalField;

/** Creates the adapter that learns from rejected requests and removes what the service does not accept. */
function createRequestAdapter(
  { renewCredentials, acceptsBeta = () => true }: MessagesApiService,
  { onRefusedEditing }: MessagesSettings,
) {
  /** False once the service rejected a beta; error messages do not reliably name the one. */
  let acceptsBetas = true;
  const unknownFields = new Set<OptionalField>();
  return {
    /** Returns the betas to send. */
    filterBetas: (betas: readonly string[]): readonly string[] => (acceptsBetas ? betas.filter(acceptsBeta) : []),
    /** Returns the body without fields the service does not know. */
    removeUnknownFields: (body: JsonObject): JsonObject => removeRequestFields(body, unknownFields),
    /** Learns from a failure: renews credentials or drops context editing, a field, or betas. */
    async learn(response: Response | ModelFailure): Promise<Adaptation | undefined> {
      if (response instanceof Response) return undefined;
      const { kind, message } = response;
      if (kind === 'auth') return (await renewCredentials?.(response)) ? 'key' : undefined;
      if (kind !== 'invalid') return undefined;
      if (onRefusedEditing && /context.management/i.test(message)) {
        onRefusedEditing();
        return 'editing';
      }
      const field = findRejectedRequestField(message);
      if (field !== undefined) {
        unknownFields.add(field);
        return field;
      }
      if (!/\bbetas?\b|anthropic.beta/i.test(message)) return undefined;
      acceptsBetas = false;
      return 'betas';
    },
  };
}

/** Request fields that gateways and older services may not know and that a request works without. */
const OPTIONAL_FIELDS = ['display', 'output_config', 'metadata'] as const;
/** One of the optional request fields. */
type OptionalField = (typeof OPTIONAL_FIELDS)[number];

/** Finds the rejected field in a message: `thinking.adaptive.display: Extra inputs are not permitted`. @internal */
export function findRejectedRequestField(message: string): OptionalField | undefined {
  const pattern = /(?<![\w.])([\w.]+)['"`]?:? (?:Extra inputs are not permitted|is not (?:permitted|supported))/i;
  const path = pattern.exec(message)?.[1]?.split('.') ?? [];
  return OPTIONAL_FIELDS.find((field) => path.includes(field));
}

/** Removes fields from a request body. @internal Exported for tests. */
export function removeRequestFields(body: JsonObject, fields: ReadonlySet<OptionalField>): JsonObject {
  if (fields.size === 0) return body;
  const { output_config, metadata, thinking, ...rest } = body;
  const { display, ...thinkingRest } = narrowToObject(thinking) ?? {};
  return {
    ...rest,
    ...(output_config !== undefined && !fields.has('output_config') && { output_config }),
    ...(metadata !== undefined && !fields.has('metadata') && { metadata }),
    ...(thinking !== undefined && {
      thinking: { ...thinkingRest, ...(display !== undefined && !fields.has('display') && { display }) },
    }),
  };
}
