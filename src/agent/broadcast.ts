import type { AgentListener } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import { createVisits } from '../lib/visits.ts';

/** Tells listeners in order, one event after the other, each listener awaited. */
export type Broadcast = {
  subscribe(listener: AgentListener): () => void;
  /** Resolves when every listener has settled; never rejects. */
  tell(event: AgentEvent): Promise<void>;
  /** Resolves when everything told so far has been handled. */
  drained(): Promise<void>;
  /** Is the caller a listener that is being waited for? */
  asksListener(): boolean;
};

/** A listener that throws is reported and never reaches whoever told. */
export function createBroadcast(
  first: readonly AgentListener[],
  report: (thrown: unknown, event: AgentEvent) => void,
): Broadcast {
  let listeners = first;
  let tail: Promise<void> = Promise.resolve();
  const visits = createVisits();

  async function deliver(event: AgentEvent): Promise<void> {
    for (const listener of listeners) {
      const visit = visits.open();
      try {
        const answer = visit.run(() => listener(event));
        if (answer !== undefined) await answer;
      } catch (thrown) {
        report(thrown, event);
      } finally {
        visit.close();
      }
    }
  }

  return {
    subscribe(listener) {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter((other) => other !== listener);
      };
    },
    tell(event) {
      tail = tail.then(() => deliver(event));
      return tail;
    },
    drained: () => tail,
    asksListener: visits.isInside,
  };
}
