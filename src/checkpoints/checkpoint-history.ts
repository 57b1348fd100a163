import { readFileSync } from 'node:fs';
import type { CheckpointEntry, CheckpointPathState, RewoundPath } from '../contracts/session.ts';
import { encodeFsPath, formatPath } from '../lib/files/non-utf8-paths.ts';
import { createEventLoopYielder } from '../lib/promises.ts';
import type { ContentStore } from './content-store.ts';
import { isSameFileState, type WorkspaceSnapshotTaker } from './workspace-snapshot.ts';

type Prompt = Extract<CheckpointEntry, { step: 'prompt' }>;
type ChangeEntry = Extract<CheckpointEntry, { step: 'change' }>;

/** A prompt that files can be restored to, with the changes made between it and the next one. */
export type Checkpoint = {
  readonly prompt: Prompt;
  readonly changes: readonly ChangeEntry[];
  readonly paths: readonly string[];
  readonly notKept: readonly string[];
};

/** Returns all checkpoints in order, without those that were rewound and without changes that were undone. */
export function listCheckpoints(entries: readonly CheckpointEntry[]): readonly Checkpoint[] {
  const rewoundSpans = listRevertedSpans(entries, 'left');
  const prompts = entries
    .filter((entry) => entry.step === 'prompt')
    .filter(({ order }) => !rewoundSpans.some(({ from, to }) => order >= from && order < to))
    .toSorted((a, b) => a.order - b.order);
  const activeChanges = listActiveChanges(entries);
  const commands = entries.filter((entry) => entry.step === 'command');
  return prompts.map((prompt, index) => {
    const end = prompts[index + 1]?.order ?? Number.POSITIVE_INFINITY;
    const isInCheckpoint = ({ order }: { readonly order: number }) => order > prompt.order && order < end;
    const ownChanges = activeChanges.filter(isInCheckpoint);
    const notStored = ownChanges.flatMap(({ path, before }) =>
      before.kind === 'not-kept' ? [`${path} (${before.why})`] : [],
    );
    return {
      prompt,
      changes: ownChanges,
      paths: [...new Set(ownChanges.map(({ path }) => path))],
      notKept: [...new Set([...notStored, ...commands.filter(isInCheckpoint).flatMap(({ notKept }) => notKept)])],
    };
  });
}

/** One change of a path: its state before, and the state it was left in, if known. */
export type CheckpointStep = { readonly before: CheckpointPathState; readonly after: CheckpointPathState | undefined };

/** Returns the steps taken on each path since a prompt, oldest first. */
export function listCheckpointStepsSince(
  entries: readonly CheckpointEntry[],
  id: string,
): ReadonlyMap<string, readonly CheckpointStep[]> {
  const prompt = entries.find((entry) => entry.step === 'prompt' && entry.id === id);
  const spansByPath = new Map<string, readonly Span[]>();
  if (prompt === undefined) return spansByPath;
  for (const entry of listActiveChanges(entries)) {
    if (entry.order > prompt.order) spansByPath.set(entry.path, addChange(spansByPath.get(entry.path) ?? [], entry));
  }
  return spansByPath;
}

type Span = CheckpointStep & { readonly until: number };

/** Merges a change into the last step if it overlaps it or continues from its result; otherwise starts a new step. */
function addChange(spans: readonly Span[], { order, until = order, before, after }: ChangeEntry): readonly Span[] {
  const last = spans.at(-1);
  const next: Span = { before, after, until };
  if (last === undefined) return [next];
  const isContinuation = last.after !== undefined && isSameFileState(last.after, before);
  if (order > last.until && !isContinuation) return [...spans, next];
  const longer = until >= last.until ? next : last;
  return [...spans.slice(0, -1), { ...longer, before: last.before }];
}

/** Returns the newest checkpoint with changes that can be undone, or with such changes of chosen paths. */
export function findLastUndoableCheckpoint(
  entries: readonly CheckpointEntry[],
  isChosen: (path: string) => boolean = () => true,
): Checkpoint | undefined {
  return listCheckpoints(entries).findLast(({ paths }) => paths.some(isChosen));
}

type Undone = { readonly order: number; readonly replaced: readonly RewoundPath[] };

/** Returns the last restore that was not reverted yet; `undefined` if files changed since. */
export function findLastRestore(entries: readonly CheckpointEntry[]): Undone | undefined {
  const redone = new Set(entries.flatMap((entry) => (entry.step === 'redone' ? [entry.undone] : [])));
  const replacedByOrder = new Map(
    entries.flatMap((entry) => (entry.step === 'undoing' ? [[entry.order, entry.replaced]] : [])),
  );
  for (const entry of entries.toReversed()) {
    if (entry.step === 'change') return undefined;
    if ((entry.step !== 'undone' && entry.step !== 'undoing') || redone.has(entry.order)) continue;
    return { order: entry.order, replaced: entry.replaced ?? replacedByOrder.get(entry.order) ?? [] };
  }
  return undefined;
}

/** Returns the changes that were not undone, in order. */
function listActiveChanges(entries: readonly CheckpointEntry[]): readonly ChangeEntry[] {
  const undone = listRevertedSpans(entries, 'undone');
  return entries
    .filter((entry) => entry.step === 'change')
    .filter(
      ({ order, path }) =>
        !undone.some(({ from, to, paths }) => order > from && order < to && paths?.includes(path) !== false),
    )
    .toSorted((a, b) => a.order - b.order);
}

/** Returns the spans from a prompt to the moment it was restored or rewound to. */
function listRevertedSpans(entries: readonly CheckpointEntry[], step: 'undone' | 'left') {
  const redone = new Set(entries.flatMap((entry) => (entry.step === 'redone' ? [entry.undone] : [])));
  return entries.flatMap((entry) => {
    if (entry.step !== step || (step === 'undone' && redone.has(entry.order))) return [];
    const prompt = entries.find((other) => other.step === 'prompt' && other.id === entry.id);
    const paths = entry.step === 'undone' ? entry.paths : undefined;
    return prompt === undefined ? [] : [{ from: prompt.order, to: entry.order, paths }];
  });
}

/** The content of a file; `unknown` if it was not stored. */
type Content = { readonly is: 'bytes'; readonly bytes: Uint8Array } | { readonly is: 'absent' | 'unknown' };

/** The files that a prompt changed, without changes that were undone. */
export type CheckpointTurnChanges = {
  readonly id: string;
  readonly prompt: string;
  readonly at: string;
  readonly files: readonly { readonly path: string; readonly before: Content; readonly after: Content }[];
};

type ContentSources = {
  readonly contents: readonly Pick<ContentStore, 'read'>[];
  readonly snapshots: WorkspaceSnapshotTaker;
};

/** Returns the changes of every prompt that changed files, oldest first. */
export async function listCheckpointTurnChanges(
  entries: readonly CheckpointEntry[],
  sources: ContentSources,
): Promise<readonly CheckpointTurnChanges[]> {
  const yieldIfDue = createEventLoopYielder();
  const listed: CheckpointTurnChanges[] = [];
  /** The state of each path before the first change after the turn. */
  const laterStates = new Map<string, CheckpointPathState>();
  for (const { prompt, changes } of listCheckpoints(entries).toReversed()) {
    const files: CheckpointTurnChanges['files'][number][] = [];
    for (const [path, pathChanges] of Map.groupBy(changes, (change) => change.path)) {
      await yieldIfDue();
      const [first, last] = [pathChanges[0], pathChanges.at(-1)];
      if (first === undefined || last === undefined) continue;
      // If the resulting state was not recorded, the state before the next change is the same.
      const after = last.after ?? laterStates.get(path);
      laterStates.set(path, first.before);
      if (isFolder(first.before) || isFolder(last.after)) continue;
      const oldContent = loadContent(first.before, path, sources);
      files.push({ path: formatPath(path), before: oldContent, after: loadContent(after, path, sources) });
    }
    if (files.length > 0) listed.unshift({ id: prompt.id, prompt: prompt.prompt, at: prompt.at, files });
  }
  return listed;
}

function isFolder(state: CheckpointPathState | undefined): boolean {
  return state?.kind === 'folder' || state?.kind === 'link';
}

function loadContent(
  state: CheckpointPathState | undefined,
  path: string,
  { contents, snapshots }: ContentSources,
): Content {
  if (state?.kind === 'absent') return { is: 'absent' };
  if (state !== undefined && state.kind !== 'file') return { is: 'unknown' };
  const stored = state && contents.map((store) => store.read(state.hash)).find((bytes) => bytes !== undefined);
  if (stored !== undefined) return { is: 'bytes', bytes: stored };
  if (state !== undefined && !snapshots.isInState(path, state)) return { is: 'unknown' };
  try {
    return { is: 'bytes', bytes: readFileSync(encodeFsPath(path)) };
  } catch {
    return { is: 'absent' };
  }
}
