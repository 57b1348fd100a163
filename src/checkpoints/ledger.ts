import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';

/** What a session has recorded of its checkpoints: entries in the order they were written. */
export type Ledger = {
  readonly entries: readonly CheckpointEntry[];
  /** The next moment; what begins at it may be recorded later. */
  next(): number;
  append(entry: CheckpointEntry): Promise<void>;
  /** Is the state of this path since the last checkpoint on record? */
  isOnRecord(path: string): boolean;
  /** A path changed at this moment; `before` is what stood there. Of several states the earliest counts. */
  change(path: string, before: FileBefore, at: number): Promise<void>;
  /** Commands that nobody saw the end of. */
  openCommands(): readonly Extract<CheckpointEntry, { step: 'command' }>[];
};

export type LedgerOptions = {
  /** What was recorded before. */
  readonly entries: readonly CheckpointEntry[];
  readonly append: (entry: CheckpointEntry) => Promise<void>;
  /** Keeps a content for as long as the session lasts. */
  readonly hold: (before: FileBefore) => FileBefore;
  readonly newId: () => string;
};

export function createLedger(options: LedgerOptions): Ledger {
  const entries = [...options.entries];
  let order = entries.reduce((top, entry) => Math.max(top, entry.order), 0);
  /** Paths whose state since the last checkpoint is on record, and from which moment. */
  const touched = new Map<string, number>();
  for (const entry of entries) touch(entry);

  function touch(entry: CheckpointEntry): void {
    if (entry.step === 'prompt' || entry.step === 'undone' || entry.step === 'redone') touched.clear();
    if (entry.step === 'change') touched.set(entry.path, entry.order);
  }

  async function append(entry: CheckpointEntry): Promise<void> {
    entries.push(entry);
    touch(entry);
    await options.append(entry);
  }

  return {
    entries,
    next() {
      order += 1;
      return order;
    },
    append,
    isOnRecord: (path) => touched.has(path),
    async change(path, before, at) {
      // A command that began earlier may be looked at later.
      const known = touched.get(path);
      if (known !== undefined && known <= at) return;
      await append({ step: 'change', id: options.newId(), order: at, path, before: options.hold(before) });
    },
    openCommands() {
      const ended = new Set(entries.flatMap((entry) => (entry.step === 'command-end' ? [entry.order] : [])));
      return entries.filter((entry) => entry.step === 'command').filter((entry) => !ended.has(entry.order));
    },
  };
}
