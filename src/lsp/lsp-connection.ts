import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { createPipedProgram, type PipedProgramOptions } from '../lib/processes/piped-program.ts';
import { sanitize } from '../lib/text/sanitize.ts';

/** Listeners for the requests and notifications of a server. */
type ServerListeners = {
  readonly onNotification: (method: string, params: JsonValue) => void;
  /** Answers a request of the server; `undefined` for an unknown method. */
  readonly onRequest: (method: string, params: JsonValue) => JsonValue | undefined;
  /** Called once, when all processes of the server have ended. */
  readonly onExit: () => void;
};

/** A JSON-RPC connection to a language server over its pipes. */
export type LanguageServerConnection = ReturnType<typeof createLspConnection>;

const TAIL_CHARS = 1_000;
const METHOD_NOT_FOUND = -32_601;
const STDERR_LINES = 2;

/** Creates the connection to a language server; `start` launches the process. */
export function createLspConnection(start: PipedProgramOptions, listeners: ServerListeners) {
  const requests = createRequests();
  let stderrTail = '';

  const program = createPipedProgram(start, {
    onStdout: createLspMessageDecoder(handleMessage, (reason) => program.abort(reason)),
    onStderr: (chunk) => {
      stderrTail = (stderrTail + chunk.toString('utf8')).slice(-TAIL_CHARS);
    },
    onEnd() {
      requests.failAll(describeExit());
      listeners.onExit();
    },
  });

  function handleMessage(message: JsonObject): void {
    const { id, method, params = null } = message;
    if (typeof method === 'string') {
      if (id === undefined) listeners.onNotification(method, params);
      else answer(id, method, params);
      return;
    }
    const { error, result = null } = message;
    if (isJsonObject(error)) requests.fail(id, String(error.message ?? 'unknown error'));
    else requests.answer(id, result);
  }

  function answer(id: JsonValue, method: string, params: JsonValue): void {
    const result = listeners.onRequest(method, params);
    const response =
      result === undefined
        ? { error: { code: METHOD_NOT_FOUND, message: `Method ${method} is not supported` } }
        : { result };
    send({ id, ...response });
  }

  /** Sends a message; a write error is ignored because `onExit` reports the end of the server. */
  function send(message: object): void {
    program.write(encodeLspMessage({ jsonrpc: '2.0', ...message })).catch(() => undefined);
  }

  /** Describes why it ended, with the last lines of stderr. */
  function describeExit(): string {
    const lines = sanitize(stderrTail, 'foreign').split('\n');
    const printed = lines.map((line) => line.trim()).filter((line) => line !== '');
    const lastOutput = printed.length === 0 ? '' : `; last output: ${printed.slice(-STDERR_LINES).join(' / ')}`;
    return `${program.getEndReason() ?? 'ended'}${lastOutput}`;
  }

  return {
    start: program.start,
    async request(method: string, params: JsonObject | undefined, signal: AbortSignal): Promise<JsonValue> {
      const { id, result } = requests.begin();
      const stop = () => {
        if (requests.fail(id, `it did not answer ${method} in time`))
          send({ method: '$/cancelRequest', params: { id } });
      };
      signal.addEventListener('abort', stop, { once: true });
      program
        .write(encodeLspMessage({ jsonrpc: '2.0', id, method, params }))
        .catch(() => void requests.fail(id, describeExit()));
      if (signal.aborted) stop();
      return result.finally(() => signal.removeEventListener('abort', stop));
    },
    notify: (method: string, params?: JsonObject) => send({ method, params }),
    close: program.close,
    /** Kills the server at once. */
    abort: program.abort,
    /** Id of the server's process group, once it runs. */
    getGroupId: program.getGroupId,
    describeExit,
  };
}

type PendingRequest = { readonly resolve: (result: JsonValue) => void; readonly reject: (problem: Error) => void };

/** Creates the table of requests that wait for a response. */
function createRequests() {
  const pending = new Map<JsonValue | undefined, PendingRequest>();
  let lastId = 0;
  const take = (id: JsonValue | undefined) => {
    const request = pending.get(id);
    pending.delete(id);
    return request;
  };
  const fail = (id: JsonValue | undefined, reason: string): boolean => {
    const request = take(id);
    request?.reject(new Error(reason));
    return request !== undefined;
  };
  return {
    begin(): { readonly id: number; readonly result: Promise<JsonValue> } {
      lastId += 1;
      const id = lastId;
      return { id, result: new Promise((resolve, reject) => void pending.set(id, { resolve, reject })) };
    },
    answer: (id: JsonValue | undefined, result: JsonValue) => take(id)?.resolve(result),
    /** Rejects a request; returns false when it is not pending any more. */
    fail,
    failAll(reason: string): void {
      for (const id of [...pending.keys()]) fail(id, reason);
    },
  };
}

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Output without a message that a server may print between two messages. */
const MAX_STRAY_BYTES = 1024 * 1024;
const HEADER_END = Buffer.from('\r\n\r\n');

/** Takes a chunk of a server's output. */
type MessageDecoder = (chunk: Buffer) => void;

/**
 * Encodes a message: a Content-Length header, an empty line, and JSON.
 *
 * @internal Exported for tests.
 */
export function encodeLspMessage(message: object): string {
  const text = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/**
 * Creates a decoder that emits every complete message; `refuse` gets the reason when the output exceeds a limit.
 *
 * @internal Exported for tests.
 */
export function createLspMessageDecoder(
  onMessage: (message: JsonObject) => void,
  refuse: (why: string) => void,
): MessageDecoder {
  let chunks: Buffer[] = [];
  let bufferedBytes = 0;
  /** Bytes needed for the next message; avoids concatenating on every chunk. */
  let neededBytes = 0;

  /** Finds the body of the first message; `undefined` before its header is complete. */
  function findBody(buffer: Buffer): { readonly start: number; readonly end: number } | undefined {
    const headerEnd = buffer.indexOf(HEADER_END);
    if (headerEnd === -1) return undefined;
    const length = /content-length:\s*(\d+)/i.exec(buffer.subarray(0, headerEnd).toString('latin1'))?.[1];
    const start = headerEnd + HEADER_END.length;
    // Text without a length is a banner, which is skipped.
    return { start, end: length === undefined ? start : start + Number(length) };
  }

  /** Emits the first message and returns the rest of the buffer; `undefined` when no message is complete. */
  function takeMessage(buffer: Buffer): Buffer | undefined {
    const body = findBody(buffer);
    if (body === undefined) {
      if (buffer.length > MAX_STRAY_BYTES) refuse('printed more than 1 MB that is not a message');
      return undefined;
    }
    if (body.end - body.start > MAX_MESSAGE_BYTES) {
      refuse('sent a message of more than 64 MB');
      return undefined;
    }
    neededBytes = body.end;
    if (buffer.length < body.end) return undefined;
    const message = parseMessage(buffer.subarray(body.start, body.end).toString('utf8'));
    if (message !== undefined) onMessage(message);
    neededBytes = 0;
    return buffer.subarray(body.end);
  }

  return (chunk) => {
    chunks.push(chunk);
    bufferedBytes += chunk.length;
    if (bufferedBytes < neededBytes) return;
    let buffer: Buffer = Buffer.concat(chunks);
    for (let rest = takeMessage(buffer); rest !== undefined; rest = takeMessage(buffer)) buffer = rest;
    chunks = [buffer];
    bufferedBytes = buffer.length;
  };
}

function parseMessage(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
