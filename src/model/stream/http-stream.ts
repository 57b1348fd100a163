import type { JsonObject } from '../../contracts/json.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import { classifyErrorResponse } from './error-response.ts';
import {
  CONNECTION_LOST_FAILURE,
  classifyThrown,
  OVERSIZED_EVENT_FAILURE,
  OVERSIZED_REPLY_FAILURE,
} from './failures.ts';
import { narrowToObject, parseNetworkJson } from './json-values.ts';
import type { ModelAttempt, StreamTimeouts } from './model-attempt.ts';
import { EndlessEventError, readServerEvents, type ServerSentEvent } from './server-sent-events.ts';

const MAX_ERROR_CHARS = 4096;
const MAX_SDK_ERROR_CHARS = 65_536;
/** Limit of a complete reply that is not streamed. */
const MAX_REPLY_CHARS = 32_000_000;

/** Streams the events of a response; returns a failure if the body cannot be read to its end. */
export async function* streamResponse(
  response: Response,
  attempt: ModelAttempt,
): AsyncGenerator<ServerSentEvent, ModelFailure | undefined> {
  attempt.markHeadersReceived();
  const isStream = /event-stream/i.test(response.headers.get('content-type') ?? 'text/event-stream');
  if (!response.body) return attempt.getFailure() ?? toFailure(response, '');
  try {
    const start = isStream ? { body: response.body, isEventStream: true } : await peekBody(response.body);
    if (!start.isEventStream) return yield* readCompleteReply(response, start.body, attempt);
    yield* readServerEvents(start.body, attempt.markAlive);
    return attempt.getFailure();
  } catch (thrown) {
    if (thrown instanceof EndlessEventError) return attempt.getFailure() ?? OVERSIZED_EVENT_FAILURE;
    // Runtimes throw different errors for a broken socket; either the attempt was aborted or the connection broke.
    return attempt.getFailure() ?? CONNECTION_LOST_FAILURE;
  }
}

/** Reads the first chunk to detect an event stream: some gateways declare streams as plain text or JSON. */
async function peekBody(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const { done, value } = await reader.read();
  const isEventStream = EVENT_START.test(new TextDecoder().decode(value));
  const fullBody = new ReadableStream<Uint8Array>({
    start(controller) {
      if (value) controller.enqueue(value);
      if (done) controller.close();
    },
    async pull(controller) {
      const next = await reader.read();
      if (next.value) controller.enqueue(next.value);
      if (next.done) controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { body: fullBody, isEventStream };
}

const EVENT_START = /^\s*(?:(?:event|data|id|retry)[ \t]*)?:/;

/** Handles a 200 response that is not a stream: a complete chat completion, or else a failure. */
async function* readCompleteReply(
  response: Response,
  body: ReadableStream<Uint8Array>,
  attempt: ModelAttempt,
): AsyncGenerator<ServerSentEvent, ModelFailure | undefined> {
  const text = await readBody(body, MAX_REPLY_CHARS);
  const attemptFailure = attempt.getFailure();
  if (attemptFailure) return attemptFailure;
  if (text.length >= MAX_REPLY_CHARS) return OVERSIZED_REPLY_FAILURE;
  const reply = narrowToObject(parseNetworkJson(text));
  if (!Array.isArray(reply?.choices)) return toFailure(response, text.slice(0, MAX_ERROR_CHARS));
  yield { name: undefined, data: text };
  yield { name: undefined, data: '[DONE]' };
  return undefined;
}

function toFailure(response: Response, body: string): ModelFailure {
  if (narrowToObject(narrowToObject(parseNetworkJson(body))?.error)) {
    return classifyErrorResponse({ status: undefined, body, header: (name) => response.headers.get(name) });
  }
  const kind = /html/i.test(response.headers.get('content-type') ?? '') ? 'a web page' : 'plain data';
  return {
    kind: 'invalid',
    status: response.status,
    message: `${getOrigin(response.url)} answered with ${kind} instead of an event stream. Check that the base URL is that of a model API.`,
  };
}

/** Reads up to `maxChars` of a body as text; if the connection breaks, returns what was received. */
async function readBody(body: ReadableStream<Uint8Array>, maxChars: number, timeoutMs?: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const timer = timeoutMs === undefined ? undefined : setTimeout(cancel, timeoutMs);
  let text = '';
  try {
    while (text.length < maxChars) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return text;
  } finally {
    clearTimeout(timer);
    cancel();
  }
  return text;
}

/** The status says enough about a failure whose reason takes longer. */
const ERROR_BODY_TIMEOUT_MS = 2000;

async function readErrorBody({ body }: Response, maxChars: number, timeoutMs = ERROR_BODY_TIMEOUT_MS): Promise<string> {
  return body === null ? '' : readBody(body, maxChars, timeoutMs);
}

/** Shortens the bodies of error responses: the SDK reads them to their end, and a broken server may send no end. */
export function shortenErrorBodies(
  send: typeof fetch,
  getTimeouts?: () => Partial<StreamTimeouts>,
): (...args: Parameters<typeof fetch>) => Promise<Response> {
  return async (...args) => {
    const response = await send(...args);
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    // A few kilobytes could cut JSON of a proxy in the middle, which has the reason near its end.
    const body = await readErrorBody(response, MAX_SDK_ERROR_CHARS, getTimeouts?.().errorBodyTimeoutMs);
    return new Response(hasBody(status) ? body : null, { status, statusText, headers });
  };
}

/** Statuses for which a response may not be created with a body. */
const hasBody = (status: number) => ![101, 204, 205, 304].includes(status);

/** Returns scheme and host of a URL for messages, without a query that may contain a key. */
export function getOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url || 'The server';
}

/** Posts a JSON request for a streamed reply. Returns a failure for an error status or a failed connection. */
export async function postStreamingRequest(
  url: string,
  { headers, body, send }: { headers: Readonly<Record<string, string>>; body: JsonObject; send: typeof fetch },
  attempt: ModelAttempt,
): Promise<Response | ModelFailure> {
  try {
    const response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify(body),
      signal: attempt.signal,
      // A redirect would contact a host that is not configured.
      redirect: 'manual',
    });
    if (response.ok) return response;
    const { status, headers: responseHeaders } = response;
    const errorBody = await readErrorBody(response, MAX_ERROR_CHARS, attempt.errorBodyTimeoutMs);
    return (
      attempt.getFailure() ??
      classifyErrorResponse({ status, body: errorBody, header: (name) => responseHeaders.get(name) })
    );
  } catch (thrown) {
    return attempt.getFailure() ?? classifyThrown(thrown, getOrigin(url));
  }
}
