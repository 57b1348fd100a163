import type { CheckpointPathState } from '../contracts/session.ts';
import type { DetectedFileChange } from './checkpoint-ledger.ts';
import { type createContentStore, hashContent, type SingleFileContentStore } from './content-store.ts';

type KeeperDeps = {
  readonly pack: SingleFileContentStore;
  readonly store: ReturnType<typeof createContentStore>;
  readonly warn: (message: string) => void;
};

/** Copies contents from the pack, which lives as long as the process, to the store of the session. */
export type CheckpointContentCopier = ReturnType<typeof createCheckpointContentCopier>;

export function createCheckpointContentCopier({ pack, store, warn }: KeeperDeps) {
  /** Keeps the content of a file state; returns `not-kept` if that fails. */
  function keepState(state: CheckpointPathState): CheckpointPathState {
    if (state.kind !== 'file') return state;
    try {
      store.copyFrom(state.hash, pack);
      return state;
    } catch {
      return { kind: 'not-kept', why: 'its content could not be stored' };
    }
  }

  return {
    keepState,
    /** Keeps both contents of a change: the new one is needed to merge out later changes made by others. */
    keepChange(change: DetectedFileChange): DetectedFileChange {
      const before = keepState(change.before);
      if (before.kind === 'not-kept') warn(`A change to ${change.path} cannot be undone: ${before.why}.`);
      if (before.kind === 'file' && change.after.kind === 'file') {
        const bytes = pack.read(change.after.hash);
        if (bytes !== undefined && isMergeableText(bytes)) keepState(change.after);
      }
      return { ...change, before };
    },
    /** Returns the hash of a content that is about to be written, and keeps the content if it can be merged. */
    keepNewContent(bytes: Uint8Array): string {
      try {
        if (isMergeableText(bytes)) return store.put(bytes);
      } catch {
        // The disk is full: the file itself cannot be written either, and the hash is enough.
      }
      return hashContent(bytes);
    },
  };
}

/** Larger files are not hand-edited text. */
const MAX_MERGE_BYTES = 1_000_000;
const SAMPLE_BYTES = 8_000;

/** Tells whether a content is text that can be merged line by line. */
export function isMergeableText(bytes: Uint8Array): boolean {
  return bytes.length <= MAX_MERGE_BYTES && !bytes.subarray(0, SAMPLE_BYTES).includes(0);
}
