import type { AsyncLocalStorage } from 'node:async_hooks';

/** Tells whether code runs inside of a visit that is still open. */
export type Visits = {
  open(): { run<Answer>(work: () => Answer): Answer; close(): void };
  isInside(): boolean;
};

type Visit = { isOpen: boolean };

/** With asynchronous contexts everything a visit starts is inside; where there are none, what it does before it waits. */
export function createVisits(): Visits {
  const store = contexts();
  let current: Visit | undefined;

  function run<Answer>(visit: Visit, work: () => Answer): Answer {
    const before = current;
    current = visit;
    try {
      return work();
    } finally {
      current = before;
    }
  }

  return {
    open() {
      const visit: Visit = { isOpen: true };
      return {
        run: (work) => (store === undefined ? run(visit, work) : store.run(visit, work)),
        close() {
          visit.isOpen = false;
        },
      };
    },
    isInside: () => (store === undefined ? current : store.getStore())?.isOpen === true,
  };
}

/** Asked of the runtime, so that nothing has to be imported where there is none. */
function contexts(): AsyncLocalStorage<Visit> | undefined {
  const runtime: { getBuiltinModule?: typeof process.getBuiltinModule } | undefined = globalThis.process;
  const hooks = runtime?.getBuiltinModule?.('node:async_hooks');
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<Visit>();
}
