/** What was deleted, newest first, and which of it was yanked last. */
export type KillRing = { readonly entries: readonly string[]; readonly shown: number };

const SIZE = 32;

export const EMPTY_KILL_RING: KillRing = { entries: [], shown: 0 };

/** A deletion of its own. */
export function pushKill(ring: KillRing, text: string): KillRing {
  if (text === '') return ring;
  return { entries: [text, ...ring.entries].slice(0, SIZE), shown: 0 };
}

/** A deletion right behind another one: both come back together. */
export function joinKill(ring: KillRing, text: string, side: 'before' | 'after'): KillRing {
  const [newest = '', ...older] = ring.entries;
  return { entries: [side === 'before' ? text + newest : newest + text, ...older], shown: 0 };
}

/** The ring turned by one, for yank-pop. */
export function turnRing(ring: KillRing): KillRing {
  return { ...ring, shown: ring.entries.length === 0 ? 0 : (ring.shown + 1) % ring.entries.length };
}

/** What a yank inserts now. */
export function shownKill(ring: KillRing): string {
  return ring.entries[ring.shown] ?? '';
}
