import { randomUUID } from 'node:crypto';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { recoverUnfinishedWrites } from '../lib/files/write-journal.ts';
import { RUN_MARKER } from '../lib/processes/process-tree.ts';
import type { BashDeps } from '../tools/bash/bash.ts';
import { getUnfinishedWritesDir } from './paths.ts';
import type { SessionLock } from './process-locks.ts';
import type { SessionTranscript } from './records/session-transcript.ts';
import { listSessionsToRecover, openRunCleanupLog, type RunCleanupLog, reapDeadRuns } from './run-cleanup-log.ts';
import { readSessionSummary } from './store/session-summary.ts';
import { openStoredSessionUndo } from './undo-stored-session.ts';

/** A started run, with the records that let the next run clean up after it. */
export type RegisteredRun = {
  /** Environment with the process marker that all child processes inherit. */
  readonly environment: Environment;
  /** Resolves when all processes of earlier runs have ended. */
  readonly ready: Promise<unknown>;
  /** Returns the ledger that records started and ended commands, in the session and for the next start. */
  createLedger(transcript: Pick<SessionTranscript, 'append' | 'folder' | 'path'>): BashDeps['ledger'];
  /** Sets the session lock that this run holds. */
  setLock(claim: SessionLock | undefined): void;
  close: RunCleanupLog['close'];
  /** Releases everything when the start was refused. */
  abandon(): Promise<void>;
};

/** Starts a run: ends processes that killed runs left, and records this run so that it can be cleaned up too. */
export function registerRun(environment: Environment): RegisteredRun {
  const ready = reapDeadRuns(environment.ouroHome);
  recoverUnfinishedWrites(getUnfinishedWritesDir(environment.ouroHome));
  // Not awaited: nothing depends on it.
  void deleteOldDrafts(environment.ouroHome, Date.now());
  const ledger = openRunCleanupLog(environment.ouroHome, randomUUID());
  let sessionLock: SessionLock | undefined;
  return {
    environment: { ...environment, variables: { ...environment.variables, [RUN_MARKER]: ledger.marker } },
    ready,
    createLedger({ append, folder, path }) {
      if (path !== undefined) ledger.recordSession(folder);
      return {
        started(child) {
          ledger.recordStart(child);
          const { pgid, command, marker } = child;
          // Not awaited: the ledger is what the clean-up uses, this record is for display.
          void append({ type: 'child', phase: 'started', pgid, detail: { command, callId: marker } });
        },
        ended(pgid) {
          ledger.recordEnd(pgid);
          void append({ type: 'child', phase: 'ended', pgid, detail: {} });
        },
      };
    },
    setLock(claim) {
      sessionLock = claim;
      // Not earlier: the session of this run must not be settled here, because it repairs itself.
      void ready.then(() => settleKilledSessions(environment)).catch(() => undefined); // The next start tries again.
    },
    close: ledger.close,
    async abandon() {
      ledger.close();
      await sessionLock?.release();
    },
  };
}

/** Records the file changes of commands of killed runs, and deletes their workspace snapshots. */
async function settleKilledSessions(environment: Environment): Promise<void> {
  for (const folder of await listSessionsToRecover(environment.ouroHome)) {
    const session = readSessionSummary(`${folder}.jsonl`);
    const undo = session === undefined ? undefined : await openStoredSessionUndo(session, environment);
    if (undo?.ok === true) await undo.undo.close();
  }
}

/** Names of files that are renamed when they are complete: of `writePrivateFile`, and of the stores of a session. */
const DRAFT = /^\.[0-9a-f]{18}\.tmp$|\.json\.tmp$/;
/** A write takes milliseconds; an older draft was left by a kill. */
const DRAFT_AGE_MS = 60_000;

/** Deletes the unfinished files that killed runs left in ouro's own folders. */
async function deleteOldDrafts(ouroHome: string, nowMs: number): Promise<void> {
  const projects = await listFolders(join(ouroHome, 'projects'));
  const folders = [
    ouroHome,
    ...(await listFolders(ouroHome)),
    ...projects.flatMap((project) => [project, join(project, 'answers'), join(project, 'drafts')]),
  ];
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((candidate) => DRAFT.test(candidate))) {
      const path = join(folder, name);
      const stats = await stat(path).catch(() => undefined);
      const isOld = stats !== undefined && nowMs - stats.mtimeMs > DRAFT_AGE_MS;
      // A folder that is not writable gets no drafts either.
      if (isOld) await unlink(path).catch(() => undefined);
    }
  }
}

async function listFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
