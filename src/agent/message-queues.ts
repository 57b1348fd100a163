import type { QueuedMessage } from '../contracts/event.ts';
import type { UserMessage } from '../contracts/message.ts';
import type { QueuePort } from '../contracts/query.ts';
import { abandonOnAbort } from '../lib/promises.ts';
import type { AgentDeps } from './agent-deps.ts';
import { type AgentStore, admitQueuedMessage, type MessageQueueKind, takeQueuedMessages } from './agent-state.ts';
import { runPromptHook } from './prompt-messages.ts';

/** The two queues of waiting messages, as the user fills and empties them. */
export type MessageQueues = {
  add(lane: MessageQueueKind, message: UserMessage): QueuedMessage;
  remove(id: string): QueuedMessage | undefined;
  clear(): readonly QueuedMessage[];
  /** Takes the messages that are due when no query runs: steering first, else a follow-up. */
  takeDue(): readonly QueuedMessage[];
  /** The queues as the loop uses them: only messages that the prompt hook has admitted. */
  readonly port: QueuePort;
};

export function createMessageQueues(store: AgentStore, { onPrompt }: Pick<AgentDeps, 'onPrompt'>): MessageQueues {
  const { current, update, emit } = store;
  const canDeliver = ({ id, message }: QueuedMessage) =>
    onPrompt === undefined || message.pinned === true || current().admitted.has(id);

  function take(lane: MessageQueueKind, allowed?: (item: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const { taken, state } = takeQueuedMessages(current(), lane, allowed);
    update(state);
    return taken;
  }

  function remove(id: string): QueuedMessage | undefined {
    const item = current().queue.find((queued) => queued.id === id);
    if (item !== undefined) void emit({ type: 'queue', item, state: 'removed' });
    return item;
  }

  const port: QueuePort = {
    async admitQueued(signal) {
      for (const item of current().queue) {
        if (canDeliver(item)) continue;
        const verdict = await abandonOnAbort(runPromptHook(onPrompt, item.message, signal), signal);
        if (verdict === undefined) return;
        if (verdict.kind === 'go') update(admitQueuedMessage(current(), verdict.message));
        else if (remove(item.id) !== undefined)
          await emit({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
      }
    },
    takeSteering: () => take('next', canDeliver),
    takeFollowUps: () => take('after', canDeliver),
    hasSteering: () => current().queue.some((item) => item.lane === 'next' && canDeliver(item)),
  };

  return {
    add(lane, message) {
      const item = { id: message.id, lane, message };
      void emit({ type: 'queue', item, state: 'queued' });
      return item;
    },
    remove,
    clear: () => current().queue.flatMap(({ id }) => remove(id) ?? []),
    takeDue: () => (current().queue.some(({ lane }) => lane === 'next') ? take('next') : take('after')),
    port,
  };
}
