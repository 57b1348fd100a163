import { join } from 'node:path';
import type { CheckpointInfo } from '../contracts/face/conversation.ts';
import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';
import { createContentStore } from './content-store.ts';
import { createLedger } from './ledger.ts';
import { createManifests } from './manifests.ts';
import { createPack } from './pack.ts';
import { type Checkpoint, checkpointsOf, lastChangeSet, lastUndone, planRestore } from './plan-restore.ts';
import { type Restored, restore } from './restore.ts';
import { createSnapshots } from './snapshot.ts';
import type { WalkLimits } from './walk-workspace.ts';
import { watchCommands } from './watch-commands.ts';

export type CheckpointParts = {
  /** Where this session keeps what its changes replaced. */
  readonly folder: string;
  /** Real paths. */
  readonly roots: () => readonly string[];
  /** Never looked at: ouro's own files. */
  readonly skip: readonly string[];
  readonly home: string;
  /** Does a command run in the background? */
  readonly background: () => boolean;
  /** What the session has recorded so far. */
  readonly entries: readonly CheckpointEntry[];
  readonly append: (entry: CheckpointEntry) => Promise<void>;
  /** Told before something happens that cannot be undone. */
  readonly warn: (words: string) => void;
  readonly newId: () => string;
  readonly now: () => number;
  readonly limits?: WalkLimits;
};

type WouldChange = { readonly path: string; readonly bytes: Uint8Array | undefined };

/** Keeps what stood in files before they change, and brings it back. */
export type Checkpoints = {
  /** A place to go back to, before a prompt is heard. */
  prompt(messageId: string, words: string): Promise<void>;
  /** A file tool is about to change this. */
  beforeChange(realPath: string): Promise<void>;
  /** Something is about to run that may change anything; `ended` is told when it has, or that it goes on. */
  beforeCommand(): Promise<{ readonly ended: (how: 'over' | 'goes on') => Promise<void> }>;
  list(): Promise<readonly CheckpointInfo[]>;
  /** The id of the newest prompt whose changes can be undone. */
  last(): Promise<string | undefined>;
  /** What that would bring back: each path that is not as it was, with the bytes it had. Changes nothing. */
  preview(id: string): Promise<readonly WouldChange[] | undefined>;
  /** Makes the files what they were before this prompt; `undefined` when there is no such checkpoint. */
  restore(id: string): Promise<Restored | undefined>;
  /** Takes the last `restore` back, as long as nothing has happened since; `undefined` when there is none. */
  redo(): Promise<Restored | undefined>;
  /** The conversation went back before this prompt. */
  leave(id: string): Promise<void>;
  /** The last look at commands that went on; what only waited for being changed goes. */
  close(): Promise<void>;
};

export function createCheckpoints(parts: CheckpointParts): Checkpoints {
  const pool = createPack(parts.folder);
  const store = createContentStore(join(parts.folder, 'contents'));
  const snapshots = createSnapshots(pool, parts.skip, parts.limits);

  /** From the pool to the session, where it stays as long as the session does. */
  function hold(before: FileBefore): FileBefore {
    if (before.kind !== 'file') return before;
    try {
      store.adopt(before.hash, pool);
      return before;
    } catch {
      return { kind: 'not-kept', why: 'its content could not be kept' };
    }
  }

  const ledger = createLedger({ ...parts, hold });
  const { entries, append, next } = ledger;
  const commands = watchCommands({
    ...parts,
    snapshots,
    manifests: createManifests(join(parts.folder, 'manifests')),
    ledger,
  });
  const isPrompt = (id: string) => entries.some((entry) => entry.step === 'prompt' && entry.id === id);

  return {
    async prompt(messageId, words) {
      await commands.settle();
      const at = new Date(parts.now()).toISOString();
      await append({ step: 'prompt', id: parts.newId(), messageId, prompt: words, at, order: next() });
      if (parts.background()) await commands.goOn();
    },
    async beforeChange(realPath) {
      if (ledger.isOnRecord(realPath)) return;
      const before = snapshots.at(realPath);
      if (before.kind === 'not-kept') parts.warn(`A change to ${realPath} cannot be undone: ${before.why}.`);
      await ledger.change(realPath, before, next());
    },
    beforeCommand: commands.begin,
    async list() {
      await commands.settle();
      return checkpointsOf(entries).map(infoOf);
    },
    async last() {
      await commands.settle();
      return lastChangeSet(entries)?.prompt.id;
    },
    async preview(id) {
      await commands.settle();
      if (!isPrompt(id)) return undefined;
      return [...planRestore(entries, id)]
        .filter(([path, before]) => before.kind !== 'not-kept' && !snapshots.isSame(path, before))
        .map(([path, before]) => ({ path, bytes: before.kind === 'file' ? store.read(before.hash) : undefined }));
    },
    async restore(id) {
      await commands.settle();
      if (!isPrompt(id)) return undefined;
      const plan = planRestore(entries, id);
      const replaced = [...plan.keys()].map((path) => ({ path, before: hold(snapshots.at(path)) }));
      const done = restore(plan, store, snapshots.isSame);
      await append({ step: 'undone', id, order: next(), replaced });
      return done;
    },
    async redo() {
      await commands.settle();
      const undone = lastUndone(entries);
      if (undone === undefined) return undefined;
      const plan = new Map((undone.replaced ?? []).map(({ path, before }) => [path, before]));
      const done = restore(plan, store, snapshots.isSame);
      await append({ step: 'redone', undone: undone.order, order: next() });
      return done;
    },
    leave: (id) => append({ step: 'left', id, order: next() }),
    async close() {
      if (entries.length > 0) await commands.settle();
      pool.drop();
    },
  };
}

function infoOf({ prompt: { id, messageId, prompt, at }, paths, notKept }: Checkpoint): CheckpointInfo {
  return { id, messageId, prompt, at, files: paths.length, notCaptured: notKept };
}
