import { randomUUID } from 'node:crypto';
import { basename, dirname, relative } from 'node:path';
import { walkWorkspace } from '../checkpoints/walk-workspace.ts';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { Message } from '../contracts/message.ts';
import type { PastRunEvent, SessionRecord, SessionRecordBody } from '../contracts/session.ts';
import { getProjectDir, getTranscriptPath } from './paths.ts';
import { decodeSessionState, NEW_SESSION_STATE, type ResumedSessionState } from './persisted-state.ts';
import { findSessionLockHolder, lockSession, type SessionLock } from './process-locks.ts';
import { createSealContext, dropUnsealedPermissions } from './records/permission-seal.ts';
import type { RecentSessionRecords } from './records/read-transcript.ts';
import { completeDanglingCalls, type RebuiltSession, rebuildSession } from './records/rebuild-session.ts';
import { readUnfinishedReplyText, restoreInterruptedReply } from './reply-journal.ts';
import { listRecordedDenials, type RecordedDenial } from './resume/earlier-run.ts';
import { buildPastEvents } from './resume/past-events.ts';
import { describeResume } from './resume/resume-warnings.ts';
import { truncateForResume } from './resume/truncate-for-resume.ts';
import { findNewestSession, findSession } from './store/find-sessions.ts';
import { forkSession } from './store/fork-session.ts';
import { describeDamagedSession, NO_MESSAGES } from './store/inspect-session.ts';
import { isSessionInUse } from './store/manage-sessions.ts';
import { readSessionForResume } from './store/read-session-for-resume.ts';
import { restoreUnsavedSessions } from './store/restore-unsaved-sessions.ts';
import { isConversationRecord, type SessionSummary } from './store/session-summary.ts';
import { findUnsavedFiles, isSessionStored, listUnsavedFolders } from './unsaved-lines.ts';

/** The opened session of a run: a new one, or the content of a stored one. */
export type OpenedSession = {
  readonly id: string;
  /** Folder of its file. A session file stays there, wherever the session is resumed. */
  readonly dir: string;
  /** Working directory in which the session was started. */
  readonly startedIn?: string;
  readonly messages: readonly Message[];
  readonly isResumed: boolean;
  readonly lock: SessionLock | undefined;
  /** Records that repair an interrupted end; they are written before the first request. */
  readonly repairs: readonly SessionRecordBody[];
  readonly warnings: readonly string[];
  /** News for the model about the end of the last run. */
  readonly news: readonly string[];
  /** Calls that were denied in earlier runs. */
  readonly refusals: readonly RecordedDenial[];
  readonly stored: ResumedSessionState;
  /** The last turns as events, for display. */
  readonly past: readonly PastRunEvent[];
};

/** The opened session, or the reason why it cannot be opened. */
export type OpenSessionResult = ({ readonly ok: true } & OpenedSession) | OpenFailure;

/**
 * Opens the session of a run: finds, locks, reads, repairs and optionally forks it. Opening a new session creates no
 * session file; unsaved lines of earlier sessions are restored first.
 */
export async function openRunSession(
  options: CliRunOptions,
  environment: Environment,
  realCwd: string,
): Promise<OpenSessionResult> {
  const { session } = options;
  await restoreUnsavedSessions(environment.ouroHome);
  if (session.kind === 'new')
    return createNew(session.id ?? randomUUID(), getProjectDir(environment.ouroHome, realCwd));
  const found =
    session.kind === 'resume'
      ? await findSession(environment.ouroHome, realCwd, session.wanted)
      : await findNewestSession(environment.ouroHome, realCwd);
  if (!found.ok) return { ok: false, problem: found.problem };
  if (session.fork === 'fork' && session.id !== undefined && hasSessionFile(session.id, dirname(found.session.path)))
    return { ok: false, problem: describeTakenId(session.id) };
  return resume(found.session, session, options.persistence, environment, realCwd);
}

async function createNew(id: string, dir: string): Promise<OpenSessionResult> {
  if (await isSessionInUse(getTranscriptPath(dir, id))) return { ok: false, problem: describeTakenId(id) };
  const empty: Omit<OpenedSession, 'id' | 'dir' | 'isResumed' | 'lock' | 'stored'> = {
    past: [],
    messages: [],
    repairs: [],
    warnings: [],
    news: [],
    refusals: [],
  };
  return { ok: true, id, dir, isResumed: false, lock: undefined, stored: NEW_SESSION_STATE, ...empty };
}

/** Returns whether a file with this session id exists, even an empty one. */
const hasSessionFile = (id: string, dir: string) => isSessionStored(getTranscriptPath(dir, id));
const describeTakenId = (id: string) => `Session ${id} already exists. Resume it with: ouro --resume ${id}`;

/** The number of turns that a resumed session shows. */
const TURNS_SHOWN = 2;

/** The id a session is continued under, the file to read, and the lock of that file. */
type SessionLocation = {
  readonly ok: true;
  readonly id: string;
  readonly path: string;
  readonly lock?: SessionLock;
  /** The reason why the session was forked without a request. */
  readonly notice?: string;
};

type OpenFailure = { readonly ok: false; readonly problem: string };

type ResumeOptions = Exclude<CliRunOptions['session'], { kind: 'new' }>;

async function resume(
  summary: SessionSummary,
  wanted: ResumeOptions,
  persistence: CliRunOptions['persistence'],
  environment: Environment,
  realCwd: string,
): Promise<OpenSessionResult> {
  const location = await locateSession(summary, wanted, persistence, environment.ouroHome);
  if (!location.ok) return location;
  let opened: OpenSessionResult | undefined;
  try {
    const lastMessage = wanted.kind === 'resume' ? wanted.at : undefined;
    opened = await openLocated(summary, location, lastMessage, environment, realCwd);
    return opened;
  } finally {
    // Only an opened session keeps its lock.
    if (opened?.ok !== true) await location.lock?.release();
  }
}

async function openLocated(
  summary: SessionSummary,
  location: SessionLocation,
  lastMessage: string | undefined,
  environment: Environment,
  realCwd: string,
): Promise<OpenSessionResult> {
  const repaired = await readRepaired(summary, location.path, environment, realCwd);
  if (!repaired.ok) return repaired;
  const { readable, records, rebuilt, messages, repairs } = repaired;
  const truncated = truncateForResume(messages, lastMessage);
  if (!truncated.ok) return truncated;
  const isOpenElsewhere = await isWorkedOnElsewhere(summary, location);
  const { notice } = location;
  const { news, warnings, ended } = describeResume({ ...repaired, summary, realCwd, notice, isOpenElsewhere });
  return {
    ok: true,
    id: location.id,
    dir: dirname(summary.path),
    startedIn: summary.cwd,
    messages: truncated.messages,
    isResumed: true,
    lock: location.lock,
    repairs: [...repairs, ...truncated.records, ...ended],
    news,
    warnings,
    refusals: listRecordedDenials(readable.records),
    stored: decodeSessionState(rebuilt),
    past: buildPastEvents(truncated.messages, records, TURNS_SHOWN),
  };
}

/** Returns whether another process works on the session; its background work is still running then. */
async function isWorkedOnElsewhere({ path }: SessionSummary, { lock, notice }: SessionLocation): Promise<boolean> {
  return notice !== undefined || (lock === undefined && (await findSessionLockHolder(path)) !== undefined);
}

/** The content of a stored session, with the records that repair an interrupted end. */
type RepairedSession = {
  readonly ok: true;
  /** The records of the file, without unsealed permissions. */
  readonly readable: RecentSessionRecords;
  readonly hasUnsealedPermissions: boolean;
  /** The readable records and the text of an interrupted reply. */
  readonly records: readonly SessionRecord[];
  readonly rebuilt: RebuiltSession;
  /** The messages, with a result for every call. */
  readonly messages: readonly Message[];
  readonly repairs: readonly SessionRecordBody[];
};

async function readRepaired(
  summary: SessionSummary,
  path: string,
  environment: Environment,
  realCwd: string,
): Promise<RepairedSession | OpenFailure> {
  const stored = await readSessionForResume(path);
  const sealContext = createSealContext(environment.ouroHome, dirname(path));
  const permitted = dropUnsealedPermissions(stored.records, basename(path, '.jsonl'), sealContext);
  const readable = { ...stored, records: permitted.records };
  if (readable.damaged > 0 && !readable.records.some(isConversationRecord))
    return { ok: false, problem: describeDamagedSession({ id: summary.id, problem: NO_MESSAGES }) };
  const unfinished = await readUnfinishedReplyText(dirname(summary.path), summary.id);
  const withReply = restoreInterruptedReply(readable.records, unfinished, randomUUID);
  const records = withReply?.records ?? readable.records;
  const rebuilt = rebuildSession(records);
  const complete = await completeDanglingCalls(rebuilt, (at) => listChangedSince(at, realCwd, environment));
  const read = { ok: true, readable, hasUnsealedPermissions: permitted.isChanged, records, rebuilt } as const;
  if (withReply === undefined) return { ...read, messages: complete.messages, repairs: complete.records };
  const { block, notice } = withReply;
  return {
    ...read,
    messages: [...complete.messages, notice],
    repairs: [block, ...complete.records, { type: 'user', message: notice }],
  };
}

/** Locks or forks a session. Without persistence nothing is written, so neither is needed. */
async function locateSession(
  summary: SessionSummary,
  wanted: ResumeOptions,
  persistence: CliRunOptions['persistence'],
  ouroHome: string,
): Promise<SessionLocation | OpenFailure> {
  if (persistence !== 'memory') return lockOrFork(summary, wanted, ouroHome);
  const id = wanted.id ?? (wanted.fork === 'fork' ? randomUUID() : summary.id);
  return { ok: true, id, path: summary.path };
}

/** Locks the session; or forks it, on request or when another process has locked it. `never` fails in that case. */
async function lockOrFork(
  summary: SessionSummary,
  wanted: { fork: 'fork' | 'same' | 'never'; id?: string },
  ouroHome: string,
): Promise<SessionLocation | OpenFailure> {
  const fork = async (): Promise<SessionLocation> => {
    const id = wanted.id ?? randomUUID();
    return { ok: true, id, path: await forkSession(summary, id, ouroHome) };
  };
  if (wanted.fork === 'fork') return fork();
  const tried = await lockUnlessMoving(summary.path);
  if (tried.ok) return { ok: true, ...summary, lock: tried.lock };
  if (wanted.fork === 'never')
    return {
      ok: false,
      problem: `Session ${summary.id} is open in another ouro process. Close it there, or fork it.`,
    };
  return { ...(await fork()), notice: tried.problem };
}

const MOVING_MS = 500;
const PAUSE_MS = 20;

/** Locks a session. Another process may lock one with unsaved lines for a moment, to move them into its file. */
async function lockUnlessMoving(path: string): ReturnType<typeof lockSession> {
  const end = performance.now() + (findUnsavedFiles(path, listUnsavedFolders()).length > 0 ? MOVING_MS : 0);
  let tried = await lockSession(path);
  while (!tried.ok && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    tried = await lockSession(path);
  }
  return tried;
}

/** Lists files of the workspace that have changed since a time. */
async function listChangedSince(at: string, cwd: string, { ouroHome, home }: Environment): Promise<readonly string[]> {
  const since = Date.parse(at);
  if (Number.isNaN(since) || cwd === '/' || cwd === home) return [];
  const { entries } = await walkWorkspace([cwd], [ouroHome]);
  return [...entries].flatMap(([path, entry]) =>
    entry.kind === 'file' && Math.max(entry.mtimeMs, entry.ctimeMs) >= since ? [relative(cwd, path)] : [],
  );
}
