/** Resolves with the result of `work`, or `undefined` once aborted for `graceMs`; the work continues. */
export async function resolveUndefinedOnAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  graceMs = 0,
): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abandon = () => {
      timer = setTimeout(() => resolve(undefined), graceMs);
    };
    const cleanUp = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abandon);
    };
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
    work.then(
      (result) => {
        cleanUp();
        resolve(result);
      },
      (thrown) => {
        cleanUp();
        reject(thrown);
      },
    );
  });
}

/** A promise together with the functions that settle it. */
export type Deferred<Value> = {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
};

/** Creates a deferred. Not every runtime the library supports has `Promise.withResolvers`. */
export function createDeferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<Value>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

/**
 * Returns a function that a long synchronous loop awaits in each step. It yields to the event loop only when `everyMs`
 * have passed since the last time, so that keys and signals are handled.
 */
export function createEventLoopYielder(everyMs = 10): () => Promise<void> | undefined {
  let yieldedAt = performance.now();
  return () => {
    if (performance.now() - yieldedAt < everyMs) return undefined;
    return new Promise((resolve) =>
      runSoon(() => {
        yieldedAt = performance.now();
        resolve();
      }),
    );
  };
}

/** Runs an action after events that wait; browsers have no `setImmediate`. */
const runSoon = (action: () => void): unknown =>
  typeof setImmediate === 'function' ? setImmediate(action) : setTimeout(action);
