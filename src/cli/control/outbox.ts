import type { JsonObject } from '../../contracts/json.ts';
import type { ControlResponse } from './line-in.ts';

/** Questions to the host, and the way its answers come back. */
export type Outbox = {
  /** Asks; rejects when the host says no, has gone, or the signal is aborted (then the question is withdrawn). */
  ask(request: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
  /** Takes an answer; one that nobody waits for is dropped. */
  settle(response: ControlResponse): void;
  /** The host can answer no more. */
  close(): void;
};

type Waiting = { readonly resolve: (answer: JsonObject) => void; readonly reject: (why: Error) => void };

export function createOutbox(write: (line: JsonObject) => void, newId: () => string): Outbox {
  const waiting = new Map<string, Waiting>();
  let isClosed = false;

  return {
    ask(request, signal) {
      if (isClosed) return Promise.reject(new Error('The host has closed its side.'));
      if (signal?.aborted === true) return Promise.reject(new Error('Withdrawn.'));
      const id = newId();
      return new Promise((resolve, reject) => {
        const withdraw = () => {
          if (!waiting.delete(id)) return;
          write({ type: 'control_cancel_request', request_id: id });
          reject(new Error('Withdrawn.'));
        };
        const done = () => signal?.removeEventListener('abort', withdraw);
        waiting.set(id, {
          resolve: (answer) => {
            done();
            resolve(answer);
          },
          reject: (why) => {
            done();
            reject(why);
          },
        });
        signal?.addEventListener('abort', withdraw, { once: true });
        write({ type: 'control_request', request_id: id, request });
      });
    },
    settle(response) {
      const entry = waiting.get(response.request_id);
      if (entry === undefined) return;
      waiting.delete(response.request_id);
      if (response.subtype === 'success') entry.resolve(response.response ?? {});
      else entry.reject(new Error(response.error));
    },
    close() {
      isClosed = true;
      const left = [...waiting.values()];
      waiting.clear();
      for (const { reject } of left) reject(new Error('The host has closed its side.'));
    },
  };
}
