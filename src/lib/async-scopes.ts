import type { AsyncLocalStorage } from 'node:async_hooks';

type Scope = { isOpen: boolean };

/** Creates a tracker of scopes: what `run` starts, without `AsyncLocalStorage` only what is synchronous. */
export function createAsyncScopes() {
  const storage = createStorage();
  let current: Scope | undefined;

  function runSynchronously<Result>(scope: Scope, work: () => Result): Result {
    const outer = current;
    current = scope;
    try {
      return work();
    } finally {
      current = outer;
    }
  }

  return {
    open(): { run<Result>(work: () => Result): Result; close(): void } {
      const scope: Scope = { isOpen: true };
      return {
        run: (work) => (storage === undefined ? runSynchronously(scope, work) : storage.run(scope, work)),
        close() {
          scope.isOpen = false;
        },
      };
    },
    isInside: (): boolean => (storage === undefined ? current : storage.getStore())?.isOpen === true,
  };
}

/** Asks the runtime instead of importing the module, which browsers do not have. */
function createStorage(): AsyncLocalStorage<Scope> | undefined {
  const runtime: { getBuiltinModule?: typeof process.getBuiltinModule } | undefined = globalThis.process;
  const hooks = runtime?.getBuiltinModule?.('node:async_hooks');
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<Scope>();
}
