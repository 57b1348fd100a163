import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Checkpoints, createCheckpoints } from '../checkpoints/create-checkpoints.ts';
import type { RestoreResult } from '../checkpoints/restore-files.ts';
import type { Environment } from '../contracts/environment.ts';
import type { CheckpointInfo } from '../contracts/frontend/conversation.ts';
import { createFileLocks } from '../lib/files/file-locks.ts';
import { recoverUnfinishedWrites } from '../lib/files/write-journal.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { getSessionFolder, getUnfinishedWritesDir } from './paths.ts';
import { lockSession } from './process-locks.ts';
import { rebuildSession } from './records/rebuild-session.ts';
import { openTranscript } from './records/session-transcript.ts';
import { readSessionForResume } from './store/read-session-for-resume.ts';
import type { SessionSummary } from './store/session-summary.ts';

/** The outcome of an undo or redo. */
export type UndoOutcome =
  | {
      readonly ok: true;
      readonly prompt: string;
      readonly restored: readonly string[];
      readonly removed: readonly string[];
      readonly problems: readonly string[];
      /** The system failed, for example on a full disk: the same undo can restore the rest later. */
      readonly canRetry: boolean;
    }
  | { readonly ok: false; readonly problem: string };

/** The undo operations of a stored session. */
export type StoredSessionUndo = {
  list(): Promise<readonly CheckpointInfo[]>;
  /** Undoes the newest change set, or all changes since a checkpoint. */
  undo(to: string | undefined): Promise<UndoOutcome>;
  /** Undoes the newest change set of these paths, or all changes since a checkpoint; all or nothing. */
  undoPaths(paths: readonly string[], to: string | undefined): Promise<UndoOutcome>;
  /** Reverts the last undo. */
  redo(): Promise<UndoOutcome>;
  close(): Promise<void>;
};

/** Opens the undo of a stored session. A session that is open in another process is refused. */
export async function openStoredSessionUndo(
  session: SessionSummary,
  environment: Environment,
): Promise<{ readonly ok: true; readonly undo: StoredSessionUndo } | { readonly ok: false; readonly problem: string }> {
  const lock = await lockSession(session.path);
  if (!lock.ok) return { ok: false, problem: 'This session is open in another ouro process. Type /undo there.' };
  // An earlier undo may have been interrupted.
  recoverUnfinishedWrites(getUnfinishedWritesDir(environment.ouroHome));
  const { checkpoints: entries, lastUuid } = rebuildSession((await readSessionForResume(session.path)).records);
  const dir = dirname(session.path);
  const root = await realpath(session.cwd).catch(() => session.cwd);
  let writeProblem: string | undefined;
  const transcript = openTranscript({
    dir,
    cwd: session.cwd,
    sessionId: session.id,
    gitBranch: session.gitBranch,
    version: environment.version,
    lastUuid,
    persistence: 'disk',
    lock: lock.lock,
    newId: randomUUID,
    now: Date.now,
    onNotice: (_level, text) => {
      writeProblem = text;
    },
  });
  const checkpoints = createCheckpoints({
    folder: join(getSessionFolder(dir, session.id), 'checkpoints'),
    roots: () => [root],
    skip: [environment.ouroHome],
    unfinished: getUnfinishedWritesDir(environment.ouroHome),
    locks: createFileLocks(environment.ouroHome),
    home: environment.home,
    isBackgroundRunning: () => false,
    entries,
    append: (checkpoint) => transcript.append({ type: 'checkpoint', checkpoint }),
    warn: () => undefined,
    newId: randomUUID,
    now: Date.now,
  });

  function describeRestore(prompt: string, { restored, removed, problems, failed }: RestoreResult): UndoOutcome {
    const allProblems = [...problems, ...(writeProblem === undefined ? [] : [writeProblem])];
    return { ok: true, prompt, restored, removed, problems: allProblems, canRetry: failed.length > 0 };
  }

  return {
    ok: true,
    undo: {
      list: checkpoints.list,
      async undo(to) {
        const id = to ?? (await checkpoints.findLastUndoable());
        const point = (await checkpoints.list()).find((checkpoint) => checkpoint.id === id);
        const done = point === undefined ? undefined : await checkpoints.restore(point.id);
        if (point !== undefined && done !== undefined) return describeRestore(point.prompt, done);
        const problem = to === undefined ? 'There are no file changes to undo.' : `There is no checkpoint ${to}.`;
        return { ok: false, problem };
      },
      async undoPaths(paths, to) {
        const done = await restorePaths(checkpoints, paths, to);
        return 'problem' in done ? { ok: false, problem: done.problem } : describeRestore('', done);
      },
      async redo() {
        const done = await checkpoints.redo();
        return done === undefined ? { ok: false, problem: 'There is nothing to redo.' } : describeRestore('', done);
      },
      async close() {
        await checkpoints.close();
        await transcript.close();
      },
    },
  };
}

/** Restores the newest change set of these paths, or all changes since a checkpoint; nothing if one has no change. */
async function restorePaths(
  checkpoints: Checkpoints,
  paths: readonly string[],
  to: string | undefined,
): Promise<RestoreResult | { readonly problem: string }> {
  const targets: { readonly id: string; readonly isChosen: (path: string) => boolean }[] = [];
  const unchanged: string[] = [];
  for (const folder of paths) {
    const isChosen = (path: string) => isPathInside(path, folder);
    const last = await checkpoints.findLastUndoable(isChosen);
    if (last === undefined) unchanged.push(folder);
    else targets.push({ id: to ?? last, isChosen });
  }
  if (unchanged.length > 0) return { problem: `There is no file change to undo in: ${unchanged.join(', ')}.` };
  const results: RestoreResult[] = [];
  for (const { id, isChosen } of targets) {
    const done = await checkpoints.restore(id, isChosen);
    if (done === undefined) return { problem: `There is no checkpoint ${id}.` };
    results.push(done);
  }
  return {
    restored: results.flatMap(({ restored }) => restored),
    removed: results.flatMap(({ removed }) => removed),
    problems: results.flatMap(({ problems }) => problems),
    failed: results.flatMap(({ failed }) => failed),
  };
}
