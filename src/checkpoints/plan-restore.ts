import type { CheckpointEntry, FileBefore, Replaced } from '../contracts/session.ts';
import { isEqual } from './snapshot.ts';

type Prompt = Extract<CheckpointEntry, { step: 'prompt' }>;
type ChangeEntry = Extract<CheckpointEntry, { step: 'change' }>;

/** A place to go back to, with what has changed between it and the next one. */
export type Checkpoint = {
  readonly prompt: Prompt;
  readonly changes: readonly ChangeEntry[];
  readonly paths: readonly string[];
  readonly notKept: readonly string[];
};

/** All places to go back to, in order. Changes that were undone already count no more. */
export function checkpointsOf(entries: readonly CheckpointEntry[]): readonly Checkpoint[] {
  const left = spansOf(entries, 'left');
  const prompts = entries
    .filter((entry) => entry.step === 'prompt')
    .filter(({ order }) => !left.some(({ from, to }) => order >= from && order < to))
    .toSorted((a, b) => a.order - b.order);
  const changes = standing(entries);
  const commands = entries.filter((entry) => entry.step === 'command');
  return prompts.map((prompt, at) => {
    const ends = prompts[at + 1]?.order ?? Number.POSITIVE_INFINITY;
    const isHere = ({ order }: { readonly order: number }) => order > prompt.order && order < ends;
    const own = changes.filter(isHere);
    const lost = own.flatMap(({ path, before }) => (before.kind === 'not-kept' ? [`${path} (${before.why})`] : []));
    return {
      prompt,
      changes: own,
      paths: [...new Set(own.map(({ path }) => path))],
      notKept: [...new Set([...lost, ...commands.filter(isHere).flatMap(({ notKept }) => notKept)])],
    };
  });
}

/** One change of a path: what stood there before, and what was left there. */
export type Step = { readonly before: FileBefore; readonly after: FileBefore | undefined };

/** What was done to each path since a prompt, the oldest first. */
export function stepsSince(entries: readonly CheckpointEntry[], id: string): ReadonlyMap<string, readonly Step[]> {
  const prompt = entries.find((entry) => entry.step === 'prompt' && entry.id === id);
  const found = new Map<string, readonly Span[]>();
  if (prompt === undefined) return found;
  for (const entry of standing(entries)) {
    if (entry.order > prompt.order) found.set(entry.path, withChange(found.get(entry.path) ?? [], entry));
  }
  return found;
}

type Span = Step & { readonly until: number };

/** What begins before the last one is over is part of the same step, and so is what goes on exactly where that ended. */
function withChange(spans: readonly Span[], { order, until = order, before, after }: ChangeEntry): readonly Span[] {
  const last = spans.at(-1);
  const next: Span = { before, after, until };
  if (last === undefined) return [next];
  const goesOn = last.after !== undefined && isEqual(last.after, before);
  if (order > last.until && !goesOn) return [...spans, next];
  const whole = until >= last.until ? next : last;
  return [...spans.slice(0, -1), { ...whole, before: last.before }];
}

/** The newest checkpoint with changes that can be undone. */
export function lastChangeSet(entries: readonly CheckpointEntry[]): Checkpoint | undefined {
  return checkpointsOf(entries).findLast(({ paths }) => paths.length > 0);
}

type Undone = { readonly order: number; readonly replaced: readonly Replaced[] };

/** The last time somebody went back that was not taken back yet, if nothing has changed since. */
export function lastUndone(entries: readonly CheckpointEntry[]): Undone | undefined {
  const redone = new Set(entries.flatMap((entry) => (entry.step === 'redone' ? [entry.undone] : [])));
  const before = new Map(entries.flatMap((entry) => (entry.step === 'undoing' ? [[entry.order, entry.replaced]] : [])));
  for (const entry of entries.toReversed()) {
    if (entry.step === 'change') return undefined;
    if ((entry.step !== 'undone' && entry.step !== 'undoing') || redone.has(entry.order)) continue;
    return { order: entry.order, replaced: entry.replaced ?? before.get(entry.order) ?? [] };
  }
  return undefined;
}

function standing(entries: readonly CheckpointEntry[]): readonly ChangeEntry[] {
  const undone = spansOf(entries, 'undone');
  return entries
    .filter((entry) => entry.step === 'change')
    .filter(({ order }) => !undone.some(({ from, to }) => order > from && order < to))
    .toSorted((a, b) => a.order - b.order);
}

/** From a prompt to the moment somebody went back to it. */
function spansOf(entries: readonly CheckpointEntry[], step: 'undone' | 'left') {
  const redone = new Set(entries.flatMap((entry) => (entry.step === 'redone' ? [entry.undone] : [])));
  return entries.flatMap((entry) => {
    if (entry.step !== step || (step === 'undone' && redone.has(entry.order))) return [];
    const from = entries.find((other) => other.step === 'prompt' && other.id === entry.id);
    return from === undefined ? [] : [{ from: from.order, to: entry.order }];
  });
}
