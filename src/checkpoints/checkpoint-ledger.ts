import type { CheckpointEntry, CheckpointPathState } from '../contracts/session.ts';
import { isSameFileState } from './workspace-snapshot.ts';

/** A detected change of one path. `until` is the moment it was complete, for changes that span a command. */
export type DetectedFileChange = {
  readonly path: string;
  readonly order: number;
  readonly until?: number;
  readonly before: CheckpointPathState;
  readonly after: CheckpointPathState;
};

/** The checkpoint entries of a session, in the order they were written. */
export type CheckpointLedger = ReturnType<typeof createCheckpointLedger>;

/** Options of `createCheckpointLedger`. */
export type CheckpointLedgerOptions = {
  /** Entries recorded before. */
  readonly entries: readonly CheckpointEntry[];
  readonly append: (entry: CheckpointEntry) => Promise<void>;
  /** Keeps both contents of a change for the lifetime of the session. */
  readonly keepContents: (change: DetectedFileChange) => DetectedFileChange;
  readonly newId: () => string;
};

type ChangeEntry = Extract<CheckpointEntry, { step: 'change' }>;

/** Creates the ledger of a session; new entries are appended to memory and to the transcript. */
export function createCheckpointLedger(options: CheckpointLedgerOptions) {
  const entries = [...options.entries];
  let order = entries.reduce(
    (top, entry) => Math.max(top, entry.order, entry.step === 'change' ? (entry.until ?? 0) : 0),
    0,
  );
  /** Changes of each path since the last restore. */
  const changesByPath = new Map<string, readonly ChangeEntry[]>();
  for (const entry of entries) index(entry);

  function index(entry: CheckpointEntry): void {
    if (entry.step === 'undone' || entry.step === 'redone') changesByPath.clear();
    if (entry.step === 'change') changesByPath.set(entry.path, [...(changesByPath.get(entry.path) ?? []), entry]);
  }

  /** Tells whether the changes recorded since `from` already add up to this one. */
  function isKnown({ path, order: from, before, after }: DetectedFileChange): boolean {
    const recent = (changesByPath.get(path) ?? []).filter((entry) => entry.order >= from);
    const [first, last] = [recent[0], recent.at(-1)];
    if (first === undefined || last?.after === undefined) return false;
    return isSameFileState(first.before, before) && isSameFileState(last.after, after);
  }

  async function append(entry: CheckpointEntry): Promise<void> {
    entries.push(entry);
    index(entry);
    await options.append(entry);
  }

  return {
    entries,
    /** Returns the next order number; the entry that uses it may be recorded later. */
    nextOrder(): number {
      order += 1;
      return order;
    },
    append,
    async recordChange(change: DetectedFileChange) {
      if (isKnown(change)) return;
      await append({ step: 'change', id: options.newId(), ...options.keepContents(change) });
    },
    /** Returns the commands without a recorded end. */
    listOpenCommands(): readonly Extract<CheckpointEntry, { step: 'command' }>[] {
      const ended = new Set(entries.flatMap((entry) => (entry.step === 'command-end' ? [entry.order] : [])));
      return entries.filter((entry) => entry.step === 'command').filter((entry) => !ended.has(entry.order));
    },
  };
}
