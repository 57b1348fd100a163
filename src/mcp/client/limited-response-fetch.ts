import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isJSONRPCRequest, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { createEventLoopYielder } from '../../lib/promises.ts';

/** Limit of one answer or event: the largest hold pictures. */
const MAX_ANSWER_BYTES = 64_000_000;
/** Messages are handled between two pieces of a body, before other work may run. */
const PIECE_BYTES = 4096;
/** Statuses for which a response may not be created with a body. */
const NO_BODY_STATUSES = [204, 205, 304];
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/**
 * Wraps `fetch` for the answers of a server: they have a limit, other work runs while they arrive, and the id of a
 * request is reported when its stream has ended, unless the client can resume the stream.
 */
export function createLimitedResponseFetch(send: FetchLike, onStreamEnd: (id: RequestId) => void): FetchLike {
  return async (url, init) => {
    const response = await send(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null || status < 200 || NO_BODY_STATUSES.includes(status)) return response;
    const isStream = headers.get('content-type')?.includes('text/event-stream') === true;
    const id = isStream ? readRequestId(init?.body) : undefined;
    const guard = isStream ? createEventGuard() : createAnswerGuard();
    const onEnd = () => {
      if (id !== undefined && !guard.isResumable()) onStreamEnd(id);
    };
    return new Response(guardBody(body, guard, onEnd), { status, statusText, headers });
  };
}

function readRequestId(body: RequestInit['body']): RequestId | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const message: unknown = JSON.parse(body);
    return isJSONRPCRequest(message) ? message.id : undefined;
  } catch {
    return undefined;
  }
}

/** Passes a body on in small pieces. */
function guardBody(
  body: ReadableStream<Uint8Array>,
  { count }: AnswerGuard,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const yieldLoop = createEventLoopYielder();
  let rest = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await yieldLoop();
        try {
          while (rest.length === 0) {
            const { done, value } = await reader.read();
            if (done) {
              onEnd();
              return controller.close();
            }
            rest = new Uint8Array(value);
          }
        } catch (thrown) {
          onEnd();
          throw thrown;
        }
        const piece = rest.subarray(0, PIECE_BYTES);
        rest = rest.subarray(PIECE_BYTES);
        if (count(piece) <= MAX_ANSWER_BYTES) return controller.enqueue(piece);
        void reader.cancel().catch(() => undefined);
        onEnd();
        throw new Error(`The server sent an answer of more than ${MAX_ANSWER_BYTES / 1_000_000} MB.`);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Counts the bytes of the answer or event that is being received. */
type AnswerGuard = { readonly count: (piece: Uint8Array) => number; readonly isResumable: () => boolean };

function createAnswerGuard(): AnswerGuard {
  let bytes = 0;
  return {
    count(piece) {
      bytes += piece.length;
      return bytes;
    },
    isResumable: () => false,
  };
}

/** Counts the bytes since the last blank line, and looks for an event with an id, after which a client can resume. */
function createEventGuard(): AnswerGuard {
  let bytes = 0;
  let line = '';
  let hasId = false;
  return {
    count(piece) {
      bytes += piece.length;
      for (const byte of piece) {
        if (byte === NEWLINE) {
          if (line === '') bytes = 0;
          line = '';
        } else if (byte !== CARRIAGE_RETURN && line.length < 3) {
          line += String.fromCharCode(byte);
          hasId ||= line === 'id:';
        }
      }
      return bytes;
    },
    isResumable: () => hasId,
  };
}
