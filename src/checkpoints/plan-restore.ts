import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';

type Prompt = Extract<CheckpointEntry, { step: 'prompt' }>;
type ChangeEntry = Extract<CheckpointEntry, { step: 'change' }>;

/** A place to go back to, with what has changed between it and the next one. */
export type Checkpoint = {
  readonly prompt: Prompt;
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
      paths: [...new Set(own.map(({ path }) => path))],
      notKept: [...new Set([...lost, ...commands.filter(isHere).flatMap(({ notKept }) => notKept)])],
    };
  });
}

/** What must stand under each path for the workspace to be as it was before a prompt. */
export function planRestore(entries: readonly CheckpointEntry[], id: string): ReadonlyMap<string, FileBefore> {
  const prompt = entries.find((entry) => entry.step === 'prompt' && entry.id === id);
  const plan = new Map<string, FileBefore>();
  if (prompt === undefined) return plan;
  // The earliest change of a path holds what was there first.
  for (const { path, before, order } of standing(entries)) {
    if (order > prompt.order && !plan.has(path)) plan.set(path, before);
  }
  return plan;
}

/** The newest checkpoint with changes that can be undone. */
export function lastChangeSet(entries: readonly CheckpointEntry[]): Checkpoint | undefined {
  return checkpointsOf(entries).findLast(({ paths }) => paths.length > 0);
}

/** The last time somebody went back, if nothing has changed since. */
export function lastUndone(
  entries: readonly CheckpointEntry[],
): Extract<CheckpointEntry, { step: 'undone' }> | undefined {
  const last = entries.findLast(({ step }) => step === 'undone' || step === 'redone' || step === 'change');
  return last?.step === 'undone' ? last : undefined;
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
