export type Deferred<Value> = {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
};

/** A promise and who keeps it. `Promise.withResolvers` is not in every runtime the library is promised for. */
export function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((keep) => {
    resolve = keep;
  });
  return { promise, resolve };
}
