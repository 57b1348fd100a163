import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CheckpointInfo } from '../contracts/frontend/conversation.ts';
import type { CheckpointEntry, CheckpointPathState, RewoundPath } from '../contracts/session.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import type { MountHealth } from '../lib/files/mount-health.ts';
import { decodeFileName } from '../lib/files/non-utf8-paths.ts';
import {
  type Checkpoint,
  type CheckpointTurnChanges,
  findLastRestore,
  findLastUndoableCheckpoint,
  listCheckpointStepsSince,
  listCheckpoints,
  listCheckpointTurnChanges,
} from './checkpoint-history.ts';
import { createCheckpointLedger } from './checkpoint-ledger.ts';
import { createCheckpointContentCopier } from './content-copier.ts';
import { createContentStore, createSingleFileContentStore } from './content-store.ts';
import { openCrossProcessWrites } from './cross-process-writes.ts';
import type { RestoreResult } from './restore-files.ts';
import { previewRevert, type RevertPreview, revertSteps } from './revert-steps.ts';
import { createShellFileChangeDetector, type ShellFileChangeDetection } from './shell-file-change-detector.ts';
import type { WorkspaceWalkLimits } from './walk-workspace.ts';
import { createSnapshotManifests, createWorkspaceSnapshotTaker } from './workspace-snapshot.ts';

/** Dependencies of `createCheckpoints`. */
export type CheckpointDeps = {
  /** Folder of this session for the contents that its changes replaced. */
  readonly folder: string;
  /** Real paths of the workspace roots. */
  readonly roots: () => readonly string[];
  /** Paths that snapshots ignore: ouro's own files. */
  readonly skip: readonly string[];
  readonly home: string;
  /** Tells whether a shell command runs in the background. */
  readonly isBackgroundRunning: () => boolean;
  /** Entries the session has recorded so far. */
  readonly entries: readonly CheckpointEntry[];
  readonly append: (entry: CheckpointEntry) => Promise<void>;
  /** Reports a change that cannot be undone, before it happens. */
  readonly warn: (message: string) => void;
  readonly newId: () => string;
  readonly now: () => number;
  readonly limits?: WorkspaceWalkLimits;
  readonly mounts?: MountHealth;
  /** Folder for notes about unfinished writes; the next start repairs what a crash left behind. */
  readonly unfinished?: string;
  /** Keep sessions from changing a file at the same time. */
  readonly locks: FileLocks;
  /** Folder in which all running ouro processes record what their tools write. */
  readonly sharedWritesFolder?: string;
};

const NEW_FILE_MODE = 0o666;
const NEW_FOLDER: CheckpointPathState = { kind: 'folder', mode: 0o777 };

/** Records the state of files before they change, and restores it. */
export type Checkpoints = {
  /** Adds a checkpoint before a prompt is processed. */
  addPrompt(messageId: string, text: string): Promise<void>;
  /** Records a write that a file tool is about to make, with the folders it creates. */
  beforeChange(realPath: string, bytes: Uint8Array): Promise<void>;
  /**
   * Takes a snapshot before a command that may change `writes`, or anything if omitted. Call `ended` when the command
   * has exited or continues in the background.
   */
  beforeCommand(writes?: readonly string[]): Promise<ShellFileChangeDetection>;
  list(): Promise<readonly CheckpointInfo[]>;
  /** Returns the id of the newest prompt whose changes, or whose changes of chosen paths, can be undone. */
  findLastUndoable(isChosen?: (path: string) => boolean): Promise<string | undefined>;
  /** Returns the paths that `restore` would change, with the bytes they would get. Changes nothing. */
  previewRestore(id: string): Promise<readonly RevertPreview[] | undefined>;
  /** Returns the files that each prompt changed, with their contents before and after it. */
  listTurnChanges(): Promise<readonly CheckpointTurnChanges[]>;
  /**
   * Restores the files to their state before this prompt, or only the chosen paths; `undefined` if there is no such
   * checkpoint. What the system failed to restore, or an abort left, can be restored again. Changes wait meanwhile.
   */
  restore(id: string, isChosen?: (path: string) => boolean, signal?: AbortSignal): Promise<RestoreResult | undefined>;
  /**
   * Reverts the last `restore` that was not reverted yet; `undefined` if there is none or files changed since. Can be
   * repeated after a failure of the system or an abort.
   */
  redo(signal?: AbortSignal): Promise<RestoreResult | undefined>;
  /** Records that the conversation was rewound to before this prompt. */
  recordRewind(id: string): Promise<void>;
  /** Records the changes of commands that are still running, and deletes the contents that no change needed. */
  close(): Promise<void>;
};

/** Creates the checkpoints of a session from the entries it has recorded. */
export function createCheckpoints(deps: CheckpointDeps): Checkpoints {
  const pack = createSingleFileContentStore(deps.folder);
  const store = createContentStore(join(deps.folder, 'contents'));
  const snapshots = createWorkspaceSnapshotTaker(pack, deps.skip, deps.limits, deps.mounts);

  const copier = createCheckpointContentCopier({ pack, store, warn: deps.warn });
  const ledger = createCheckpointLedger({ ...deps, keepContents: copier.keepChange });
  const { entries, append, nextOrder } = ledger;
  const sharedWrites = openCrossProcessWrites(deps.sharedWritesFolder);
  const commands = createShellFileChangeDetector({
    ...deps,
    readOtherWrites: sharedWrites.readOthers,
    snapshots,
    manifests: createSnapshotManifests(join(deps.folder, 'manifests')),
    ledger,
  });

  const disk = { captureState: snapshots.captureState, store, copier, unfinished: deps.unfinished, locks: deps.locks };
  const hasPrompt = (id: string) => entries.some((entry) => entry.step === 'prompt' && entry.id === id);
  /** The last restore; recording a change waits for it, because it yields to the event loop between files. */
  let restoring: Promise<unknown> = Promise.resolve();

  /** Runs one restore at a time. */
  function restoreExclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = restoring.then(task);
    restoring = result.catch(() => undefined);
    return result;
  }

  return {
    async addPrompt(messageId, text) {
      await restoring;
      await commands.recordOpenCommands();
      const at = new Date(deps.now()).toISOString();
      await append({ step: 'prompt', id: deps.newId(), messageId, prompt: text, at, order: nextOrder() });
      if (deps.isBackgroundRunning()) await commands.continueWatch();
    },
    async beforeChange(path, bytes) {
      await restoring;
      const realPath = decodeFileName(Buffer.from(path));
      for (const folder of listMissingParents(realPath)) {
        await ledger.recordChange({ path: folder, order: nextOrder(), before: { kind: 'absent' }, after: NEW_FOLDER });
      }
      const before = snapshots.captureState(realPath);
      const currentAccess = before.kind === 'file' ? before : { mode: NEW_FILE_MODE };
      const after = { ...currentAccess, kind: 'file' as const, hash: copier.keepNewContent(bytes) };
      sharedWrites.record(realPath, after.hash);
      await ledger.recordChange({ path: realPath, order: nextOrder(), before, after });
    },
    beforeCommand: (writes) => restoring.then(() => commands.begin(writes)),
    async list() {
      await commands.recordOpenCommands();
      return listCheckpoints(entries).map(describeCheckpoint);
    },
    async findLastUndoable(isChosen) {
      await commands.recordOpenCommands();
      return findLastUndoableCheckpoint(entries, isChosen)?.prompt.id;
    },
    async previewRestore(id) {
      await commands.recordOpenCommands();
      if (!hasPrompt(id)) return undefined;
      return previewRevert(listCheckpointStepsSince(entries, id), disk);
    },
    listTurnChanges: () =>
      commands
        .recordOpenCommands()
        .then(() => listCheckpointTurnChanges(entries, { contents: [store, pack], snapshots })),
    restore: (id, isChosen = () => true, signal = new AbortController().signal) =>
      restoreExclusively(async () => {
        await commands.recordOpenCommands();
        if (!hasPrompt(id)) return undefined;
        const order = nextOrder();
        const steps = listCheckpointStepsSince(entries, id);
        const chosen = new Map([...steps].filter(([path]) => isChosen(path)));
        // Recorded before any file changes, so that a crash in between cannot lose the current contents.
        const begin = (replaced: readonly RewoundPath[]) => append({ step: 'undoing', id, order, replaced });
        const done = await revertSteps(chosen, disk, begin, signal);
        const failed = new Set(done.failed);
        const paths = [...chosen.keys()].filter((path) => !failed.has(path));
        await append({ step: 'undone', id, order, ...(paths.length === steps.size ? {} : { paths }) });
        return done;
      }),
    redo: (signal = new AbortController().signal) =>
      restoreExclusively(async () => {
        await commands.recordOpenCommands();
        const undone = findLastRestore(entries);
        if (undone === undefined) return undefined;
        const steps = undone.replaced.map(({ path, before, after }) => [path, [{ before, after }]] as const);
        const done = await revertSteps(new Map(steps), disk, async () => undefined, signal);
        if (done.failed.length === 0) await append({ step: 'redone', undone: undone.order, order: nextOrder() });
        return done;
      }),
    recordRewind: (id) => append({ step: 'left', id, order: nextOrder() }),
    async close() {
      if (entries.length > 0) await commands.recordOpenCommands();
      pack.delete();
    },
  };
}

/** Returns the missing parent folders of a path, outermost first. */
function listMissingParents(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = dirname(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function describeCheckpoint({ prompt: { id, messageId, prompt, at }, paths, notKept }: Checkpoint): CheckpointInfo {
  return { id, messageId, prompt, at, files: paths.length, notCaptured: notKept };
}
