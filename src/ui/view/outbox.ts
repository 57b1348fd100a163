import type { HistoryItem } from './history-item.ts';

/** What has finished and is not printed yet, the newest outermost: however much waits, more of it costs the same. */
export type Outbox = { readonly earlier: Outbox; readonly items: readonly HistoryItem[] } | undefined;

/** Everything that waits, in the order it has finished. */
export function waitingItems(outbox: Outbox): readonly HistoryItem[] {
  const parts: (readonly HistoryItem[])[] = [];
  for (let rest = outbox; rest !== undefined; rest = rest.earlier) parts.push(rest.items);
  return parts.reverse().flat();
}
