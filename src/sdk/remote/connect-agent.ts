import { z } from 'zod';
import type { AgentListener } from '../../contracts/agent.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { createCallbackSchema, parseArgument } from '../../lib/parse-argument.ts';
import { createDeferred } from '../../lib/promises.ts';
import { sleep } from '../../model/retry.ts';
import type { SdkAgent } from '../agent/agent-commands.ts';
import { createAgentReplica } from './agent-replica.ts';
import { createRemoteAgent } from './create-remote-agent.ts';
import {
  type REMOTE_METHODS,
  type RemoteCallResult,
  type RemoteStreamLine,
  remoteStreamLineSchema,
} from './wire-format.ts';

/** The options of a connection. */
export type ConnectOptions = {
  readonly token?: string;
  /** This client answers permission prompts and questions; without such a client, the answer is no. */
  readonly answers?: boolean;
  /** Called when the connection breaks, and when it is there again. */
  readonly onConnection?: (state: 'connected' | 'disconnected') => void;
  /** How long the agent may be out of reach before waiting calls are rejected: a minute by default. */
  readonly timeoutMs?: number;
  /** Replaces `fetch`. */
  readonly fetch?: typeof fetch;
};

/** An agent that runs elsewhere. It has the commands of a local one, and can be closed. */
export type RemoteAgent = SdkAgent & {
  /** Ends the connection. The agent runs on. */
  close(): void;
};

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** The server sends something every 15 seconds; a connection that is silent for longer is dead. */
const MAX_SILENCE_MS = 45_000;

const optionsSchema = z.strictObject({
  token: z.string('must be a text').optional(),
  answers: z.boolean('must be true or false').optional(),
  onConnection: createCallbackSchema<NonNullable<ConnectOptions['onConnection']>>().optional(),
  timeoutMs: z.number('must be a number of milliseconds').positive().optional(),
  fetch: createCallbackSchema<typeof fetch>().optional(),
});

/**
 * Connects to an agent of `serveAgent`. A broken connection is renewed, and nothing is missed meanwhile. Calls that wait
 * are rejected if that takes too long, but the connection is tried on.
 */
export async function connectAgent(url: string | URL, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const {
    token,
    answers = false,
    onConnection,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    fetch: send = fetch,
  } = parseArgument('connectAgent', options, optionsSchema);
  const base = parseAddress(url);
  const closed = new AbortController();
  const requests = createRequests({ base, token, timeoutMs, send, closed: closed.signal });
  const listeners = new Set<AgentListener>();
  const calls = createPendingCalls();
  const outage = createOutage(timeoutMs, () => calls.rejectAll(describeOutage(base, timeoutMs)));
  const ready = createDeferred<ReturnType<typeof createAgentReplica>>();
  let mirror: ReturnType<typeof createAgentReplica> | undefined;
  let seen: Pick<RemoteStreamLine, 'cursor' | 'server'> | undefined;
  let delivery = Promise.resolve();

  function receive(line: RemoteStreamLine): void {
    if (seen !== undefined && seen.server !== line.server) calls.rejectAll('The server was restarted.');
    seen = { cursor: line.cursor, server: line.server };
    if ('state' in line) {
      mirror ??= createAgentReplica(line.state);
      mirror.replace(line.state);
      ready.resolve(mirror);
    } else if ('event' in line) {
      const { event } = line;
      mirror?.apply(event);
      for (const listener of listeners) delivery = delivery.then(() => listener(event)).catch(() => undefined);
    } else {
      // Listeners hear what led to the result first.
      void delivery.then(() => calls.settle(line.result));
    }
  }

  async function readStream(): Promise<void> {
    const query = {
      ...(answers ? { answers: '1' } : {}),
      ...(seen && { after: `${seen.cursor}`, server: seen.server }),
    };
    const onOpen = () => {
      outage.end();
      onConnection?.('connected');
    };
    for await (const line of requests.readEvents(query, onOpen))
      receive(remoteStreamLineSchema.parse(JSON.parse(line)));
  }

  function end(reason: string): void {
    closed.abort();
    outage.end();
    calls.rejectAll(reason);
  }

  async function keepConnected(): Promise<void> {
    for (let pauseMs = MIN_PAUSE_MS; !closed.signal.aborted; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      const before = seen?.cursor;
      try {
        await readStream();
      } catch (thrown) {
        if (thrown instanceof RefusedError || seen === undefined) {
          const error = thrown instanceof Error ? thrown : new Error(String(thrown));
          ready.reject(error);
          end(error.message);
        }
      }
      if (closed.signal.aborted) return;
      onConnection?.('disconnected');
      outage.start();
      if (seen?.cursor !== before) pauseMs = MIN_PAUSE_MS;
      await sleep(pauseMs, closed.signal);
    }
  }

  /** Calls a command; the result comes with the stream, also after the connection was renewed. */
  async function call(method: (typeof REMOTE_METHODS)[number], ...args: readonly unknown[]): Promise<unknown> {
    if (closed.signal.aborted) throw new Error('The connection is closed.');
    const id = crypto.randomUUID();
    const result = calls.add(id);
    try {
      const response = await requests.post(JSON.stringify({ id, method, args }));
      if (!response.ok) throw new Error(`${method} was refused (${response.status}): ${await response.text()}`);
    } catch (thrown) {
      calls.delete(id);
      throw thrown;
    }
    return result;
  }

  void keepConnected();
  const state = await ready.promise;
  const commands = createRemoteAgent({ call, listeners, state: state.snapshot });
  return { ...commands, close: () => end('The connection is closed.') };
}

type RequestDeps = {
  readonly base: URL;
  readonly token: string | undefined;
  readonly timeoutMs: number;
  readonly send: typeof fetch;
  readonly closed: AbortSignal;
};

/** The requests of a connection. */
function createRequests({ base, token, timeoutMs, send, closed }: RequestDeps) {
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
    post: (body: string) =>
      reach(new URL('call', base), {
        method: 'POST',
        body,
        signal: AbortSignal.any([closed, AbortSignal.timeout(timeoutMs)]),
      }),
    /** Yields the lines of the event stream until it ends, breaks or falls silent. */
    async *readEvents(query: Readonly<Record<string, string>>, onOpen: () => void): AsyncGenerator<string> {
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

function describeOutage({ origin }: URL, timeoutMs: number): string {
  return `${origin} could not be reached for ${timeoutMs / 1_000} s.`;
}

/** Calls a function when an outage lasts too long. */
function createOutage(timeoutMs: number, onTimeout: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    start(): void {
      timer ??= setTimeout(onTimeout, timeoutMs);
    },
    end(): void {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function parseAddress(url: unknown): URL {
  const address = `${String(url).replace(/\/$/, '')}/`;
  if (!URL.canParse(address))
    throw new TypeError(`connectAgent: ${typeof url === 'string' ? JSON.stringify(url) : String(url)} is not a URL.`);
  return new URL(address);
}

/** The calls that wait for their results. */
function createPendingCalls() {
  const pending = new Map<string, ReturnType<typeof createDeferred<unknown>>>();
  return {
    add(id: string): Promise<unknown> {
      const call = createDeferred<unknown>();
      pending.set(id, call);
      // The caller gets the rejection, also when it first waits for the request to be accepted.
      call.promise.catch(() => undefined);
      return call.promise;
    },
    delete: (id: string) => pending.delete(id),
    settle(result: RemoteCallResult): void {
      const call = pending.get(result.id);
      pending.delete(result.id);
      if (result.ok) call?.resolve(result.value);
      else call?.reject(new Error(result.error));
    },
    rejectAll(message: string): void {
      for (const call of pending.values()) call.reject(new Error(message));
      pending.clear();
    },
  };
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
class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
