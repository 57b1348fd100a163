import { randomUUID } from 'node:crypto';
import { basename, dirname, relative, sep } from 'node:path';
import { walkWorkspace } from '../checkpoints/walk-workspace.ts';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { Message } from '../contracts/message.ts';
import type { PastRunEvent, SessionRecordBody } from '../contracts/session.ts';
import { findRepositoryRoot } from '../git/git-repository.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { formatBytes } from '../lib/text/format.ts';
import { getProjectDir, getTranscriptPath, getWorktreesFolder } from './paths.ts';
import { decodeSessionState, NEW_SESSION_STATE, type ResumedSessionState } from './persisted-state.ts';
import { findSessionLockHolder, lockSession, type SessionLock } from './process-locks.ts';
import { createSealContext, dropUnsealedPermissions } from './records/permission-seal.ts';
import { completeDanglingCalls, type RebuiltSession, rebuildSession } from './records/rebuild-session.ts';
import { SESSION_SCHEMA_VERSION } from './records/session-record-writer.ts';
import { readUnfinishedReplyText, restoreInterruptedReply } from './reply-journal.ts';
import { listRecordedDenials, listTasksEndedWithRun, type RecordedDenial } from './resume/earlier-run.ts';
import { buildPastEvents } from './resume/past-events.ts';
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
export type OpenSessionResult =
  | ({ readonly ok: true } & OpenedSession)
  | { readonly ok: false; readonly problem: string };

/** Opens the session of a run: finds, locks, reads, repairs and optionally forks it. A new session touches no file. */
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
  if (!found.ok) return { ok: false, problem: found.why };
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

const NOT_SEALED =
  'The session file has permissions, folders or a mode that this ouro did not write there. They are not restored: answer again when you are asked.';

/** Returns whether a file with this session id exists, even an empty one. */
const hasSessionFile = (id: string, dir: string) => isSessionStored(getTranscriptPath(dir, id));
const describeTakenId = (id: string) => `Session ${id} already exists. Resume it with: ouro --resume ${id}`;

/** The number of turns that a resumed session shows. */
const TURNS_SHOWN = 2;

type SessionLocation = {
  readonly ok: true;
  readonly id: string;
  readonly path: string;
  readonly claim?: SessionLock;
  readonly notice?: string;
};

async function resume(
  summary: SessionSummary,
  wanted: Exclude<CliRunOptions['session'], { kind: 'new' }>,
  persistence: CliRunOptions['persistence'],
  environment: Environment,
  realCwd: string,
): Promise<OpenSessionResult> {
  // Without persistence nothing is written, so no lock is needed.
  const location =
    persistence === 'memory'
      ? { ok: true as const, id: wanted.id ?? (wanted.fork === 'fork' ? randomUUID() : summary.id), path: summary.path }
      : await lockOrFork(summary, wanted, environment.ouroHome);
  if (!location.ok) return location;
  const stored = await readSessionForResume(location.path);
  const permitted = dropUnsealedPermissions(
    stored.records,
    basename(location.path, '.jsonl'),
    createSealContext(environment.ouroHome, dirname(location.path)),
  );
  const read = { ...stored, records: permitted.records };
  if (read.damaged > 0 && !read.records.some(isConversationRecord)) {
    await location.claim?.release();
    return { ok: false, problem: describeDamagedSession({ id: summary.id, problem: NO_MESSAGES }) };
  }
  const interrupted = restoreInterruptedReply(
    read.records,
    await readUnfinishedReplyText(dirname(summary.path), summary.id),
    randomUUID,
  );
  const rebuilt = rebuildSession(interrupted?.records ?? read.records);
  const repaired = await completeDanglingCalls(rebuilt, (at) => listChangedSince(at, realCwd, environment));
  const messages = interrupted === undefined ? repaired.messages : [...repaired.messages, interrupted.notice];
  const cut = truncateForResume(messages, wanted.kind === 'resume' ? wanted.at : undefined);
  if (!cut.ok) {
    await location.claim?.release();
    return cut;
  }
  // If another process works on the session, its background work is still running.
  const isOpenElsewhere =
    location.notice !== undefined ||
    (location.claim === undefined && (await findSessionLockHolder(summary.path)) !== undefined);
  const { left: killed, ended } = isOpenElsewhere ? { left: [], ended: [] } : describeKilledCommands(rebuilt);
  const news = isOpenElsewhere ? killed : [...killed, ...describeEndedWork(listTasksEndedWithRun(read.records))];
  return {
    ok: true,
    id: location.id,
    dir: dirname(summary.path),
    startedIn: summary.cwd,
    messages: cut.messages,
    isResumed: true,
    lock: location.claim,
    repairs: [
      ...(interrupted === undefined ? [] : [interrupted.block]),
      ...repaired.records,
      ...(interrupted === undefined ? [] : [{ type: 'user' as const, message: interrupted.notice }]),
      ...cut.records,
      ...ended,
    ],
    news,
    warnings: [
      ...news,
      ...describeWorktree(summary, realCwd),
      ...(location.notice === undefined ? [] : [location.notice]),
      ...(permitted.isChanged ? [NOT_SEALED] : []),
      ...describeOmittedPart(read),
      ...describeDamage(read),
      ...describeNewerVersion(read),
    ],
    refusals: listRecordedDenials(read.records),
    stored: decodeSessionState(rebuilt),
    past: buildPastEvents(cut.messages, interrupted?.records ?? read.records, TURNS_SHOWN),
  };
}

/** Locks the session; or forks it, on request or when another process has locked it. `never` fails in that case. */
async function lockOrFork(
  summary: SessionSummary,
  wanted: { fork: 'fork' | 'same' | 'never'; id?: string },
  ouroHome: string,
): Promise<SessionLocation | { readonly ok: false; readonly problem: string }> {
  const fork = async (): Promise<SessionLocation> => {
    const id = wanted.id ?? randomUUID();
    return { ok: true, id, path: await forkSession(summary, id, ouroHome) };
  };
  if (wanted.fork === 'fork') return fork();
  const tried = await lockUnlessMoving(summary.path);
  if (tried.ok) return { ok: true, ...summary, claim: tried.lock };
  if (wanted.fork === 'never')
    return {
      ok: false,
      problem: `Session ${summary.id} is open in another ouro process. Close it there, or fork it.`,
    };
  return { ...(await fork()), notice: tried.notice };
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

/** Names the way back to the worktree of a session that is resumed elsewhere. */
function describeWorktree({ id, cwd }: SessionSummary, realCwd: string): readonly string[] {
  const worktrees = getWorktreesFolder(findRepositoryRoot(realCwd));
  const [folder = ''] = relative(worktrees, cwd).split(sep);
  if (folder === '' || !isPathBelow(worktrees, cwd)) return [];
  return [`This session worked in the worktree ${cwd}. To continue there: ouro -w ${folder} -r ${id}`];
}

function describeOmittedPart({ omittedBytes }: Awaited<ReturnType<typeof readSessionForResume>>): readonly string[] {
  if (omittedBytes === 0) return [];
  return [
    `This session is too long to send. It continues with its end and your earlier prompts; the other ${formatBytes(omittedBytes)} stay in the file.`,
  ];
}

function describeDamage({
  damaged,
  salvaged,
  doubled,
}: Awaited<ReturnType<typeof readSessionForResume>>): readonly string[] {
  const counts = [
    ...(damaged > 0 ? [`${damaged} unreadable`] : []),
    ...(salvaged > 0 ? [`${salvaged} repaired`] : []),
    ...(doubled > 0 ? [`${doubled} duplicate`] : []),
  ];
  if (counts.length === 0) return [];
  return [`The session file was damaged. Lines: ${counts.join(', ')}. The rest is intact.`];
}

/** Warns about records of a newer version: unknown records are ignored, but kept in the file. */
function describeNewerVersion({ records }: Awaited<ReturnType<typeof readSessionForResume>>): readonly string[] {
  const newer = records.find(({ v }) => v > SESSION_SCHEMA_VERSION);
  if (newer === undefined) return [];
  return [
    `A newer ouro (${newer.version}) has written to this session. Unknown records are ignored and kept in the file.`,
  ];
}

const MAX_LISTED = 5;

/** Describes background work that ended with the last process. */
function describeEndedWork(titles: readonly string[]): readonly string[] {
  return titles.length === 0 ? [] : [`Ended with the last run of this session: ${listTitles(titles)}.`];
}

function listTitles(titles: readonly string[]): string {
  const more = titles.length > MAX_LISTED ? ` and ${titles.length - MAX_LISTED} more` : '';
  return `${titles.slice(0, MAX_LISTED).join('; ')}${more}`;
}

/** Describes commands that a killed process left running; they are ended before the first prompt. */
function describeKilledCommands({ runningCommands }: RebuiltSession): {
  readonly left: readonly string[];
  readonly ended: readonly SessionRecordBody[];
} {
  if (runningCommands.size === 0) return { left: [], ended: [] };
  const commands = [...new Set(runningCommands.values())].map((command) => command.split('\n', 1)[0] ?? '');
  return {
    left: [`Still running when the last run of this session was killed, and ended now: ${listTitles(commands)}.`],
    ended: [...runningCommands.keys()].map((pgid) => ({ type: 'child', phase: 'ended', pgid, detail: {} })),
  };
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
