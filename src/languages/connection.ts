import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { type PipedStart, pipedProgram } from '../lib/processes/piped-program.ts';
import { sanitize } from '../lib/text/sanitize.ts';
import { createFrames, frameOf } from './frames.ts';

/** What a server says by itself. */
export type ServerEars = {
  readonly notified: (method: string, params: JsonValue) => void;
  /** Answers a request of the server; `undefined`: it is not known here. */
  readonly asked: (method: string, params: JsonValue) => JsonValue | undefined;
  /** Comes once, when nothing of it is left. */
  readonly ended: () => void;
};

/** JSON-RPC with a program over its pipes, as the Language Server Protocol has it. */
export type Connection = {
  start(): Promise<void>;
  request(method: string, params: JsonObject | undefined, signal: AbortSignal): Promise<JsonValue>;
  notify(method: string, params?: JsonObject): void;
  close(): Promise<void>;
  /** Why it ended, with its last words. */
  ending(): string;
};

const TAIL_CHARS = 1_000;
const UNKNOWN_METHOD = -32_601;
const LAST_LINES = 2;

export function connect(start: PipedStart, ears: ServerEars): Connection {
  const requests = createRequests();
  let errors = '';

  const program = pipedProgram(start, {
    out: createFrames(take, (why) => program.refuse(why)),
    error: (chunk) => {
      errors = (errors + chunk.toString('utf8')).slice(-TAIL_CHARS);
    },
    ended() {
      requests.failAll(ending());
      ears.ended();
    },
  });

  function take(message: JsonObject): void {
    const { id, method, params = null } = message;
    if (typeof method === 'string') {
      if (id === undefined) ears.notified(method, params);
      else answer(id, method, params);
      return;
    }
    const { error, result = null } = message;
    if (isJsonObject(error)) requests.fail(id, String(error.message ?? 'it says no'));
    else requests.answer(id, result);
  }

  function answer(id: JsonValue, method: string, params: JsonValue): void {
    const result = ears.asked(method, params);
    const said =
      result === undefined ? { error: { code: UNKNOWN_METHOD, message: `${method} is not known here` } } : { result };
    send({ id, ...said });
  }

  /** A server that has gone is told of by `ended`. */
  function send(message: object): void {
    program.write(frameOf({ jsonrpc: '2.0', ...message })).catch(() => undefined);
  }

  function ending(): string {
    const lines = sanitize(errors, 'foreign').split('\n');
    const last = lines.map((line) => line.trim()).filter((line) => line !== '');
    const words = last.length === 0 ? '' : `; its last words: ${last.slice(-LAST_LINES).join(' / ')}`;
    return `${program.ending() ?? 'ended'}${words}`;
  }

  return {
    start: program.start,
    async request(method, params, signal) {
      const { id, result } = requests.begin();
      const stop = () => {
        if (requests.fail(id, `it did not answer ${method} in time`))
          send({ method: '$/cancelRequest', params: { id } });
      };
      signal.addEventListener('abort', stop, { once: true });
      program.write(frameOf({ jsonrpc: '2.0', id, method, params })).catch(() => void requests.fail(id, ending()));
      if (signal.aborted) stop();
      return result.finally(() => signal.removeEventListener('abort', stop));
    },
    notify: (method, params) => send({ method, params }),
    close: program.close,
    ending,
  };
}

type Waiting = { readonly resolve: (result: JsonValue) => void; readonly reject: (problem: Error) => void };

/** Requests that wait for their answer. */
function createRequests() {
  const waiting = new Map<JsonValue | undefined, Waiting>();
  let lastId = 0;
  const take = (id: JsonValue | undefined) => {
    const taken = waiting.get(id);
    waiting.delete(id);
    return taken;
  };
  const fail = (id: JsonValue | undefined, why: string): boolean => {
    const taken = take(id);
    taken?.reject(new Error(why));
    return taken !== undefined;
  };
  return {
    begin(): { readonly id: number; readonly result: Promise<JsonValue> } {
      lastId += 1;
      const id = lastId;
      return { id, result: new Promise((resolve, reject) => void waiting.set(id, { resolve, reject })) };
    },
    answer: (id: JsonValue | undefined, result: JsonValue) => take(id)?.resolve(result),
    /** Answers whether it still waited. */
    fail,
    failAll(why: string): void {
      for (const id of [...waiting.keys()]) fail(id, why);
    },
  };
}
