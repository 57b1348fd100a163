import { dirname } from 'node:path';
import type { CheckpointPathState, RewoundPath } from '../contracts/session.ts';
import { formatPath } from '../lib/files/non-utf8-paths.ts';
import { mergeLinesThreeWay } from '../lib/text/diff.ts';
import type { CheckpointStep } from './checkpoint-history.ts';
import { type CheckpointContentCopier, isMergeableText } from './content-copier.ts';
import type { ContentStore, createContentStore } from './content-store.ts';
import { isBelowSymlink, type RestoreResult, restoreFiles } from './restore-files.ts';
import { isSameFileAccess, isSameFileState, type WorkspaceSnapshotTaker } from './workspace-snapshot.ts';

/** The state each path must get, and one message per path that is left alone because others changed it too. */
type RevertPlan = {
  readonly plan: ReadonlyMap<string, CheckpointPathState>;
  readonly problems: readonly string[];
  /** Paths whose current content could not be stored, for example on a full disk. */
  readonly failed: readonly string[];
};

type RevertDeps = {
  readonly snapshots: Pick<WorkspaceSnapshotTaker, 'captureState' | 'isInState'>;
  readonly store: ReturnType<typeof createContentStore>;
  readonly keeper: CheckpointContentCopier;
  /** Folder for notes about unfinished writes. */
  readonly unfinished: string | undefined;
};

/** Reverts steps on disk; `begin` first records the current state of every path that will change. */
export async function revertSteps(
  steps: ReadonlyMap<string, readonly CheckpointStep[]>,
  deps: RevertDeps,
  begin: (replaced: readonly RewoundPath[]) => Promise<void>,
): Promise<RestoreResult> {
  const { plan, problems, failed } = planRevert(steps, deps);
  const pending = [...plan].filter(([path, state]) => !deps.snapshots.isInState(path, state));
  await begin(pending.map(([path, after]) => ({ path, before: deps.snapshots.captureState(path), after })));
  const result = restoreFiles(new Map(pending), deps.store, deps.unfinished);
  return {
    restored: result.restored.map(formatPath),
    removed: result.removed.map(formatPath),
    problems: [...problems, ...result.problems].map(formatPath),
    failed: [...failed, ...result.failed],
  };
}

/** A path that a revert would change, with the bytes it would get; `undefined` if it is no file afterwards. */
export type RevertPreview = { readonly path: string; readonly bytes: Uint8Array | undefined };

/** Returns the paths that a revert would change; changes nothing. */
export function previewRevert(
  steps: ReadonlyMap<string, readonly CheckpointStep[]>,
  deps: RevertDeps,
): readonly RevertPreview[] {
  return [...planRevert(steps, deps).plan]
    .filter(([path, state]) => state.kind !== 'not-kept' && !deps.snapshots.isInState(path, state))
    .map(([path, state]) => ({
      path: formatPath(path),
      bytes: state.kind === 'file' ? deps.store.read(state.hash) : undefined,
    }));
}

type FileState = Extract<CheckpointPathState, { kind: 'file' }>;

/**
 * Reverts steps, newest first, and only them: later changes by others to other lines of a file are merged in, and a
 * path whose own change cannot be separated from theirs is left alone.
 */
function planRevert(
  steps: ReadonlyMap<string, readonly CheckpointStep[]>,
  { snapshots, store, keeper }: RevertDeps,
): RevertPlan {
  const plan = new Map<string, CheckpointPathState>();
  const problems: string[] = [];
  const failed: string[] = [];
  for (const [path, pathSteps] of steps) {
    // Behind a link, the path would show a file in another place.
    const current: CheckpointPathState = isBelowSymlink(dirname(path))
      ? { kind: 'absent' }
      : snapshots.captureState(path);
    const stored = keeper.keepState(current);
    if (stored !== current) {
      problems.push(`${path}: its current content could not be stored, so it is left unchanged.`);
      failed.push(path);
      continue;
    }
    const target = pathSteps.reduceRight<CheckpointPathState | undefined>(
      (state, step) => state && revertStep(step, state, store),
      stored,
    );
    if (target === undefined) problems.push(`${path}: ${explainConflict(pathSteps, store)}`);
    else plan.set(path, target);
  }
  return { plan, problems, failed };
}

function explainConflict(steps: readonly CheckpointStep[], store: RevertDeps['store']): string {
  const first = steps[0]?.before;
  const stored = first?.kind === 'file' && store.read(first.hash) !== undefined ? store.getPath(first.hash) : undefined;
  const hint = stored === undefined ? '' : ` The previous content is in ${stored}.`;
  return `another program changed it since, so it is left unchanged.${hint}`;
}

/** Returns the state without one step; `undefined` if the step cannot be separated from later changes. */
function revertStep(
  { before, after }: CheckpointStep,
  current: CheckpointPathState,
  store: ContentStore,
): CheckpointPathState | undefined {
  if (after === undefined || isSameFileState(current, before)) return before;
  if (current.kind === 'file' && after.kind === 'file') {
    if (before.kind === 'file') return revertFile(before, after, current, store);
    return current.hash === after.hash ? before : undefined;
  }
  // The mode of a new folder depends on the system; a folder that is not empty stays anyway.
  if (current.kind === 'folder' && after.kind === 'folder' && before.kind !== 'folder') return before;
  return isSameFileState(current, after) ? before : undefined;
}

function revertFile(
  before: FileState,
  after: FileState,
  current: FileState,
  store: ContentStore,
): FileState | undefined {
  const { hash: _, ...access } = isSameFileAccess(current, after) ? before : current;
  const hash = revertContent(before.hash, after.hash, current.hash, store);
  return hash === undefined ? undefined : { ...access, hash };
}

function revertContent(before: string, after: string, current: string, store: ContentStore): string | undefined {
  if (current === after || current === before) return before;
  if (before === after) return current;
  const [base, mine, other] = [after, current, before].map((hash) => decodeMergeable(store.read(hash)));
  if (base === undefined || mine === undefined || other === undefined) return undefined;
  const merged = mergeLinesThreeWay(base, mine, other);
  return merged === undefined ? undefined : store.put(Buffer.from(merged, 'latin1'));
}

/** Decodes as Latin-1, so that every byte survives the merge whatever the encoding is. */
function decodeMergeable(bytes: Buffer | undefined): string | undefined {
  return bytes !== undefined && isMergeableText(bytes) ? bytes.toString('latin1') : undefined;
}
