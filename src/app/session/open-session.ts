import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { walkWorkspace } from '../../checkpoints/walk-workspace.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { Message } from '../../contracts/message.ts';
import { type PastEvent, type RecordBody, SCHEMA_VERSION } from '../../contracts/session.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { pastEvents } from '../../session/past/past-events.ts';
import { projectDir, transcriptPath } from '../../session/paths.ts';
import { linesAside } from '../../session/records/aside.ts';
import { cutAnswer } from '../../session/records/cut-answer.ts';
import { settleDangling } from '../../session/records/dangling.ts';
import { endedWithRun } from '../../session/records/ended-with-run.ts';
import { type Rebuilt, rebuild } from '../../session/records/rebuild.ts';
import { type EarlierRefusal, refusalsOf } from '../../session/records/refusals.ts';
import { readOpenWords } from '../../session/running/answer-journal.ts';
import { type Claim, claimedBy, claimSession } from '../../session/running/claim.ts';
import { decodeSession, NEW_SESSION, type SessionState } from '../../session/session-state.ts';
import { resumeAt } from '../../session/stored/resume-at.ts';
import {
  findSession,
  forkSession,
  isTaken,
  newestSession,
  readSession,
  type SessionSummary,
} from '../../session/stored/store.ts';

/** The session a run is about: a new one, or what a stored one held. */
export type OpenedSession = {
  readonly id: string;
  /** The folder its file lies in: a session stays where it began, wherever it is resumed from. */
  readonly dir: string;
  /** The folder an earlier run began it in. */
  readonly beganIn?: string;
  readonly messages: readonly Message[];
  readonly isResumed: boolean;
  readonly claim: Claim | undefined;
  /** Lines that an earlier run could not write: they come before all others. */
  readonly unsaved: readonly string[];
  /** To be written before anything is sent: what the end of the last process left open. */
  readonly settled: readonly RecordBody[];
  readonly warnings: readonly string[];
  /** What the model should know of how the last run ended. */
  readonly news: readonly string[];
  /** Calls that earlier runs refused. */
  readonly refusals: readonly EarlierRefusal[];
  readonly stored: SessionState;
  /** Its last turns, as they were seen. */
  readonly past: readonly PastEvent[];
};

export type SessionOpening = ({ readonly ok: true } & OpenedSession) | { readonly ok: false; readonly problem: string };

/** Finds, claims, reads, repairs and if asked forks the session; a new one touches no disk. */
export async function openSession(
  options: RunOptions,
  environment: Environment,
  realCwd: string,
): Promise<SessionOpening> {
  const { session } = options;
  if (session.kind === 'new') return fresh(session.id ?? randomUUID(), projectDir(environment.ouroHome, realCwd));
  const found =
    session.kind === 'resume'
      ? await findSession(environment.ouroHome, realCwd, session.wanted)
      : await newest(environment, realCwd);
  if (!found.ok) return { ok: false, problem: found.why };
  if (session.fork === 'fork' && session.id !== undefined && isThere(session.id, dirname(found.session.path)))
    return { ok: false, problem: takenWords(session.id) };
  return resume(found.session, session, options.persistence, environment, realCwd);
}

async function fresh(id: string, dir: string): Promise<SessionOpening> {
  if (await isTaken(transcriptPath(dir, id))) return { ok: false, problem: takenWords(id) };
  const nothing = { past: [], messages: [], unsaved: [], settled: [], warnings: [], news: [], refusals: [] };
  return { ok: true, id, dir, isResumed: false, claim: undefined, stored: NEW_SESSION, ...nothing };
}

/** A copy goes where no file is at all. */
const isThere = (id: string, dir: string) => existsSync(transcriptPath(dir, id));
const takenWords = (id: string) => `There is a session ${id} already. Go on with it: ouro --resume ${id}`;

async function newest(environment: Environment, realCwd: string) {
  const first = await newestSession(environment.ouroHome, realCwd);
  return first === undefined
    ? { ok: false as const, why: 'There is no session of this folder to go on with.' }
    : { ok: true as const, session: first };
}

/** How many of its last turns a resumed session shows. */
const TURNS_SHOWN = 2;

type Place = { readonly id: string; readonly path: string; readonly claim?: Claim; readonly notice?: string };

async function resume(
  summary: SessionSummary,
  wanted: Exclude<RunOptions['session'], { kind: 'new' }>,
  persistence: RunOptions['persistence'],
  environment: Environment,
  realCwd: string,
): Promise<SessionOpening> {
  // Without persistence nothing is written, so nothing needs to be owned.
  const place =
    persistence === 'memory'
      ? { id: wanted.id ?? (wanted.fork === 'fork' ? randomUUID() : summary.id), path: summary.path }
      : await takePlace(summary, wanted);
  const unsaved = linesAside(summary.id);
  const read = await readSession(place.path, unsaved);
  const broken = cutAnswer(read.records, await readOpenWords(dirname(summary.path), summary.id), randomUUID);
  const rebuilt = rebuild(broken?.records ?? read.records);
  const whole = await settleDangling(rebuilt, (at) => changedSince(at, realCwd, environment));
  const told = broken === undefined ? whole.messages : [...whole.messages, broken.line];
  const cut = resumeAt(told, wanted.kind === 'resume' ? wanted.at : undefined);
  if (!cut.ok) {
    await place.claim?.release();
    return cut;
  }
  // What another ouro works on still runs there: nobody has ended it.
  const isElsewhere =
    place.notice !== undefined || (place.claim === undefined && (await claimedBy(summary.path)) !== undefined);
  const { left: killed, ended } = isElsewhere ? { left: [], ended: [] } : leftRunning(rebuilt);
  const left = isElsewhere ? killed : [...killed, ...endedWords(endedWithRun(read.records))];
  return {
    ok: true,
    id: place.id,
    dir: dirname(summary.path),
    beganIn: summary.cwd,
    messages: cut.messages,
    isResumed: true,
    claim: place.claim,
    unsaved,
    settled: [
      ...(broken === undefined ? [] : [broken.block]),
      ...whole.records,
      ...(broken === undefined ? [] : [{ type: 'user' as const, message: broken.line }]),
      ...cut.records,
      ...ended,
    ],
    news: left,
    warnings: [
      ...left,
      ...(place.notice === undefined ? [] : [place.notice]),
      ...leftOutWords(read),
      ...damageWords(read),
      ...newerWords(read),
    ],
    refusals: refusalsOf(read.records),
    stored: decodeSession(rebuilt),
    past: pastEvents(cut.messages, broken?.records ?? read.records, TURNS_SHOWN),
  };
}

/** The session itself, or a copy of it: when that was asked for, and when somebody else works on it. */
async function takePlace(summary: SessionSummary, wanted: { fork: 'fork' | 'same'; id?: string }): Promise<Place> {
  const copy = async (): Promise<Place> => {
    const id = wanted.id ?? randomUUID();
    return { id, path: await forkSession(summary, id) };
  };
  if (wanted.fork === 'fork') return copy();
  const tried = await claimSession(summary.path);
  return tried.ok ? { ...summary, claim: tried.claim } : { ...(await copy()), notice: tried.notice };
}

function leftOutWords({ leftOut }: Awaited<ReturnType<typeof readSession>>): readonly string[] {
  if (leftOut === 0) return [];
  return [
    `This session is too long to be sent: it goes on with its end and with what you typed before. The ${formatBytes(leftOut)} before that stay in the file.`,
  ];
}

function damageWords({ damaged, salvaged, doubled }: Awaited<ReturnType<typeof readSession>>): readonly string[] {
  const hurt = [
    ...(damaged > 0 ? [`${damaged} unreadable`] : []),
    ...(salvaged > 0 ? [`${salvaged} repaired`] : []),
    ...(doubled > 0 ? [`${doubled} doubled`] : []),
  ];
  return hurt.length === 0 ? [] : [`The session file was damaged. Lines: ${hurt.join(', ')}. Everything else is here.`];
}

/** Lines of a later ouro are kept as they are; what this one does not know it leaves out. */
function newerWords({ records }: Awaited<ReturnType<typeof readSession>>): readonly string[] {
  const newer = records.find(({ v }) => v > SCHEMA_VERSION);
  if (newer === undefined) return [];
  return [
    `A newer ouro (${newer.version}) has written to this session. What this one does not understand is left out here, and kept in the file.`,
  ];
}

const NAMED = 5;

/** Work in the background that ended in order, with the process. */
function endedWords(titles: readonly string[]): readonly string[] {
  return titles.length === 0 ? [] : [`Ended with the last run of this session: ${named(titles)}.`];
}

function named(titles: readonly string[]): string {
  const more = titles.length > NAMED ? ` and ${titles.length - NAMED} more` : '';
  return `${titles.slice(0, NAMED).join('; ')}${more}`;
}

/** Commands that a kill had left running: they are ended before the first prompt, and both sides should know. */
function leftRunning({ running }: Rebuilt): {
  readonly left: readonly string[];
  readonly ended: readonly RecordBody[];
} {
  if (running.size === 0) return { left: [], ended: [] };
  const commands = [...new Set(running.values())].map((command) => command.split('\n', 1)[0] ?? '');
  return {
    left: [`Still running when the last run of this session was killed, and ended now: ${named(commands)}.`],
    ended: [...running.keys()].map((pgid) => ({ type: 'child', phase: 'ended', pgid, detail: {} })),
  };
}

/** Files of the workspace that are younger than this moment. */
async function changedSince(at: string, cwd: string, { ouroHome, home }: Environment): Promise<readonly string[]> {
  const since = Date.parse(at);
  if (Number.isNaN(since) || cwd === '/' || cwd === home) return [];
  const { entries } = await walkWorkspace([cwd], [ouroHome]);
  return [...entries].flatMap(([path, entry]) =>
    entry.kind === 'file' && Math.max(entry.mtimeMs, entry.ctimeMs) >= since ? [relative(cwd, path)] : [],
  );
}
