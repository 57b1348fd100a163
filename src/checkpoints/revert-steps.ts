import { dirname } from 'node:path';
import type { CheckpointPathState, RewoundPath } from '../contracts/session.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import { formatPath } from '../lib/files/non-utf8-paths.ts';
import { createEventLoopYielder } from '../lib/promises.ts';
import { mergeLinesThreeWay } from '../lib/text/diff.ts';
import type { CheckpointStep } from './checkpoint-history.ts';
import { type CheckpointContentCopier, isMergeableText } from './content-copier.ts';
import type { ContentStore, createContentStore } from './content-store.ts';
import { type PendingRestore, type RestoreResult, restoreFiles } from './restore-files.ts';
import { isBelowSymlink } from './restore-path.ts';
import { isSameFileAccess, isSameFileState, type WorkspaceSnapshotTaker } from './workspace-snapshot.ts';

/** The state each path must get, and one message per path that is left alone because others changed it too. */
type RevertPlan = {
  /** Paths that are not in the state they must get yet. */
  readonly pending: readonly PendingRestore[];
  readonly problems: readonly string[];
  /** Paths whose current content could not be stored, for example on a full disk. */
  readonly failed: readonly string[];
};

type RevertDeps = {
  readonly snapshots: Pick<WorkspaceSnapshotTaker, 'captureState'>;
  readonly store: ReturnType<typeof createContentStore>;
  readonly keeper: CheckpointContentCopier;
  /** Folder for notes about unfinished writes. */
  readonly unfinished: string | undefined;
  readonly locks: FileLocks;
};

/** Reverts steps on disk; `begin` first records the current state of every path that will change. */
export async function revertSteps(
  steps: ReadonlyMap<string, readonly CheckpointStep[]>,
  deps: RevertDeps,
  begin: (replaced: readonly RewoundPath[]) => Promise<void>,
  signal: AbortSignal,
): Promise<RestoreResult> {
  const { pending, problems, failed } = await planRevert(steps, deps);
  await begin(pending);
  const { captureState } = deps.snapshots;
  const result = await restoreFiles(pending, { ...deps, captureState }, signal);
  return {
    restored: result.restored.map(formatPath),
    removed: result.removed.map(formatPath),
    problems: [...problems, ...result.problems].map(formatPath),
    failed: [...failed, ...result.failed],
  };
}

/** A path that a revert would change; `readBytes` returns what it would get, `undefined` if it is no file then. */
export type RevertPreview = { readonly path: string; readonly readBytes: () => Uint8Array | undefined };

/** Returns the paths that a revert would change; changes nothing. */
export async function previewRevert(
  steps: ReadonlyMap<string, readonly CheckpointStep[]>,
  deps: RevertDeps,
): Promise<readonly RevertPreview[]> {
  const { pending } = await planRevert(steps, deps);
  return pending
    .filter(({ after }) => after.kind !== 'not-kept')
    .map(({ path, after }) => ({
      path: formatPath(path),
      readBytes: () => (after.kind === 'file' ? deps.store.read(after.hash) : undefined),
    }));
}

type FileState = Extract<CheckpointPathState, { kind: 'file' }>;

/**
 * Reverts steps, newest first, and only them: later changes by others to other lines of a file are merged in, and a
 * path whose own change cannot be separated from theirs is left alone.
 */
async function planRevert(
  steps: ReadonlyMap<string, readonly CheckpointStep[]>,
  { snapshots, store, keeper }: RevertDeps,
): Promise<RevertPlan> {
  const planned: (PendingRestore & { readonly found: CheckpointPathState })[] = [];
  const problems: string[] = [];
  const failed: string[] = [];
  const yieldIfDue = createEventLoopYielder();
  for (const [path, pathSteps] of steps) {
    await yieldIfDue();
    const found = snapshots.captureState(path);
    // Behind a link, the path shows a file in another place; the restore refuses to touch it.
    const current: CheckpointPathState = isBelowSymlink(dirname(path)) ? { kind: 'absent' } : found;
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
    else planned.push({ path, found, before: current, after: target });
  }
  // Once such a link is a folder again, a file that was seen through it is gone.
  const links = new Set(planned.flatMap(({ path, before }) => (before.kind === 'link' ? [path] : [])));
  const pending = planned.filter(
    ({ path, found, before, after }) =>
      !isSameFileState(found, after) || (!isSameFileState(before, after) && isUnder(path, links)),
  );
  return { pending, problems, failed };
}

function isUnder(path: string, links: ReadonlySet<string>): boolean {
  return links.size > 0 && (links.has(path) || (dirname(path) !== path && isUnder(dirname(path), links)));
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
