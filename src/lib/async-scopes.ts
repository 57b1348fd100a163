import type { AsyncLocalStorage } from 'node:async_hooks';

/** A scope, open until its creator closes it. */
export type AsyncScope = { isOpen: boolean };

/** Creates a tracker of scopes: what `run` starts, without `AsyncLocalStorage` only what is synchronous. */
export function createAsyncScopes() {
  const storage = createStorage();
  let current: AsyncScope | undefined;

  return {
    /** Runs work in a scope. It takes the argument of the work, because every event is delivered this way. */
    run<Given, Result>(scope: AsyncScope, work: (given: Given) => Result, given: Given): Result {
      if (storage !== undefined) return storage.run(scope, work, given);
      const outer = current;
      current = scope;
      try {
        return work(given);
      } finally {
        current = outer;
      }
    },
    isInside: (): boolean => (storage === undefined ? current : storage.getStore())?.isOpen === true,
  };
}

/** Asks the runtime instead of importing the module, which browsers do not have. */
function createStorage(): AsyncLocalStorage<AsyncScope> | undefined {
  const runtime: { getBuiltinModule?: typeof process.getBuiltinModule } | undefined = globalThis.process;
  const hooks = runtime?.getBuiltinModule?.('node:async_hooks');
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<AsyncScope>();
}
