import type { QueuedMessage } from '../contracts/event.ts';
import type { UserMessage } from '../contracts/message.ts';
import type { QueuePort } from '../contracts/query.ts';
import { untilAborted } from '../lib/abort.ts';
import { type AgentStore, admitQueued, type Lane, takeQueued } from './agent-state.ts';
import type { AgentParts } from './parts.ts';
import { consultPromptHook } from './prompts.ts';

/** The two lanes of waiting messages: how a person fills and empties them. */
export type Queues = {
  add(lane: Lane, message: UserMessage): QueuedMessage;
  remove(id: string): QueuedMessage | undefined;
  clear(): readonly QueuedMessage[];
  /** What is due when nothing runs: steering first, else a follow-up. */
  takeDue(): readonly QueuedMessage[];
  /** The queues as the loop sees them: it gets nothing the prompt hook has not let through. */
  readonly port: QueuePort;
};

export function createQueues(store: AgentStore, { onPrompt }: Pick<AgentParts, 'onPrompt'>): Queues {
  const { now, change, tell } = store;
  const mayGo = ({ id, message }: QueuedMessage) =>
    onPrompt === undefined || message.pinned === true || now().admitted.has(id);

  function take(lane: Lane, allowed?: (item: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const { taken, state } = takeQueued(now(), lane, allowed);
    change(state);
    return taken;
  }

  function remove(id: string): QueuedMessage | undefined {
    const item = now().queue.find((one) => one.id === id);
    if (item !== undefined) void tell({ type: 'queue', item, state: 'removed' });
    return item;
  }

  const port: QueuePort = {
    async settle(signal) {
      for (const item of now().queue) {
        if (mayGo(item)) continue;
        const verdict = await untilAborted(consultPromptHook(onPrompt, item.message, signal), signal);
        if (verdict === undefined) return;
        if (verdict.kind === 'go') change(admitQueued(now(), verdict.message));
        else if (remove(item.id) !== undefined)
          await tell({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
      }
    },
    takeSteering: () => take('next', mayGo),
    takeFollowUps: () => take('after', mayGo),
    hasSteering: () => now().queue.some((item) => item.lane === 'next' && mayGo(item)),
  };

  return {
    add(lane, message) {
      const item = { id: message.id, lane, message };
      void tell({ type: 'queue', item, state: 'queued' });
      return item;
    },
    remove,
    clear: () => now().queue.flatMap(({ id }) => remove(id) ?? []),
    takeDue: () => (now().queue.some(({ lane }) => lane === 'next') ? take('next') : take('after')),
    port,
  };
}
