import type { AgentPort } from '../agent/parts.ts';
import type { AgentListener } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Bus } from './core.ts';

/** A bus that loses nothing: events wait for the agent, and notices for whoever joins before the first prompt. */
export function createBus(): Bus {
  let port: AgentPort | undefined;
  let waiting: readonly AgentEvent[] = [];
  let notices: readonly AgentEvent[] | undefined = [];
  return {
    async tell(event) {
      if (event.type === 'notice' && notices !== undefined) notices = [...notices, event];
      // Nobody may wait for an event that is kept: the agent comes later.
      if (port === undefined) waiting = [...waiting, event];
      else await port.tell(event);
    },
    port() {
      if (port === undefined) throw new Error('Something was asked before there was an agent.');
      return port;
    },
    attach(attached) {
      port = attached;
      for (const event of waiting) void attached.tell(event);
      waiting = [];
    },
    join(subscribe, listener) {
      if (notices === undefined) return subscribe(listener);
      const heard = new Set<AgentEvent>();
      const once: AgentListener = (event) => {
        if (event.type === 'notice' && notices !== undefined) {
          if (heard.has(event)) return undefined;
          heard.add(event);
        }
        return listener(event);
      };
      const unsubscribe = subscribe(once);
      let hasLeft = false;
      // A listener is not called before it knows how to leave.
      queueMicrotask(() => {
        for (const event of hasLeft ? [] : (notices ?? [])) void once(event);
      });
      return () => {
        hasLeft = true;
        unsubscribe();
      };
    },
    begin() {
      notices = undefined;
    },
  };
}
