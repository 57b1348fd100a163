import type { AgentPort } from '../agent/parts.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { Bus } from './core.ts';

/** A bus that keeps what it is told until it is opened. */
export function createBus(): Bus {
  let port: AgentPort | undefined;
  let kept: AgentEvent[] | undefined = [];
  return {
    async tell(event) {
      // Nobody may wait for an event that is kept: whoever opens the bus may come later.
      if (kept !== undefined) kept.push(event);
      else await port?.tell(event);
    },
    port() {
      if (port === undefined) throw new Error('Something was asked before there was an agent.');
      return port;
    },
    attach(attached) {
      port = attached;
    },
    open() {
      if (port === undefined || kept === undefined) return;
      const early = kept;
      kept = undefined;
      for (const event of early) void port.tell(event);
    },
  };
}
