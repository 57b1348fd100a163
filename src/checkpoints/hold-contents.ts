import type { FileBefore } from '../contracts/session.ts';
import { type createContentStore, hashOf } from './content-store.ts';
import type { Change } from './ledger.ts';
import type { Pack } from './pack.ts';

type Parts = {
  readonly pool: Pack;
  readonly store: ReturnType<typeof createContentStore>;
  readonly warn: (words: string) => void;
};

/** What takes contents from where they only wait to where they stay as long as the session does. */
export type Held = ReturnType<typeof holdContents>;

export function holdContents({ pool, store, warn }: Parts) {
  function state(before: FileBefore): FileBefore {
    if (before.kind !== 'file') return before;
    try {
      store.adopt(before.hash, pool);
      return before;
    } catch {
      return { kind: 'not-kept', why: 'its content could not be kept' };
    }
  }

  return {
    state,
    /** What was left is kept to tell later changes of somebody else from ours, where that can be told at all. */
    change(change: Change): Change {
      const before = state(change.before);
      if (before.kind === 'not-kept') warn(`A change to ${change.path} cannot be undone: ${before.why}.`);
      if (before.kind === 'file' && change.after.kind === 'file') {
        const bytes = pool.read(change.after.hash);
        if (bytes !== undefined && isMergeable(bytes)) state(change.after);
      }
      return { ...change, before };
    },
    /** The name of a content that is about to be written, kept for the same reason. */
    hashOf(bytes: Uint8Array): string {
      try {
        if (isMergeable(bytes)) return store.put(bytes);
      } catch {
        // On a full disk only its name is kept; the file itself cannot be written either.
      }
      return hashOf(bytes);
    },
  };
}

/** More than this is no text that a person works on. */
const MOST_BYTES = 1_000_000;
const SAMPLE_BYTES = 8_000;

/** Can changes of several hands be told apart in it? */
export function isMergeable(bytes: Uint8Array): boolean {
  return bytes.length <= MOST_BYTES && !bytes.subarray(0, SAMPLE_BYTES).includes(0);
}
