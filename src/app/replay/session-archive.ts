import { realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { Environment } from '../../contracts/environment.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { claudeTranscript } from '../../session/mirror/stored-lines.ts';
import { readRecords } from '../../session/records/read-records.ts';
import { readTranscript } from '../../session/records/read-transcript.ts';
import { type CheckReport, checkSession, repairSession } from '../../session/stored/check.ts';
import { dialogueOf } from '../../session/stored/dialogue.ts';
import { type ExportFormat, exportSession } from '../../session/stored/export-session.ts';
import { type SearchHit, searchSessions } from '../../session/stored/search.ts';
import {
  type Done,
  deleteSession,
  findSession,
  listSessions,
  newestSession,
  pruneSessions,
  renameSession,
  type SessionSummary,
} from '../../session/stored/store.ts';
import { driveRun } from './drive-run.ts';
import { makeCapsule } from './make-capsule.ts';
import { recordedRuns } from './recorded-runs.ts';
import { type Replay, replaySession } from './replay-session.ts';

export type { ExportFormat } from '../../session/stored/export-session.ts';
export type { SessionSummary } from '../../session/stored/store.ts';

type Found = { readonly ok: true; readonly session: SessionSummary } | { readonly ok: false; readonly why: string };

/** Everything that can be done with stored sessions without opening one. */
export type SessionArchive = {
  list(scope: 'folder' | 'all'): Promise<readonly SessionSummary[]>;
  find(wanted: string): Promise<Found>;
  /** The newest of this folder. */
  newest(): Promise<Found>;
  check(session: SessionSummary, what: 'look' | 'repair'): Promise<CheckReport & { readonly repaired?: string }>;
  search(words: string, scope: 'folder' | 'all', signal: AbortSignal): AsyncGenerator<SearchHit, void>;
  rename(session: SessionSummary, title: string): Promise<Done>;
  delete(session: SessionSummary): Promise<Done>;
  exported(session: SessionSummary, format: ExportFormat | 'claude'): Promise<string>;
  capsule(session: SessionSummary): Promise<string>;
  /** Of a session, or of the file of a capsule. */
  replay(path: string): Promise<Rerun>;
  prune(days: number, mode: 'delete' | 'preview'): Promise<readonly SessionSummary[]>;
};

export function openArchive({ ouroHome, home }: Pick<Environment, 'ouroHome' | 'home'>, cwd: string): SessionArchive {
  const here = realpath(cwd).catch(() => cwd);
  const list: SessionArchive['list'] = async (scope) =>
    listSessions(ouroHome, scope === 'all' ? undefined : await here);
  return {
    list,
    find: async (wanted) => findSession(ouroHome, await here, wanted),
    async newest() {
      const session = await newestSession(ouroHome, await here);
      return session === undefined
        ? { ok: false, why: 'There is no session of this folder. "ouro sessions list --all" shows those of others.' }
        : { ok: true, session };
    },
    async check(session, what) {
      const report = await checkSession(session);
      if (what === 'look' || report.words === 'sound') return report;
      const repair = await repairSession(session);
      if (!repair.ok) return { ...report, words: `${report.words}; not repaired: ${repair.why}` };
      return { ...report, repaired: repair.backup };
    },
    async *search(words, scope, signal) {
      yield* searchSessions(await list(scope), words, signal);
    },
    rename: (session, title) => renameSession(session, title, { newId: () => crypto.randomUUID(), now: Date.now }),
    delete: deleteSession,
    async exported(session, format) {
      if (format === 'claude') return claudeTranscript(session);
      const { records } = await readTranscript(session.path);
      const { id, title, cwd: folder, gitBranch } = session;
      return exportSession({ id, title, cwd: folder, gitBranch, items: dialogueOf(records) }, format);
    },
    async capsule(session) {
      const { records } = await readTranscript(session.path);
      return makeCapsule(records, { home, user: userName() });
    },
    replay: async (path) => rerunSession((await readTranscript(path)).records),
    prune: (days, mode) => pruneSessions(ouroHome, { days, nowMs: Date.now(), mode }),
  };
}

/** A stored session for reading, from the text of its file. */
export function conversationText(transcript: string, title: string): string {
  const { records } = readRecords(transcript);
  const [first] = records;
  const about = { id: first?.sessionId ?? '', title, cwd: first?.cwd ?? '', gitBranch: undefined };
  return exportSession({ ...about, items: dialogueOf(records) }, 'markdown');
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // Nobody has a name for this number.
    return '';
  }
}

/** The path, when a file is there. */
export async function fileAt(path: string): Promise<string | undefined> {
  return (await stat(path).catch(() => undefined))?.isFile() === true ? path : undefined;
}

/** A replay, and how much of it the loop itself went through once more. */
export type Rerun = Replay & {
  readonly runs: number;
  readonly driven: number;
  /** Why the others were only rebuilt. */
  readonly notDriven: readonly string[];
};

/**
 * Every request rebuilt from what stood before it; then every run driven through the loop, which must ask the same.
 * @internal Exported for tests.
 */
export async function rerunSession(records: readonly SessionRecord[]): Promise<Rerun> {
  const replay = replaySession(records);
  if (replay.difference !== undefined) return { ...replay, runs: 0, driven: 0, notDriven: [] };
  let driven = 0;
  const notDriven: string[] = [];
  for (const run of recordedRuns(records)) {
    const came = await driveRun(run);
    if (came.kind === 'same') driven += 1;
    else if (came.kind === 'not driven') notDriven.push(came.why);
    else return { ...replay, runs: driven + notDriven.length + 1, driven, notDriven, difference: came.difference };
  }
  return { ...replay, runs: driven + notDriven.length, driven, notDriven };
}
