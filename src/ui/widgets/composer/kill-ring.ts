/** Deleted texts, newest first, and the index of the one that a yank inserts. */
export type KillRing = { readonly entries: readonly string[]; readonly index: number };

const MAX_ENTRIES = 32;

/** A kill ring without entries. */
export const EMPTY_KILL_RING: KillRing = { entries: [], index: 0 };

/** Adds a deletion as a new entry. */
export function pushKill(ring: KillRing, text: string): KillRing {
  if (text === '') return ring;
  return { entries: [text, ...ring.entries].slice(0, MAX_ENTRIES), index: 0 };
}

/** Adds a deletion to the newest entry, so that consecutive deletions are yanked together. */
export function extendKill(ring: KillRing, text: string, side: 'before' | 'after'): KillRing {
  const [newest = '', ...older] = ring.entries;
  return { entries: [side === 'before' ? text + newest : newest + text, ...older], index: 0 };
}

/** Rotates the ring by one entry, for yank-pop. */
export function rotateKillRing(ring: KillRing): KillRing {
  return { ...ring, index: ring.entries.length === 0 ? 0 : (ring.index + 1) % ring.entries.length };
}

/** Returns the text that a yank inserts. */
export function getCurrentKill(ring: KillRing): string {
  return ring.entries[ring.index] ?? '';
}
