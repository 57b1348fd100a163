import { dirname } from 'node:path';
import type { CheckpointPathState, RewoundPath } from '../contracts/session.ts';
import { formatPath } from '../lib/files/non-utf8-paths.ts';
import { createEventLoopYielder } from '../lib/promises.ts';
import { mergeLinesThreeWay } from '../lib/text/diff.ts';
import type { CheckpointStep } from './checkpoint-history.ts';
import { type CheckpointContentCopier, isMergeableText } from './content-copier.ts';
import type { ContentStore, SessionContentStore } from './content-store.ts';
import { type PendingRestore, type RestoreDeps, type RestoreResult, restoreFiles } from './restore-files.ts';
import { isBelowSymlink } from './restore-path.ts';
import { isSameFileAccess, isSameFileState } from './workspace-snapshot.ts';

/** The state each path must get, and one message per path that is left alone because others changed it too. */
type RevertPlan = {
  /** Paths that are not in the state they must get yet. */
  readonly pending: readonly PendingRestore[];
  readonly problems: readonly string[];
  /** Paths whose current content could not be stored, for example on a full disk. */
  readonly failed: readonly string[];
};

/** Dependencies of a revert. */
export type RevertDeps = RestoreDeps & {
  readonly store: SessionContentStore;
  readonly copier: CheckpointContentCopier;
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
  const result = await restoreFiles(pending, deps, signal);
  return {
    restored: result.restored.map(formatPath),
    removed: result.removed.map(formatPath),
    problems: [...problems, ...result.problems].map(formatPath),
    failed: [...failed, ...result.failed],
  };
}

/** A path that a revert would change; `readBytes` returns what it would get, `undefined` if it is not a file then. */
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
  { captureState, store, copier }: RevertDeps,
): Promise<RevertPlan> {
  const planned: PlannedPath[] = [];
  const problems: string[] = [];
  const failed: string[] = [];
  const yieldIfDue = createEventLoopYielder();

  /**
   * Returns the state seen at a path and the state of the path itself. A path below a link shows a file in another
   * folder, so the path itself is absent, and the restore refuses to touch the file.
   */
  function observe(path: string): ObservedPath {
    const onDisk = captureState(path);
    return { onDisk, own: isBelowSymlink(dirname(path)) ? { kind: 'absent' } : onDisk };
  }

  for (const [path, pathSteps] of steps) {
    await yieldIfDue();
    const { onDisk, own } = observe(path);
    if (!copier.keepState(own).ok) {
      problems.push(`${path}: its current content could not be stored, so it is left unchanged.`);
      failed.push(path);
      continue;
    }
    const target = pathSteps.reduceRight<CheckpointPathState | undefined>(
      (state, step) => state && revertStep(step, state, store),
      own,
    );
    if (target === undefined) problems.push(`${path}: ${explainConflict(pathSteps, store)}`);
    else planned.push({ path, onDisk, own, target });
  }
  const links = new Set(planned.flatMap(({ path, own }) => (own.kind === 'link' ? [path] : [])));
  const pending = planned
    .filter((entry) => needsRestore(entry, links))
    // `found` is part of the recorded format.
    .map(({ path, onDisk, own, target }) => ({ path, found: onDisk, before: own, after: target }));
  return { pending, problems, failed };
}

/** The state seen at a path, and the state of the path itself. */
type ObservedPath = { readonly onDisk: CheckpointPathState; readonly own: CheckpointPathState };

/** An observed path and the state it must get. */
type PlannedPath = ObservedPath & { readonly path: string; readonly target: CheckpointPathState };

/** Returns whether a path must change. A file seen through a link is gone once the link is a folder again. */
function needsRestore({ path, onDisk, own, target }: PlannedPath, links: ReadonlySet<string>): boolean {
  return !isSameFileState(onDisk, target) || (!isSameFileState(own, target) && isUnder(path, links));
}

function isUnder(path: string, links: ReadonlySet<string>): boolean {
  return links.size > 0 && (links.has(path) || (dirname(path) !== path && isUnder(dirname(path), links)));
}

function explainConflict(steps: readonly CheckpointStep[], store: SessionContentStore): string {
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
