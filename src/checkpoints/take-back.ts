import { dirname } from 'node:path';
import type { FileBefore, Replaced } from '../contracts/session.ts';
import { shownPath } from '../lib/files/byte-names.ts';
import { mergeLines } from '../lib/text/merge-lines.ts';
import type { ContentStore, createContentStore } from './content-store.ts';
import { type Held, isMergeable } from './hold-contents.ts';
import type { Step } from './plan-restore.ts';
import { leadsElsewhere, type Restored, restore } from './restore.ts';
import { isEqual, isSameAccess, type Snapshots } from './snapshot.ts';

/** What has to stand under each path, and what stays as it is because somebody else has a hand in it. */
type TakenBack = {
  readonly plan: ReadonlyMap<string, FileBefore>;
  readonly problems: readonly string[];
};

type Disk = {
  readonly snapshots: Pick<Snapshots, 'at' | 'isSame'>;
  readonly store: ReturnType<typeof createContentStore>;
  readonly held: Held;
  /** Where it is noted what is being written. */
  readonly unfinished: string | undefined;
};

/** Takes steps back on the disk; `begin` records what stands there now before anything is touched. */
export async function takeBack(
  steps: ReadonlyMap<string, readonly Step[]>,
  disk: Disk,
  begin: (replaced: readonly Replaced[]) => Promise<void>,
): Promise<Restored> {
  const { plan, problems } = planTakeBack(steps, disk);
  const wrong = [...plan].filter(([path, before]) => !disk.snapshots.isSame(path, before));
  await begin(wrong.map(([path, after]) => ({ path, before: disk.snapshots.at(path), after })));
  const done = restore(new Map(wrong), disk.store, disk.unfinished);
  return {
    restored: done.restored.map(shownPath),
    removed: done.removed.map(shownPath),
    problems: [...problems, ...done.problems].map(shownPath),
  };
}

export type WouldChange = { readonly path: string; readonly bytes: Uint8Array | undefined };

/** Each path that taking back would change, with the bytes it would have; nothing is changed. */
export function wouldChange(steps: ReadonlyMap<string, readonly Step[]>, disk: Disk): readonly WouldChange[] {
  return [...planTakeBack(steps, disk).plan]
    .filter(([path, before]) => before.kind !== 'not-kept' && !disk.snapshots.isSame(path, before))
    .map(([path, before]) => ({
      path: shownPath(path),
      bytes: before.kind === 'file' ? disk.store.read(before.hash) : undefined,
    }));
}

type FileState = Extract<FileBefore, { kind: 'file' }>;

/**
 * Takes steps back, the newest first, and nothing but them: what somebody else has changed since in other lines of a
 * file stays, and a path whose own change cannot be told from theirs is left alone.
 */
function planTakeBack(
  steps: ReadonlyMap<string, readonly Step[]>,
  { snapshots: { at }, store, held }: Disk,
): TakenBack {
  const plan = new Map<string, FileBefore>();
  const problems: string[] = [];
  for (const [path, own] of steps) {
    // What is seen through a link that came into the way stands somewhere else.
    const found: FileBefore = leadsElsewhere(dirname(path)) ? { kind: 'absent' } : at(path);
    const now = held.state(found);
    if (now !== found) {
      problems.push(`${path}: what stands there now could not be kept, so it stays as it is.`);
      continue;
    }
    const target = own.reduceRight<FileBefore | undefined>(
      (state, step) => state && withoutStep(step, state, store),
      now,
    );
    if (target === undefined) problems.push(`${path}: ${left(own, store)}`);
    else plan.set(path, target);
  }
  return { plan, problems };
}

function left(steps: readonly Step[], store: Disk['store']): string {
  const first = steps[0]?.before;
  const kept = first?.kind === 'file' && store.read(first.hash) !== undefined ? store.pathOf(first.hash) : undefined;
  const where = kept === undefined ? '' : ` What stood there before is kept in ${kept}.`;
  return `somebody else has changed it since, so it stays as it is.${where}`;
}

/** What stands there once one step is taken out of it; `undefined` when it cannot be taken out alone. */
function withoutStep({ before, after }: Step, now: FileBefore, store: ContentStore): FileBefore | undefined {
  if (after === undefined || isEqual(now, before)) return before;
  if (now.kind === 'file' && after.kind === 'file') {
    if (before.kind === 'file') return fileWithout(before, after, now, store);
    return now.hash === after.hash ? before : undefined;
  }
  // Which mode a new folder got was up to the system; one that is not empty stays anyway.
  if (now.kind === 'folder' && after.kind === 'folder' && before.kind !== 'folder') return before;
  return isEqual(now, after) ? before : undefined;
}

function fileWithout(before: FileState, after: FileState, now: FileState, store: ContentStore): FileState | undefined {
  const { hash: _, ...access } = isSameAccess(now, after) ? before : now;
  const hash = contentWithout(before.hash, after.hash, now.hash, store);
  return hash === undefined ? undefined : { ...access, hash };
}

function contentWithout(before: string, after: string, now: string, store: ContentStore): string | undefined {
  if (now === after || now === before) return before;
  if (before === after) return now;
  const [base, mine, other] = [after, now, before].map((hash) => textOf(store.read(hash)));
  if (base === undefined || mine === undefined || other === undefined) return undefined;
  const merged = mergeLines(base, mine, other);
  return merged === undefined ? undefined : store.put(Buffer.from(merged, 'latin1'));
}

/** Byte by byte: whatever the encoding is, what is put together has the same bytes. */
function textOf(bytes: Buffer | undefined): string | undefined {
  return bytes !== undefined && isMergeable(bytes) ? bytes.toString('latin1') : undefined;
}
