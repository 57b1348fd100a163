import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { deleteStaleFileLocks } from '../lib/files/file-locks.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { recoverUnfinishedWrites } from '../lib/files/write-journal.ts';
import { getProcessIdentity, getProcessState, type ProcessIdentity } from '../lib/processes/process-info.ts';
import {
  killLeftoverProcessGroups,
  killRunProcesses,
  killRunProcessesNow,
  type LeftoverProcessGroup,
  RUN_MARKER,
} from '../lib/processes/process-tree.ts';
import type { BashDeps } from '../tools/bash/bash-deps.ts';
import { getUnfinishedWritesDir } from './paths.ts';
import { deleteDeadLocks, type SessionLock } from './process-locks.ts';
import type { SessionTranscript } from './records/session-transcript.ts';
import { readSessionSummary } from './store/session-summary.ts';
import { openStoredSessionUndo } from './undo-stored-session.ts';

type Owner = ProcessIdentity & { readonly run: string };

/** Time between SIGTERM and SIGKILL; short, so that the first prompt does not wait. */
const KILL_AFTER_MS = 500;

const getLedgerFolder = (ouroHome: string) => join(ouroHome, 'running');

/**
 * Opens the log of what a run starts, to clean up at the exit of this process or the next start. Every entry is written
 * synchronously before the start it describes.
 */
export function openRunCleanupLog(ouroHome: string, marker: string) {
  const owner: Owner = { run: marker, ...getProcessIdentity() };
  const path = join(getLedgerFolder(ouroHome), `${marker}.jsonl`);
  tryWrite(() => {
    mkdirSync(getLedgerFolder(ouroHome), { recursive: true, mode: 0o700 });
    writeFileSync(path, toLine(owner), { mode: 0o600, flag: 'wx' });
  });
  // Also in memory: the disk may not be writable, and reading it takes too long at the exit.
  const groups = new Set<number>();
  const removeExitListener = onProcessExit(() => killRunProcessesNow(marker, groups));
  return {
    /** Process marker carried by every child of this run in its environment. */
    marker,
    /** Records a session folder whose snapshot of the workspace needs recovery if the run is killed. */
    recordSession: (session: string) => tryWrite(() => appendFileSync(path, toLine({ session }))),
    recordStart({ pgid, startTime, marker }: LeftoverProcessGroup) {
      groups.add(pgid);
      tryWrite(() => appendFileSync(path, toLine({ pgid, startTime, marker })));
    },
    recordEnd(pgid: number) {
      groups.delete(pgid);
      tryWrite(() => appendFileSync(path, toLine({ ended: pgid })));
    },
    /**
     * Deletes the ledger once everything has ended; kills what is still recorded as running, or `all` that the run has
     * started. That takes 20 ms, and is needed after an abort: nobody waits for a hook then, which may ignore SIGTERM.
     */
    close(remaining: 'recorded' | 'all' = 'recorded') {
      if (groups.size > 0 || remaining === 'all') killRunProcessesNow(marker, groups);
      removeExitListener();
      tryWrite(() => unlinkSync(path));
    },
  };
}

/**
 * Calls a listener when this process exits, however that is caused. The limit of listeners grows with each: a program
 * may run many conversations at once, which is no leak.
 */
function onProcessExit(listener: () => void): () => void {
  process.setMaxListeners(process.getMaxListeners() + 1);
  process.once('exit', listener);
  return () => {
    process.off('exit', listener);
    process.setMaxListeners(process.getMaxListeners() - 1);
  };
}

/** Ignores write failures: without a writable disk there is no ledger, and the session reports the failure itself. */
function tryWrite(write: () => void): void {
  try {
    write();
  } catch {
    // Ignored, see above.
  }
}

const toLine = (value: object) => `${JSON.stringify(value)}\n`;

/** Ends the processes left by killed runs and deletes their ledgers; returns the number of such runs. @internal */
export async function reapDeadRuns(ouroHome: string, killAfterMs = KILL_AFTER_MS): Promise<number> {
  const names = await readdir(getLedgerFolder(ouroHome)).catch(() => []);
  const outcomes = await Promise.all(
    names
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => reapRun(join(getLedgerFolder(ouroHome), name), killAfterMs)),
  );
  return outcomes.filter((outcome) => outcome === 'dead').length;
}

/**
 * Returns the folders of sessions whose run was killed while a command ran, so that a snapshot awaits recovery.
 * @internal
 */
export async function listSessionsToRecover(ouroHome: string): Promise<readonly string[]> {
  const names = await readdir(getLedgerFolder(ouroHome)).catch(() => []);
  const folders = names.map(async (name) => {
    const [owner, ...rest] = await readEntries(join(getLedgerFolder(ouroHome), name));
    return isOwner(owner) && getProcessState(owner) === 'dead' ? rest.flatMap(findPendingSnapshot) : [];
  });
  return [...new Set((await Promise.all(folders)).flat())];
}

function findPendingSnapshot({ session }: Entry): readonly string[] {
  return typeof session === 'string' && existsSync(join(session, 'checkpoints', 'pack')) ? [session] : [];
}

async function readEntries(path: string): Promise<readonly Entry[]> {
  return ((await readRegularFile(path).catch(() => undefined)) ?? '').split('\n').flatMap(parseEntry);
}

async function reapRun(path: string, killAfterMs: number): Promise<'alive' | 'dead'> {
  const [owner, ...rest] = await readEntries(path);
  if (isOwner(owner)) {
    const state = getProcessState(owner);
    if (state === 'alive') return 'alive';
    // Processes in another container cannot be seen or ended from here; they end with their container.
    if (state === 'elsewhere') return (await isExpired(path)) ? deleteLedger(path) : 'alive';
    const startedAt = performance.now();
    await killRunProcesses(owner.run, () => performance.now() - startedAt > killAfterMs);
    const ended = new Set(rest.map((entry) => entry.ended));
    await killLeftoverProcessGroups(rest.filter(isLeftover).filter(({ pgid }) => !ended.has(pgid)));
  }
  // The ledger is kept until the snapshots of its sessions are recovered.
  return rest.some((entry) => findPendingSnapshot(entry).length > 0) ? 'dead' : deleteLedger(path);
}

async function deleteLedger(path: string): Promise<'dead'> {
  await unlink(path).catch(() => undefined);
  return 'dead';
}

const EXPIRY_MS = 7 * 86_400_000;

async function isExpired(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats === undefined || Date.now() - stats.mtimeMs > EXPIRY_MS;
}

type Entry = { readonly [name: string]: unknown };

/** The last line may be torn. */
function parseEntry(text: string): readonly Entry[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? [{ ...value }] : [];
  } catch {
    return [];
  }
}

function isOwner(entry: Entry | undefined): entry is Owner & Entry {
  return typeof entry?.run === 'string' && typeof entry.pid === 'number' && typeof entry.startTime === 'string';
}

function isLeftover(entry: Entry): entry is LeftoverProcessGroup & Entry {
  return typeof entry.pgid === 'number' && typeof entry.startTime === 'string' && typeof entry.marker === 'string';
}

/** A started run, with the records that let the next run clean up after it. */
export type RegisteredRun = ReturnType<typeof registerRun>;

/** Starts a run: ends processes that killed runs left, and records this run so that it can be cleaned up too. */
export function registerRun(environment: Environment) {
  /** Resolves when all processes of earlier runs have ended. */
  const ready = reapDeadRuns(environment.ouroHome);
  recoverUnfinishedWrites(getUnfinishedWritesDir(environment.ouroHome));
  // Not awaited: nothing depends on it.
  void deleteOldDrafts(environment.ouroHome, Date.now());
  void deleteStaleFileLocks(environment.ouroHome, Date.now());
  const ledger = openRunCleanupLog(environment.ouroHome, randomUUID());
  let sessionLock: SessionLock | undefined;
  return {
    /** Environment with the process marker that all child processes inherit. */
    environment: { ...environment, variables: { ...environment.variables, [RUN_MARKER]: ledger.marker } },
    ready,
    /** Returns the ledger that records started and ended commands, in the session and for the next start. */
    createLedger({ append, folder, path }: SessionTranscript): BashDeps['ledger'] {
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
    /** Sets the session lock that this run holds. */
    setLock(claim: SessionLock | undefined) {
      sessionLock = claim;
      // Not earlier: the session of this run must not be settled here, because it repairs itself.
      void ready.then(() => settleKilledSessions(environment)).catch(() => undefined); // The next start tries again.
    },
    close: ledger.close,
    /** Releases everything when the start was refused. */
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
  for (const project of projects) await deleteDeadLocks(project, nowMs);
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
