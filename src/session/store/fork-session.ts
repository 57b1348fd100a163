import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { getErrnoCode, getErrorMessage } from '../../lib/errors.ts';
import { getSessionFolder, getTranscriptPath } from '../paths.ts';
import { createForkSettings, createSealContext } from '../records/permission-seal.ts';
import { createSessionRecord } from '../records/session-record-writer.ts';
import type { SessionTranscript } from '../records/session-transcript.ts';
import { isSessionStored, openUnsavedLines, readUnsavedLines } from '../unsaved-lines.ts';
import { readSessionForResume } from './read-session-for-resume.ts';
import type { SessionFile } from './session-summary.ts';

/**
 * Copies a session and all its files under a new id; returns the path of the copy. If the disk does not take it, the
 * conversation alone is copied to where unsaved lines are stored. With `ouroHome`, the permissions of the session are
 * sealed again for the copy; without it they are lost.
 */
export async function forkSession(session: SessionFile, newId: string, ouroHome?: string): Promise<string> {
  const settings = ouroHome === undefined ? '' : await encodeForkSettings(session, newId, ouroHome);
  const dir = dirname(session.path);
  const path = getTranscriptPath(dir, newId);
  const folder = getSessionFolder(dir, newId);
  try {
    await copyTranscript(session.path, path, settings);
    await copySessionFolder(getSessionFolder(dir, session.id), folder);
  } catch (thrown) {
    if (getErrnoCode(thrown) === 'EEXIST') throw thrown;
    for (const partial of [path, folder]) await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    const text = [
      await readFile(session.path, 'utf8').catch(() => ''),
      ...readUnsavedLines(session.path),
      settings,
    ].join('\n');
    if ((await openUnsavedLines(path).save(`${text}\n`)) === undefined) throw thrown;
  }
  return path;
}

async function encodeForkSettings({ id, path }: SessionFile, newId: string, ouroHome: string): Promise<string> {
  const { records } = await readSessionForResume(path);
  const last = records.at(-1);
  const body = createForkSettings(records, id, newId, createSealContext(ouroHome, dirname(path)));
  if (last === undefined || body === undefined) return '';
  const { uuid: parentUuid, timestamp, cwd, version } = last;
  const head = { uuid: randomUUID(), parentUuid, sessionId: newId, timestamp, cwd, version };
  return JSON.stringify(createSessionRecord(body, head));
}

/** Copies a session file and adds lines: those that could not be written to it, of which there may be no others. */
async function copyTranscript(from: string, to: string, settings: string): Promise<void> {
  const unsaved = readUnsavedLines(from);
  const isStored = unsaved.length === 0 || existsSync(from);
  if (isStored) await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const added = settings === '' ? unsaved : [...unsaved, settings];
  if (added.length === 0) return;
  const text = ['', ...added, ''].join('\n');
  await writeFile(to, text, { mode: 0o600, flag: isStored ? 'a' : 'wx' });
}

async function copySessionFolder(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    // The pending snapshot belongs to a command running in the original session.
    filter: (source) => !/^pack(-index)?$/.test(basename(source)),
  });
}

/** The id of the copy, or the reason it failed. */
export type ForkResult = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly problem: string };

/** Copies the current session with its latest records under a new id. */
export async function forkCurrentSession(
  { path, sessionId, sync }: SessionTranscript,
  ouroHome: string,
): Promise<ForkResult> {
  if (path === undefined) return { ok: false, problem: 'This session is not saved, so it cannot be copied.' };
  await sync();
  if (!isSessionStored(path)) return { ok: false, problem: 'There is nothing to fork yet: send a first prompt.' };
  const id = randomUUID();
  try {
    await forkSession({ path, id: sessionId }, id, ouroHome);
    return { ok: true, id };
  } catch (thrown) {
    return { ok: false, problem: `The session could not be copied: ${getErrorMessage(thrown)}` };
  }
}
