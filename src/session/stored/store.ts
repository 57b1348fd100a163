import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, cp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { lastHeardPath, projectDir, sessionFolder, transcriptPath } from '../paths.ts';
import { createAppendFile } from '../records/append-file.ts';
import { diskAppendFs } from '../records/append-fs.ts';
import { type RecentRecords, readRecent, sinceLostRewind } from '../records/read-transcript.ts';
import { rebuild } from '../records/rebuild.ts';
import { makeRecord } from '../records/record-writer.ts';
import type { Transcript } from '../records/transcript.ts';
import { answerPath } from '../running/answer-journal.ts';
import { claimedBy, lockPath } from '../running/claim.ts';
import { type SessionSummary, summarizeSession, summaryScratch } from './summary.ts';

export type { SessionSummary } from './summary.ts';

export type Done = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** How many files are looked at before others get a turn. */
const SLICE = 250;

/** The sessions of one directory, newest first; of all directories when none is named. */
export async function listSessions(ouroHome: string, realCwd?: string): Promise<readonly SessionSummary[]> {
  const dirs = realCwd === undefined ? await allDirs(ouroHome) : [projectDir(ouroHome, realCwd)];
  const files = (await Promise.all(dirs.map(filesOf))).flat();
  const summaries: SessionSummary[] = [];
  const scratch = summaryScratch();
  for (const [at, path] of files.entries()) {
    if (at > 0 && at % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    const summary = summarizeSession(path, scratch);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries.toSorted((a, b) => b.modifiedMs - a.modifiedMs);
}

/** The session of a directory that was worked in last; by the times of the files where that was never noted. */
export async function newestSession(ouroHome: string, realCwd: string): Promise<SessionSummary | undefined> {
  const dir = projectDir(ouroHome, realCwd);
  const heard = await readFile(lastHeardPath(dir), 'utf8').catch(() => '');
  const noted = /^[\w-]+$/.test(heard) ? summarizeSession(transcriptPath(dir, heard)) : undefined;
  return noted ?? (await listSessions(ouroHome, realCwd))[0];
}

/** The session meant by an id, the beginning of one, or a title. */
export async function findSession(
  ouroHome: string,
  realCwd: string,
  wanted: string,
): Promise<{ readonly ok: true; readonly session: SessionSummary } | { readonly ok: false; readonly why: string }> {
  const here = await listSessions(ouroHome, realCwd);
  const pool = matching(here, wanted);
  const found = pool.length > 0 ? pool : matching(await listSessions(ouroHome), wanted);
  const [first, second] = found;
  if (first === undefined)
    return { ok: false, why: `There is no session "${wanted}". "ouro sessions list" shows what there is.` };
  if (second !== undefined && first.id !== wanted) {
    const names = found.slice(0, 5).map(({ id, title }) => `${id} (${title})`);
    return { ok: false, why: `"${wanted}" fits several sessions: ${names.join(', ')}. Use more of the id.` };
  }
  return { ok: true, session: first };
}

function matching(sessions: readonly SessionSummary[], wanted: string): readonly SessionSummary[] {
  if (wanted === '') return [];
  const exact = sessions.filter(({ id, title }) => id === wanted || title === wanted);
  if (exact.length > 0) return exact;
  const lower = wanted.toLowerCase();
  return sessions.filter(({ id, title }) => id.startsWith(lower) || title.toLowerCase() === lower);
}

/**
 * What a resume needs of a session: from its last boundary on, or all of it when it went back behind that. `unsaved` are
 * lines that belong behind it.
 */
export async function readSession(path: string, unsaved: readonly string[] = []): Promise<RecentRecords> {
  const recent = await readRecent(path, 'from-boundary', { unsaved });
  if (!rebuild(recent.records).incomplete) return recent;
  const all = await readRecent(path, 'all', { unsaved });
  return all.leftOut === 0 ? all : { ...all, records: sinceLostRewind(all.records) };
}

/** Gives a stored session a name. */
export async function renameSession(
  session: SessionSummary,
  title: string,
  clock: { readonly newId: () => string; readonly now: () => number },
): Promise<Done> {
  const { records } = await readRecent(session.path, 'from-boundary');
  const last = records.at(-1);
  if (last === undefined) return { ok: false, why: `The session ${session.id} holds nothing that could be named.` };
  const record = makeRecord(
    { type: 'title', title, by: 'person' },
    {
      uuid: clock.newId(),
      parentUuid: last.uuid,
      sessionId: session.id,
      timestamp: new Date(clock.now()).toISOString(),
      cwd: session.cwd,
      version: last.version,
    },
  );
  let problem: string | undefined;
  const file = createAppendFile(session.path, diskAppendFs, (news) => {
    problem = news.what === 'failed' ? news.why : undefined;
  });
  await file.append(`${JSON.stringify(record)}\n`);
  await file.close();
  return problem === undefined ? { ok: true } : { ok: false, why: `The title could not be saved: ${problem}` };
}

/** Removes a session with everything that was kept for it. One that is open somewhere stays. */
export async function deleteSession(session: SessionSummary): Promise<Done> {
  const holder = await claimedBy(session.path);
  if (holder !== undefined) {
    return { ok: false, why: `The session is open in process ${holder.pid}. Close it there first.` };
  }
  const dir = dirname(session.path);
  await rm(session.path, { force: true });
  const copies = (await namesIn(dir)).filter((name) => name.startsWith(`${basename(session.path)}.damaged`));
  for (const name of copies) await rm(join(dir, name), { force: true });
  await rm(lockPath(session.path), { force: true });
  await rm(sessionFolder(dir, session.id), { recursive: true, force: true });
  await rm(join(dir, 'drafts', `${session.id}.json`), { force: true });
  await rm(answerPath(dir, session.id), { force: true });
  return { ok: true };
}

/** Deletes what nobody touched for so many days; answers with what went. Open sessions stay. */
export async function pruneSessions(
  ouroHome: string,
  limits: { readonly days: number; readonly nowMs: number; readonly mode: 'delete' | 'preview' },
): Promise<readonly SessionSummary[]> {
  const oldest = limits.nowMs - limits.days * 86_400_000;
  const old = (await listSessions(ouroHome)).filter(({ modifiedMs }) => modifiedMs < oldest);
  const gone: SessionSummary[] = [];
  for (const session of old) {
    const done = limits.mode === 'delete' ? await deleteSession(session) : { ok: true };
    if (done.ok) gone.push(session);
  }
  if (limits.mode === 'delete') for (const dir of await allDirs(ouroHome)) await sweep(dir, oldest);
  return gone;
}

/** Files that a kill left before anything was said, and drafts that nobody came back for. */
async function sweep(dir: string, oldestMs: number): Promise<void> {
  const empty = (await filesOf(dir)).filter((path) => summarizeSession(path) === undefined);
  const drafts = (await namesIn(join(dir, 'drafts'))).map((name) => join(dir, 'drafts', name));
  for (const path of [...empty, ...drafts]) {
    const age = (await stat(path).catch(() => undefined))?.mtimeMs;
    if (age === undefined || age >= oldestMs || (await claimedBy(path)) !== undefined) continue;
    await rm(path, { force: true });
    await rm(lockPath(path), { force: true });
  }
}

/** Is something in this file, or somebody about to write to it? What a kill left empty is free. */
export async function isTaken(path: string): Promise<boolean> {
  return summarizeSession(path) !== undefined || (await claimedBy(path)) !== undefined;
}

/** A copy under a new id with everything that was kept for it; the original stays as it is. */
export async function forkSession(session: Pick<SessionSummary, 'id' | 'path'>, newId: string): Promise<string> {
  const dir = dirname(session.path);
  const path = transcriptPath(dir, newId);
  await copyFile(session.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  try {
    await cp(sessionFolder(dir, session.id), sessionFolder(dir, newId), {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      // What only waits for being changed by a command that runs here is of no use to the copy.
      filter: (source) => !/^pack(-index)?$/.test(basename(source)),
    });
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
  return path;
}

async function allDirs(ouroHome: string): Promise<readonly string[]> {
  const root = join(ouroHome, 'projects');
  return (await namesIn(root)).map((name) => join(root, name));
}

async function filesOf(dir: string): Promise<readonly string[]> {
  return (await namesIn(dir)).filter((name) => name.endsWith('.jsonl')).map((name) => join(dir, name));
}

async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch {
    return [];
  }
}

export type Forked = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string };

/** A copy of the session as it is now, with everything that was kept for it, under a new id. */
export async function forkNow({ path, sessionId, sync }: Transcript): Promise<Forked> {
  if (path === undefined) return { ok: false, why: 'This session is not kept, so there is nothing to copy.' };
  await sync();
  const id = randomUUID();
  try {
    await forkSession({ path, id: sessionId }, id);
    return { ok: true, id };
  } catch (thrown) {
    return { ok: false, why: `The session could not be copied: ${messageOf(thrown)}` };
  }
}
