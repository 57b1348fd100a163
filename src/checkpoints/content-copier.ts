import type { CheckpointPathState } from '../contracts/session.ts';
import type { DetectedFileChange } from './checkpoint-ledger.ts';
import { hashContent, type SessionContentStore, type SingleFileContentStore } from './content-store.ts';

/** Copies contents from the pack, which lives as long as the process, to the store of the session. */
export type CheckpointContentCopier = {
  /** Keeps the content of a file state; other states have none to keep. Fails for example on a full disk. */
  keepState(state: CheckpointPathState): { readonly ok: boolean };
  /** Keeps both contents of a change: the new one is needed to merge out later changes made by others. */
  keepChange(change: DetectedFileChange): DetectedFileChange;
  /** Returns the hash of a content that is about to be written, and keeps the content if it can be merged. */
  keepNewContent(bytes: Uint8Array): string;
};

type CopierDeps = {
  readonly pack: SingleFileContentStore;
  readonly store: SessionContentStore;
  readonly warn: (message: string) => void;
};

/** Creates the copier of a session. */
export function createCheckpointContentCopier({ pack, store, warn }: CopierDeps): CheckpointContentCopier {
  function keepState(state: CheckpointPathState): { readonly ok: boolean } {
    if (state.kind !== 'file') return { ok: true };
    try {
      store.copyFrom(state.hash, pack);
      return { ok: true };
    } catch {
      return { ok: false };
    }
  }

  return {
    keepState,
    keepChange(change) {
      const before = keepState(change.before).ok ? change.before : CONTENT_NOT_KEPT;
      if (before.kind === 'not-kept') warn(`A change to ${change.path} cannot be undone: ${before.why}.`);
      if (before.kind === 'file' && change.after.kind === 'file') {
        const bytes = pack.read(change.after.hash);
        if (bytes !== undefined && isMergeableText(bytes)) keepState(change.after);
      }
      return { ...change, before };
    },
    keepNewContent(bytes) {
      try {
        if (isMergeableText(bytes)) return store.put(bytes);
      } catch {
        // The disk is full: the file itself cannot be written either, and the hash is enough.
      }
      return hashContent(bytes);
    },
  };
}

const CONTENT_NOT_KEPT = { kind: 'not-kept', why: 'its content could not be stored' } as const;

/** Larger files are not hand-edited text. */
const MAX_MERGE_BYTES = 1_000_000;
const SAMPLE_BYTES = 8_000;

/** Tells whether a content is text that can be merged line by line. */
export function isMergeableText(bytes: Uint8Array): boolean {
  return bytes.length <= MAX_MERGE_BYTES && !bytes.subarray(0, SAMPLE_BYTES).includes(0);
}
