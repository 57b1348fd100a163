import type { FetchLike, Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CancelledNotificationSchema,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { getErrnoCode } from '../../lib/errors.ts';
import { fetch } from '../../lib/network/fetch.ts';
import { createDeferred } from '../../lib/promises.ts';
import { createLimitedResponseFetch } from './limited-response-fetch.ts';

/** A transport with a session at the server, which it can end. */
export type McpSessionTransport = Transport & { terminateSession(): Promise<void> };

const END_SESSION_MS = 500;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Pauses between attempts to reach a server that refuses connections, as it does while it restarts. */
const REFUSED_PAUSES_MS = [100, 300, 600, 1_000, 2_000];
/** Error code for calls that were running when the server lost its sessions. */
const LOST_CALL = -32_000;

/**
 * Creates a transport that opens a new session when the server has lost the current one, because it was restarted, and
 * sends the refused message again. The server did not process a message that it refused, so nothing happens twice.
 */
export function createMcpSessionTransport(
  openTransport: (fetch: FetchLike) => McpSessionTransport,
  send: FetchLike = fetch,
): Transport {
  let initialize: JSONRPCMessage | undefined;
  let protocolVersion: string | undefined;
  let renewal: Promise<void> | undefined;
  let isClosed = false;
  const accepted = createAcceptedRequests();
  /** The id of the handshake that renews a session; its answer is not for the client. */
  let handshake: { readonly id: RequestId; readonly answered: () => void } | undefined;

  const guardedFetch = createLimitedResponseFetch(send, (id) =>
    setImmediate(() => accepted.has(id) && receive(createLostCallError(id, UNANSWERED))),
  );
  let inner = openTransport(guardedFetch);
  const { sendWhenUp, inFlight } = createPatientSender(
    () => inner,
    () => !isClosed && initialize !== undefined,
    (error) => transport.onerror?.(error),
  );

  function receive(message: JSONRPCMessage): void {
    const answered = accepted.observe(message);
    if (handshake !== undefined && handshake.id === answered) handshake.answered();
    else transport.onmessage?.(message);
  }

  function connect(): void {
    const current = inner;
    current.onmessage = (message) => current === inner && receive(message);
    current.onclose = () => current === inner && transport.onclose?.();
    current.onerror = (error) => {
      // A lost session is renewed with the next message, and a refused connection is tried again.
      if (current !== inner || isSessionLost(error, current) || isRefused(error)) return;
      transport.onerror?.(error);
    };
  }
  connect();

  /** Opens a new session as the client opened the first, and tells it that everything may have changed. */
  async function renew(): Promise<void> {
    const lost = inner;
    inner = openTransport(guardedFetch);
    connect();
    // Not earlier: closing would abort messages that are still being refused.
    void Promise.allSettled(inFlight).then(() => lost.close());
    await inner.start();
    if (initialize === undefined || !isJSONRPCRequest(initialize)) return;
    const lostCalls = accepted.takeAll();
    const { promise, resolve, reject } = createDeferred<void>();
    handshake = { id: `renewal-${crypto.randomUUID()}`, answered: resolve };
    const timer = setTimeout(() => reject(new Error('The restarted server did not answer.')), HANDSHAKE_TIMEOUT_MS);
    await sendWhenUp({ ...initialize, id: handshake.id });
    await promise.finally(() => clearTimeout(timer));
    if (protocolVersion !== undefined) inner.setProtocolVersion?.(protocolVersion);
    await inner.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    for (const message of listRenewalMessages(lostCalls)) transport.onmessage?.(message);
  }

  const transport: Transport = {
    start: () => inner.start(),
    async send(message, options) {
      await renewal;
      const session = inner;
      const { id } = isJSONRPCRequest(message) ? message : {};
      if (id !== undefined) accepted.add(id);
      accepted.observe(message);
      try {
        await sendWhenUp(message, options);
        // A first connection that is refused fails at once.
        if (isInitializeRequest(message)) initialize = message;
      } catch (thrown) {
        if (id !== undefined) accepted.delete(id);
        if (isClosed || initialize === undefined || !isSessionLost(thrown, session)) throw thrown;
        // Several messages may be refused at once; they share one new session.
        if (inner === session) {
          renewal = renew().finally(() => {
            renewal = undefined;
          });
        }
        await renewal;
        if (id !== undefined) accepted.add(id);
        await inner.send(message, options);
      }
    },
    async close() {
      isClosed = true;
      await endSession(inner);
    },
    setProtocolVersion(version) {
      protocolVersion = version;
      inner.setProtocolVersion?.(version);
    },
    get sessionId() {
      return inner.sessionId;
    },
  };
  return transport;
}

/** Reported after the last messages of the stream are handled. */
const UNANSWERED = 'The server closed the connection without an answer';

/** Creates the set of the requests that the current session has accepted and not answered. */
function createAcceptedRequests() {
  const ids = new Set<RequestId>();
  return {
    add: (id: RequestId) => void ids.add(id),
    delete: (id: RequestId) => void ids.delete(id),
    has: (id: RequestId) => ids.has(id),
    /** Removes the request that a message answers or cancels, and returns its id. */
    observe(message: JSONRPCMessage): RequestId | undefined {
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      const id = isAnswer ? message.id : CancelledNotificationSchema.safeParse(message).data?.params.requestId;
      if (id !== undefined) ids.delete(id);
      return id;
    },
    takeAll(): readonly RequestId[] {
      const all = [...ids];
      ids.clear();
      return all;
    },
  };
}

/** Ends the session at the server, with a short limit for servers that do not respond, and closes the transport. */
async function endSession(transport: McpSessionTransport): Promise<void> {
  if (transport.sessionId !== undefined) {
    const ended = transport.terminateSession().catch(() => undefined);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, END_SESSION_MS))]);
  }
  await transport.close();
}

/** Lists what a client is told after a renewal: its running calls failed, and every list may have changed. */
function listRenewalMessages(lostCalls: readonly RequestId[]): readonly JSONRPCMessage[] {
  return [
    ...lostCalls.map((id) => createLostCallError(id, 'The server was restarted during the call')),
    ...['tools', 'prompts', 'resources'].map((kind) => ({
      jsonrpc: '2.0' as const,
      method: `notifications/${kind}/list_changed`,
    })),
  ];
}

function createLostCallError(id: RequestId, cause: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: LOST_CALL, message: `${cause}; whether it took effect is not known.` } };
}

/** Creates the function that sends a message, and the messages that are being sent. */
function createPatientSender(getTransport: () => Transport, mayWait: () => boolean, onRefused: (error: Error) => void) {
  const inFlight = new Set<Promise<void>>();

  async function track(sending: Promise<void>): Promise<void> {
    inFlight.add(sending);
    try {
      await sending;
    } finally {
      inFlight.delete(sending);
    }
  }

  return {
    inFlight,
    /** Sends a message; waits a few seconds for a server that refuses connections, so has not got the message. */
    async sendWhenUp(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
      for (const pauseMs of [...REFUSED_PAUSES_MS, undefined]) {
        try {
          return await track(getTransport().send(message, options));
        } catch (thrown) {
          if (!isRefused(thrown)) throw thrown;
          if (pauseMs === undefined || !mayWait()) {
            if (thrown instanceof Error) onRefused(thrown);
            throw thrown;
          }
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
      }
    },
  };
}

/** Servers must answer 404 for an unknown session; many answer 400 and name it. */
function isSessionLost(error: unknown, { sessionId }: Transport): boolean {
  if (sessionId === undefined || !(error instanceof Error) || !('code' in error)) return false;
  if (error.code === 404) return true;
  return error.code === 400 && /session|not initialized/i.test(error.message);
}

function isRefused(error: unknown): boolean {
  const code = getErrnoCode(error) ?? (error instanceof Error ? getErrnoCode(error.cause) : undefined);
  return code === 'ECONNREFUSED' || code === 'ConnectionRefused';
}
