import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';
import { isEqual } from './snapshot.ts';

/** A change as it is seen: `until` is the moment it was over, when it was not made at once. */
export type Change = {
  readonly path: string;
  readonly order: number;
  readonly until?: number;
  readonly before: FileBefore;
  readonly after: FileBefore;
};

/** What a session has recorded of its checkpoints: entries in the order they were written. */
export type Ledger = {
  readonly entries: readonly CheckpointEntry[];
  /** The next moment; what begins at it may be recorded later. */
  next(): number;
  append(entry: CheckpointEntry): Promise<void>;
  change(change: Change): Promise<void>;
  /** Commands that nobody saw the end of. */
  openCommands(): readonly Extract<CheckpointEntry, { step: 'command' }>[];
};

export type LedgerOptions = {
  /** What was recorded before. */
  readonly entries: readonly CheckpointEntry[];
  readonly append: (entry: CheckpointEntry) => Promise<void>;
  /** Keeps both contents of a change for as long as the session lasts. */
  readonly hold: (change: Change) => Change;
  readonly newId: () => string;
};

type ChangeEntry = Extract<CheckpointEntry, { step: 'change' }>;

export function createLedger(options: LedgerOptions): Ledger {
  const entries = [...options.entries];
  let order = entries.reduce(
    (top, entry) => Math.max(top, entry.order, entry.step === 'change' ? (entry.until ?? 0) : 0),
    0,
  );
  /** The changes of each path since files went back for the last time. */
  const changes = new Map<string, readonly ChangeEntry[]>();
  for (const entry of entries) note(entry);

  function note(entry: CheckpointEntry): void {
    if (entry.step === 'undone' || entry.step === 'redone') changes.clear();
    if (entry.step === 'change') changes.set(entry.path, [...(changes.get(entry.path) ?? []), entry]);
  }

  /** Others within the same time say the same together, or this one said it when it was looked at before. */
  function isKnown({ path, order: from, before, after }: Change): boolean {
    const inside = (changes.get(path) ?? []).filter((entry) => entry.order >= from);
    const [first, last] = [inside[0], inside.at(-1)];
    if (first === undefined || last?.after === undefined) return false;
    return isEqual(first.before, before) && isEqual(last.after, after);
  }

  async function append(entry: CheckpointEntry): Promise<void> {
    entries.push(entry);
    note(entry);
    await options.append(entry);
  }

  return {
    entries,
    next() {
      order += 1;
      return order;
    },
    append,
    async change(change) {
      if (isKnown(change)) return;
      await append({ step: 'change', id: options.newId(), ...options.hold(change) });
    },
    openCommands() {
      const ended = new Set(entries.flatMap((entry) => (entry.step === 'command-end' ? [entry.order] : [])));
      return entries.filter((entry) => entry.step === 'command').filter((entry) => !ended.has(entry.order));
    },
  };
}
