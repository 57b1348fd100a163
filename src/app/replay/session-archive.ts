import { realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { compareRebuiltRequests, type RequestComparisonResult } from '../../agent/replay/rebuild-requests.ts';
import { splitIntoRecordedRuns } from '../../agent/replay/recorded-runs.ts';
import { replayRun } from '../../agent/replay/replay-run.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { ActionResult } from '../../contracts/frontend/host-capabilities.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { renderClaudeTranscript } from '../../session/mirror/claude-transcript-mirror.ts';
import { parseSessionRecords } from '../../session/records/parse-session-records.ts';
import { readTranscript } from '../../session/records/read-transcript.ts';
import { checkSession, repairSession, type SessionDamageReport } from '../../session/store/check-session.ts';
import { buildDialogue } from '../../session/store/dialogue.ts';
import { exportSession, type SessionExportFormat } from '../../session/store/export-session.ts';
import {
  type FoundSession,
  findNewestSession,
  findSession,
  listSessions,
  type ScannedSessions,
  scanSessions,
} from '../../session/store/find-sessions.ts';
import { deleteSession, renameSession } from '../../session/store/manage-sessions.ts';
import { pruneSessions } from '../../session/store/prune-sessions.ts';
import { type SessionSearchHit, searchSessions } from '../../session/store/search-sessions.ts';
import type { SessionFile, SessionSummary } from '../../session/store/session-summary.ts';
import { createBugReportCapsule } from './bug-report-capsule.ts';

export type { SessionSummary } from '../../session/store/session-summary.ts';

/** The operations on stored sessions that do not open a session. */
export type StoredSessionOperations = {
  list(scope: 'folder' | 'all'): Promise<readonly SessionSummary[]>;
  /** Lists sessions and the damaged ones. */
  scan(scope: 'folder' | 'all'): Promise<ScannedSessions>;
  find(wanted: string): Promise<FoundSession>;
  /** Returns the newest session of this folder. */
  newest(): Promise<FoundSession>;
  check(session: SessionFile, what: 'look' | 'repair'): Promise<SessionDamageReport & { readonly repaired?: string }>;
  search(text: string, scope: 'folder' | 'all', signal: AbortSignal): AsyncGenerator<SessionSearchHit, void>;
  rename(session: SessionSummary, title: string): Promise<ActionResult>;
  delete(session: SessionFile): Promise<ActionResult>;
  export(session: SessionSummary, format: SessionExportFormat | 'claude'): Promise<string>;
  capsule(session: SessionSummary): Promise<string>;
  /** Replays a session file or a capsule. */
  replay(path: string): Promise<SessionReplayResult>;
  prune(days: number, mode: 'delete' | 'preview'): Promise<readonly SessionSummary[]>;
};

/** Opens the archive of stored sessions. */
export function createStoredSessionOperations(
  { ouroHome, home }: Pick<Environment, 'ouroHome' | 'home'>,
  cwd: string,
): StoredSessionOperations {
  const realCwd = realpath(cwd).catch(() => cwd);
  const resolveFolder = async (scope: 'folder' | 'all') => (scope === 'all' ? undefined : await realCwd);
  const list: StoredSessionOperations['list'] = async (scope) => listSessions(ouroHome, await resolveFolder(scope));
  return {
    list,
    scan: async (scope) => scanSessions(ouroHome, await resolveFolder(scope)),
    find: async (wanted) => findSession(ouroHome, await realCwd, wanted),
    newest: async () => findNewestSession(ouroHome, await realCwd),
    async check(session, what) {
      const report = await checkSession(session);
      if (what === 'look' || report.state === 'sound') return report;
      const repair = await repairSession(session);
      if (!repair.ok) return { ...report, words: `${report.words}; not repaired: ${repair.problem}` };
      return { ...report, repaired: repair.backup };
    },
    async *search(text, scope, signal) {
      yield* searchSessions(await list(scope), text, signal);
    },
    rename: (session, title) => renameSession(session, title, { newId: () => crypto.randomUUID(), now: Date.now }),
    delete: deleteSession,
    async export(session, format) {
      if (format === 'claude') return renderClaudeTranscript(session);
      const { records } = await readTranscript(session.path);
      const { id, title, cwd: folder, gitBranch } = session;
      return exportSession({ id, title, cwd: folder, gitBranch, items: buildDialogue(records) }, format);
    },
    async capsule(session) {
      const { records } = await readTranscript(session.path);
      return createBugReportCapsule(records, { home, user: getUserName() });
    },
    replay: async (path) => verifyRecordsReplay((await readTranscript(path)).records),
    prune: (days, mode) => pruneSessions(ouroHome, { days, nowMs: Date.now(), mode }),
  };
}

/** Renders the text of a session file as Markdown. */
export function renderSessionAsMarkdown(transcript: string, title: string): string {
  const { records } = parseSessionRecords(transcript);
  const [first] = records;
  const about = { id: first?.sessionId ?? '', title, cwd: first?.cwd ?? '', gitBranch: undefined };
  return exportSession({ ...about, items: buildDialogue(records) }, 'markdown');
}

function getUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id has no name.
    return '';
  }
}

/** Returns the path if it leads to a regular file. */
export async function getPathIfFile(path: string): Promise<string | undefined> {
  return (await stat(path).catch(() => undefined))?.isFile() === true ? path : undefined;
}

/** A replay, with the number of runs that the loop was driven through. */
export type SessionReplayResult = RequestComparisonResult & {
  readonly runs: number;
  readonly driven: number;
  /** Reasons why other runs were only rebuilt. */
  readonly notDriven: readonly string[];
};

/**
 * Replays a session: rebuilds every request, then drives the loop through every run. All requests must be identical.
 * @internal Exported for tests.
 */
export async function verifyRecordsReplay(records: readonly SessionRecord[]): Promise<SessionReplayResult> {
  const replay = compareRebuiltRequests(records);
  if (replay.difference !== undefined) return { ...replay, runs: 0, driven: 0, notDriven: [] };
  let driven = 0;
  const notDriven: string[] = [];
  for (const run of splitIntoRecordedRuns(records)) {
    const outcome = await replayRun(run);
    if (outcome.kind === 'same') driven += 1;
    else if (outcome.kind === 'not driven') notDriven.push(outcome.why);
    else return { ...replay, runs: driven + notDriven.length + 1, driven, notDriven, difference: outcome.difference };
  }
  return { ...replay, runs: driven + notDriven.length, driven, notDriven };
}
