import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CheckpointInfo } from '../contracts/face/conversation.ts';
import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';
import { nameOf } from '../lib/files/byte-names.ts';
import { createContentStore } from './content-store.ts';
import { holdContents } from './hold-contents.ts';
import { createLedger } from './ledger.ts';
import { createManifests } from './manifests.ts';
import { createPack } from './pack.ts';
import { type Checkpoint, checkpointsOf, lastChangeSet, lastUndone, stepsSince } from './plan-restore.ts';
import type { Restored } from './restore.ts';
import { openSharedWrites } from './shared-writes.ts';
import { createSnapshots } from './snapshot.ts';
import { takeBack, type WouldChange, wouldChange } from './take-back.ts';
import { type TurnChange, turnChanges } from './turn-changes.ts';
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
  /** Where it is noted what is being written. */
  readonly unfinished?: string;
  /** Where every ouro tells the others what its tools write. */
  readonly shared?: string;
};

const NEW_FILE_MODE = 0o666;
const NEW_FOLDER: FileBefore = { kind: 'folder', mode: 0o777 };

/** Keeps what stood in files before they change, and brings it back. */
export type Checkpoints = {
  /** A place to go back to, before a prompt is heard. */
  prompt(messageId: string, words: string): Promise<void>;
  /** A file tool is about to write this, and to make the folders on the way. */
  beforeChange(realPath: string, bytes: Uint8Array): Promise<void>;
  /** Something is about to run that may change anything, or only what is named; `ended` is told when it has, or that it goes on. */
  beforeCommand(writes?: readonly string[]): Promise<{ readonly ended: (how: 'over' | 'goes on') => Promise<void> }>;
  list(): Promise<readonly CheckpointInfo[]>;
  /** The id of the newest prompt whose changes can be undone. */
  last(): Promise<string | undefined>;
  /** What that would bring back: each path that is not as it was, with the bytes it had. Changes nothing. */
  preview(id: string): Promise<readonly WouldChange[] | undefined>;
  /** What each prompt changed, with what stood there before and after it. */
  changes(): Promise<readonly TurnChange[]>;
  /** Makes the files what they were before this prompt; `undefined` when there is no such checkpoint. */
  restore(id: string): Promise<Restored | undefined>;
  /** Takes the last `restore` back that was not taken back yet; `undefined` when there is none or files changed since. */
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

  const held = holdContents({ pool, store, warn: parts.warn });
  const ledger = createLedger({ ...parts, hold: held.change });
  const { entries, append, next } = ledger;
  const shared = openSharedWrites(parts.shared);
  const commands = watchCommands({
    ...parts,
    others: shared.others,
    snapshots,
    manifests: createManifests(join(parts.folder, 'manifests')),
    ledger,
  });

  const disk = { snapshots, store, held, unfinished: parts.unfinished };
  const isPrompt = (id: string) => entries.some((entry) => entry.step === 'prompt' && entry.id === id);

  return {
    async prompt(messageId, words) {
      await commands.settle();
      const at = new Date(parts.now()).toISOString();
      await append({ step: 'prompt', id: parts.newId(), messageId, prompt: words, at, order: next() });
      if (parts.background()) await commands.goOn();
    },
    async beforeChange(named, bytes) {
      const realPath = nameOf(Buffer.from(named));
      for (const folder of missingAbove(realPath)) {
        await ledger.change({ path: folder, order: next(), before: { kind: 'absent' }, after: NEW_FOLDER });
      }
      const before = snapshots.at(realPath);
      const access = before.kind === 'file' ? before : { mode: NEW_FILE_MODE };
      const after = { ...access, kind: 'file' as const, hash: held.hashOf(bytes) };
      shared.note(realPath, after.hash);
      await ledger.change({ path: realPath, order: next(), before, after });
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
      return wouldChange(stepsSince(entries, id), disk);
    },
    changes: () => commands.settle().then(() => turnChanges(entries, { contents: [store, pool], snapshots })),
    async restore(id) {
      await commands.settle();
      if (!isPrompt(id)) return undefined;
      const order = next();
      // On record before anything is touched: a crash in between loses nothing of what stands there now.
      const done = await takeBack(stepsSince(entries, id), disk, (replaced) =>
        append({ step: 'undoing', id, order, replaced }),
      );
      await append({ step: 'undone', id, order });
      return done;
    },
    async redo() {
      await commands.settle();
      const undone = lastUndone(entries);
      if (undone === undefined) return undefined;
      const steps = undone.replaced.map(({ path, before, after }) => [path, [{ before, after }]] as const);
      const done = await takeBack(new Map(steps), disk, async () => undefined);
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

/** Folders that are not there yet on the way to a path, the outermost first. */
function missingAbove(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = dirname(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function infoOf({ prompt: { id, messageId, prompt, at }, paths, notKept }: Checkpoint): CheckpointInfo {
  return { id, messageId, prompt, at, files: paths.length, notCaptured: notKept };
}
