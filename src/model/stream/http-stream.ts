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

/** One server-sent event: its data and its name, if it has one. */
export type ServerSentEvent = { readonly name: string | undefined; readonly data: string };

/** The error of an event that is larger than any event of a model API. */
class EndlessEventError extends Error {
  override readonly name = 'EndlessEventError';
}

/** Limit of one event: the largest are whole replies of a megabyte, or pictures of a few. */
const MAX_EVENT_CHARS = 16_000_000;
/** What a line counts for besides its text: an empty one takes memory and time, too. */
const LINE_CHARS = 32;

/**
 * Reads server-sent events from a body until its end; throws if the connection breaks. Comments are used as pings.
 * @internal Exported for tests.
 */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
  onComment: () => void = () => undefined,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = createParser(onComment);
  try {
    while (true) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      // Delegating to an array would take two more promises per event.
      for (const event of parser.push(text)) yield event;
      if (done) return;
    }
  } finally {
    // Not awaited: the rest of the body is read only so that the connection can be reused.
    void drain(reader);
  }
}

const DRAIN_TIMEOUT_MS = 100;

/** Reads the rest of the body so that the connection can be reused; closes it if the body does not end in time. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_TIMEOUT_MS);
  timer.unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // Broken or aborted; the connection is closed either way.
  } finally {
    clearTimeout(timer);
  }
}

/** Creates a parser that splits text into events at blank lines; an event without its blank line is discarded. */
function createParser(onComment: () => void) {
  /** The pieces of a line that has not ended yet; joined once, because lines may arrive in thousands of pieces. */
  let pieces: string[] = [];
  let pendingChars = 0;
  let dataChars = 0;
  let endedWithCarriageReturn = false;
  let name: string | undefined;
  let data: string | undefined;

  function takeLine(line: string): ServerSentEvent | undefined {
    if (line === '') {
      const event = data === undefined ? undefined : { name, data };
      name = undefined;
      data = undefined;
      dataChars = 0;
      return event;
    }
    const colon = line.indexOf(':');
    if (colon === 0) onComment();
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'data') {
      data = data === undefined ? value : `${data}\n${value}`;
      dataChars += value.length + LINE_CHARS;
      if (dataChars > MAX_EVENT_CHARS) throw new EndlessEventError('an event is too large');
    }
    if (field === 'event') name = value;
    return undefined;
  }

  return {
    push(text: string): readonly ServerSentEvent[] {
      // A carriage return ends its line at once: some servers send no line feed after the last one.
      const rest = endedWithCarriageReturn && text.startsWith('\n') ? text.slice(1) : text;
      endedWithCarriageReturn = text === '' ? endedWithCarriageReturn : text.endsWith('\r');
      const lines = rest.split(/\r\n|\n|\r/);
      const first = lines[0] ?? '';
      pieces.push(first);
      pendingChars += first.length;
      if (pendingChars > MAX_EVENT_CHARS) throw new EndlessEventError('a line is too long');
      if (lines.length === 1) return [];
      lines[0] = pieces.join('');
      const last = lines.pop() ?? '';
      pieces = [last];
      pendingChars = last.length;
      return lines.map(takeLine).filter((event) => event !== undefined);
    },
  };
}
