import type { ModelFailure } from '../../contracts/model.ts';
import type { ModelAttempt } from './attempt.ts';
import { classifyResponse } from './failures.ts';
import { readServerEvents, type WireEvent } from './server-events.ts';
import { CUT } from './stream-failures.ts';
import { objectOf, parseJson } from './wire-json.ts';

const MAX_ERROR_BODY = 4096;

/** The events of a response, until its end; a return value says why it could not be read to its end. */
export async function* streamResponse(
  response: Response,
  attempt: ModelAttempt,
): AsyncGenerator<WireEvent, ModelFailure | undefined> {
  attempt.headersArrived();
  const isStream = /event-stream/i.test(response.headers.get('content-type') ?? 'text/event-stream');
  if (!response.body) return attempt.endedBy() ?? refuse(response, '');
  try {
    const begun = isStream ? { body: response.body, looksRight: true } : await peekAt(response.body);
    if (!begun.looksRight) return yield* readWhole(response, begun.body, attempt);
    yield* readServerEvents(begun.body);
    return attempt.endedBy();
  } catch {
    // Whatever the runtime calls a broken socket (a bare TypeError, an AbortError), it is one of two things.
    return attempt.endedBy() ?? CUT;
  }
}

/** Some gateways call a stream plain text or JSON: how it begins tells. */
async function peekAt(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const { done, value } = await reader.read();
  const looksRight = LIKE_EVENTS.test(new TextDecoder().decode(value));
  const whole = new ReadableStream<Uint8Array>({
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
  return { body: whole, looksRight };
}

const LIKE_EVENTS = /^\s*(?:(?:event|data|id|retry)[ \t]*)?:/;

/** A 200 that is no stream: the whole reply at once, an error in disguise, or something else answers at this address. */
async function* readWhole(
  response: Response,
  body: ReadableStream<Uint8Array>,
  attempt: ModelAttempt,
): AsyncGenerator<WireEvent, ModelFailure | undefined> {
  const text = await readBody({ body }, Number.POSITIVE_INFINITY);
  const ended = attempt.endedBy();
  if (ended) return ended;
  const whole = objectOf(parseJson(text));
  if (!Array.isArray(whole?.choices)) return refuse(response, text.slice(0, MAX_ERROR_BODY));
  yield { name: undefined, data: text };
  yield { name: undefined, data: '[DONE]' };
  return undefined;
}

function refuse(response: Response, body: string): ModelFailure {
  if (objectOf(objectOf(parseJson(body))?.error)) {
    return classifyResponse({ status: undefined, body, header: (name) => response.headers.get(name) });
  }
  const kind = /html/i.test(response.headers.get('content-type') ?? '') ? 'a web page' : 'plain data';
  return {
    kind: 'invalid',
    status: response.status,
    message: `${addressOf(response.url)} answered with ${kind} instead of a stream of events. Is the base URL that of a model API?`,
  };
}

/** The first part of an error body; a socket that breaks meanwhile leaves what there is. */
export async function readBody(
  response: { readonly body: ReadableStream<Uint8Array> | null },
  mostChars = MAX_ERROR_BODY,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= mostChars) break;
    }
  } catch {
    return text;
  }
  return text;
}

/** Scheme and host of an address: enough to recognise it, and never a key in a query. */
export function addressOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url || 'The server';
}
