import { z } from 'zod';
import type { AgentListener } from '../../contracts/agent.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { createCallbackSchema, parseArgument } from '../../lib/parse-argument.ts';
import { createDeferred, type Deferred } from '../../lib/promises.ts';
import { sleep } from '../../model/retry.ts';
import type { SdkAgent } from '../agent/agent-commands.ts';
import { type AgentReplica, createAgentReplica } from './agent-replica.ts';
import { createRemoteAgent } from './create-remote-agent.ts';
import { createRemoteRequests, describeOutage, RefusedError } from './remote-requests.ts';
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
  const requests = createRemoteRequests({ base, token, timeoutMs, send, closed: closed.signal });
  const listeners = new Set<AgentListener>();
  const calls = createPendingCalls();
  /** Runs during an outage; waiting calls are rejected when it ends. */
  const outage = createTimer(timeoutMs, () => calls.rejectAll(describeOutage(base, timeoutMs)));
  const ready = createDeferred<AgentReplica>();
  let replica: AgentReplica | undefined;
  /** Position in the events of a server, from which a renewed connection continues. */
  let seen: { readonly cursor: number; readonly server: string } | undefined;
  let delivery = Promise.resolve();

  function receive(line: RemoteStreamLine): void {
    if (seen !== undefined && seen.server !== line.server) calls.rejectAll('The server was restarted.');
    seen = { cursor: line.cursor, server: line.server };
    if ('state' in line) {
      replica ??= createAgentReplica(line.state);
      replica.replace(line.state);
      ready.resolve(replica);
    } else if ('event' in line) {
      const { event } = line;
      replica?.apply(event);
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
      outage.stop();
      onConnection?.('connected');
    };
    for await (const line of requests.readEvents(query, onOpen))
      receive(remoteStreamLineSchema.parse(JSON.parse(line)));
  }

  function end(reason: string): void {
    closed.abort();
    outage.stop();
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

/** Creates a timer that is started once, until it is stopped. */
function createTimer(ms: number, onTimeout: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    start(): void {
      timer ??= setTimeout(onTimeout, ms);
    },
    stop(): void {
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
  const pending = new Map<string, Deferred<unknown>>();
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
