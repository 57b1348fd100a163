import type { QueueMode } from '../contracts/agent.ts';
import type { QueuedMessage } from '../contracts/event.ts';
import type { UserMessage } from '../contracts/message.ts';

/** Two lanes of waiting messages: `next` goes in after the current turn, `after` when the agent would stop. */
export type Queues = {
  add(lane: QueuedMessage['lane'], message: UserMessage): QueuedMessage;
  /** The next of a lane, or all of them by its mode; only those that may go, if that is asked. */
  take(lane: QueuedMessage['lane'], mayGo?: (item: QueuedMessage) => boolean): readonly QueuedMessage[];
  has(lane: QueuedMessage['lane']): boolean;
  /** The same place with another message; nothing when it has left. */
  replace(id: string, message: UserMessage): void;
  remove(id: string): QueuedMessage | undefined;
  clear(): readonly QueuedMessage[];
  waiting(): readonly QueuedMessage[];
  setMode(lane: QueuedMessage['lane'], mode: QueueMode): void;
};

export function createQueues(waiting: readonly QueuedMessage[] = []): Queues {
  let items = waiting;
  const modes: Record<QueuedMessage['lane'], QueueMode> = { next: 'one-at-a-time', after: 'one-at-a-time' };

  return {
    add(lane, message) {
      const item = { id: message.id, lane, message };
      items = [...items, item];
      return item;
    },
    take(lane, mayGo = () => true) {
      const inLane = items.filter((item) => item.lane === lane && mayGo(item));
      const taken = modes[lane] === 'all' ? inLane : inLane.slice(0, 1);
      items = items.filter((item) => !taken.includes(item));
      return taken;
    },
    has: (lane) => items.some((item) => item.lane === lane),
    replace(id, message) {
      items = items.map((item) => (item.id === id ? { ...item, message } : item));
    },
    remove(id) {
      const found = items.find((item) => item.id === id);
      items = items.filter((item) => item.id !== id);
      return found;
    },
    clear() {
      const all = items;
      items = [];
      return all;
    },
    waiting: () => items,
    setMode(lane, mode) {
      modes[lane] = mode;
    },
  };
}
