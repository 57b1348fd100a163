import type { AgentEvent } from '../contracts/event.ts';
import type { AgentPort } from './agent-deps.ts';

/** The connection of the parts of an agent to the agent, which is made from them. */
export type AgentConnection = {
  /** Emits an event. Events from before the agent exists wait for it. */
  emit(event: AgentEvent): Promise<void>;
  /** Returns the agent port. Throws before the agent is attached. */
  getPort(): AgentPort;
  /** Attaches the agent and delivers the events that were kept for it. */
  attach(port: AgentPort): void;
};

/** Creates the connection to an agent that does not exist yet. */
export function createAgentConnection(): AgentConnection {
  let port: AgentPort | undefined;
  let pending: readonly AgentEvent[] = [];
  return {
    async emit(event) {
      // A kept event is not awaited: the agent is attached later.
      if (port === undefined) pending = [...pending, event];
      else await port.emit(event);
    },
    getPort() {
      if (port === undefined) throw new Error('The agent port was used before the agent was attached.');
      return port;
    },
    attach(attached) {
      port = attached;
      for (const event of pending) void attached.emit(event);
      pending = [];
    },
  };
}
