import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';

/** The conversation with what the running query has added to it so far. */
export type HeardMessages = { hear(event: AgentEvent): void; all(): readonly Message[] };

type Reply = Extract<Message, { role: 'assistant' }>;

/** Listens to one agent; its state has the messages of a query only when that is over. */
export function hearMessages(agent: Agent): HeardMessages {
  let running: Message[] = [];
  /** The reply that is coming: its complete blocks, and the text of the open one. */
  let coming: Reply | undefined;
  let open = '';
  return {
    hear(event) {
      if (event.type === 'agent_start' || event.type === 'agent_end') {
        running = [];
        coming = undefined;
      }
      if (event.type === 'message_end') {
        running.push(event.message);
        coming = undefined;
      }
      if (event.type === 'message_start') {
        coming = { role: 'assistant', id: event.messageId, model: event.model, blocks: [] };
        open = '';
      }
      if (event.type === 'message_update' && event.kind === 'text') open += event.delta;
      if (event.type === 'block_end' && coming !== undefined) {
        coming = { ...coming, blocks: [...coming.blocks, event.block] };
        open = '';
      }
    },
    all() {
      const { messages } = agent.state();
      const known = new Set(messages.map(({ id }) => id));
      const rest = open === '' ? [] : [{ type: 'text' as const, text: open }];
      const reply = coming === undefined ? [] : [{ ...coming, blocks: [...coming.blocks, ...rest] }];
      return [...messages, ...running.filter(({ id }) => !known.has(id)), ...reply];
    },
  };
}
