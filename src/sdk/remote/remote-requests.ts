import { getErrorPhrase } from '../../lib/errors.ts';
import type { fetch } from '../../lib/network/fetch.ts';

/** The server sends something every 15 seconds; a connection that is silent for longer is dead. */
const MAX_SILENCE_MS = 45_000;

type RequestDeps = {
  readonly base: URL;
  readonly token: string | undefined;
  readonly timeoutMs: number;
  readonly send: typeof fetch;
  readonly closed: AbortSignal;
};

/** The requests of a connection. */
export type RemoteRequests = {
  post(body: string): Promise<Response>;
  /** Yields the lines of the event stream until it ends, breaks or falls silent. */
  readEvents(query: Readonly<Record<string, string>>, onOpen: () => void): AsyncGenerator<string>;
};

/** Creates the requests of a connection. */
export function createRemoteRequests({ base, token, timeoutMs, send, closed }: RequestDeps): RemoteRequests {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };

  /** Sends a request, and names the address if that fails. */
  async function reach(address: URL, init: RequestInit): Promise<Response> {
    try {
      return await send(address, { headers, ...init });
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'TimeoutError')
        throw new Error(describeOutage(address, timeoutMs), { cause });
      throw new Error(`${address.origin} cannot be reached: ${getErrorPhrase(cause)}.`, { cause });
    }
  }

  return {
    post: (body) =>
      reach(new URL('call', base), {
        method: 'POST',
        body,
        signal: AbortSignal.any([closed, AbortSignal.timeout(timeoutMs)]),
      }),
    async *readEvents(query, onOpen) {
      const silence = createSilenceLimit(MAX_SILENCE_MS);
      try {
        const address = new URL(`events?${new URLSearchParams(query)}`, base);
        const response = await reach(address, { signal: AbortSignal.any([closed, silence.signal]) });
        if (!response.ok)
          throw new RefusedError(`${address.origin} answered ${response.status}: ${await response.text()}`);
        onOpen();
        yield* readLines(response, silence.restart);
      } finally {
        silence.stop();
      }
    },
  };
}

/** Describes an address that did not answer for too long. */
export function describeOutage({ origin }: URL, timeoutMs: number): string {
  return `${origin} could not be reached for ${timeoutMs / 1_000} s.`;
}

/** Aborts a signal after some time without a restart. */
function createSilenceLimit(ms: number) {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(new Error('nothing arrived')), ms);
  let timer = start();
  const stop = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    stop,
    restart() {
      stop();
      timer = start();
    },
  };
}

async function* readLines(response: Response, onBytes: () => void): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read()) {
    onBytes();
    const parts = (rest + decoder.decode(step.value, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    // Empty lines keep the connection open.
    for (const part of parts) if (part !== '') yield part;
  }
}

/** The server refused the connection, so that a retry is of no use. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
