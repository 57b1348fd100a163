import type { QueuedMessage } from '../../contracts/event.ts';
import { typedWords } from './typed-words.ts';
import type { ViewState } from './view-state.ts';

/** What waits to be heard, in the order it was said. */
export function changeQueue(
  view: ViewState,
  item: QueuedMessage,
  state: 'queued' | 'delivered' | 'completed' | 'removed',
): ViewState {
  const others = view.queue.filter(({ id }) => id !== item.id);
  if (state === 'queued') return { ...view, queue: [...others, item] };
  return others.length === view.queue.length ? view : { ...view, queue: others };
}

/** The words of a queued message. */
export function queuedWords({ message }: QueuedMessage): string {
  return typedWords(message.blocks);
}
