import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';

/** What the running query has added to the conversation, whose own state gets it only when the query is over. */
export type RunningMessages = {
  readonly finished: readonly Message[];
  /** The reply that is coming: its complete blocks, and the text of the one that grows. */
  readonly reply: Extract<Message, { role: 'assistant' }> | undefined;
  readonly growing: string;
};

export const NOTHING_RUNNING: RunningMessages = { finished: [], reply: undefined, growing: '' };

export function reduceMessages(running: RunningMessages, event: AgentEvent): RunningMessages {
  const { finished, reply } = running;
  switch (event.type) {
    case 'agent_start':
    case 'agent_end':
      return NOTHING_RUNNING;
    case 'message_start':
      if (event.role !== 'assistant') return running;
      return {
        finished,
        reply: { role: 'assistant', id: event.messageId, model: event.model, blocks: [] },
        growing: '',
      };
    case 'message_update':
      return event.kind === 'text' ? { ...running, growing: running.growing + event.delta } : running;
    case 'block_end':
      if (reply === undefined) return running;
      return { finished, reply: { ...reply, blocks: [...reply.blocks, event.block] }, growing: '' };
    case 'message_end':
      return { finished: [...finished, event.message], reply: undefined, growing: '' };
    default:
      return running;
  }
}

/** Everything that was said, up to the last word of the running turn. */
export function allMessages(known: readonly Message[], { finished, reply, growing }: RunningMessages) {
  const ids = new Set(known.map(({ id }) => id));
  const rest = growing === '' ? [] : [{ type: 'text' as const, text: growing }];
  const coming = reply === undefined ? [] : [{ ...reply, blocks: [...reply.blocks, ...rest] }];
  return [...known, ...finished.filter(({ id }) => !ids.has(id)), ...coming];
}
