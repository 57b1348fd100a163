import type { JsonObject } from '../../../contracts/json.ts';
import type { ControlResponse } from './input-lines.ts';

/** Control requests to the host, matched with its responses. */
export type ControlRequestSender = ReturnType<typeof createControlRequestSender>;

type PendingRequest = { readonly resolve: (answer: JsonObject) => void; readonly reject: (why: Error) => void };

/** Creates the requests to a host that is written to with `write`. */
export function createControlRequestSender(write: (line: JsonObject) => void, newId: () => string) {
  const pending = new Map<string, PendingRequest>();
  let isClosed = false;

  return {
    /** Sends a request. Rejects on an error response, when the host is gone, and on abort, which cancels the request. */
    send(request: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
      if (isClosed) return Promise.reject(new Error('The host has closed its side.'));
      if (signal?.aborted === true) return Promise.reject(new Error('Withdrawn.'));
      const id = newId();
      return new Promise((resolve, reject) => {
        const withdraw = () => {
          if (!pending.delete(id)) return;
          write({ type: 'control_cancel_request', request_id: id });
          reject(new Error('Withdrawn.'));
        };
        const removeListener = () => signal?.removeEventListener('abort', withdraw);
        pending.set(id, {
          resolve: (answer) => {
            removeListener();
            resolve(answer);
          },
          reject: (why) => {
            removeListener();
            reject(why);
          },
        });
        signal?.addEventListener('abort', withdraw, { once: true });
        write({ type: 'control_request', request_id: id, request });
      });
    },
    /** Handles a response; one without a pending request is ignored. */
    handleResponse(response: ControlResponse) {
      const entry = pending.get(response.request_id);
      if (entry === undefined) return;
      pending.delete(response.request_id);
      if (response.subtype === 'success') entry.resolve(response.response ?? {});
      else entry.reject(new Error(response.error));
    },
    /** Rejects all pending and future requests: the host has closed stdin. */
    close() {
      isClosed = true;
      const unanswered = [...pending.values()];
      pending.clear();
      for (const { reject } of unanswered) reject(new Error('The host has closed its side.'));
    },
  };
}
