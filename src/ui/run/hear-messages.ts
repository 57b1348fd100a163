import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';

/** The conversation with what the running query has added to it so far. */
export type HeardMessages = { hear(event: AgentEvent): void; all(): readonly Message[] };

/** Listens to one agent; its state has the messages of a query only when that is over. */
export function hearMessages(agent: Agent): HeardMessages {
  let running: Message[] = [];
  return {
    hear(event) {
      if (event.type === 'agent_start' || event.type === 'agent_end') running = [];
      if (event.type === 'message_end') running.push(event.message);
    },
    all() {
      const { messages } = agent.state();
      const known = new Set(messages.map(({ id }) => id));
      return [...messages, ...running.filter(({ id }) => !known.has(id))];
    },
  };
}
