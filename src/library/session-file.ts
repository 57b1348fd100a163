import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { AgentListener } from '../contracts/agent.ts';
import type { Message } from '../contracts/message.ts';
import { transcriptPath } from '../session/paths.ts';
import { rebuild } from '../session/records/rebuild.ts';
import { openTranscript } from '../session/records/transcript.ts';
import { claimSession } from '../session/running/claim.ts';
import { forkSession, readSession } from '../session/stored/store.ts';
import { VERSION } from './version.ts';

/** Where a session lies and which one it is. */
export type SessionPlace = {
  /** The folder of its file. */
  readonly dir: string;
  /** The session to go on with; left out, a new one. One that is not there yet is begun under this id. */
  readonly sessionId?: string;
  /** The folder that is worked in, written with each line. */
  readonly cwd?: string;
  /** Told when writing fails, and when it works again. */
  readonly tell?: (level: 'info' | 'error', text: string) => void;
};

/** A session on disk: what was said so far, and who writes what comes. */
export type StoredSession = {
  readonly sessionId: string;
  readonly path: string;
  /** The conversation so far. */
  readonly messages: readonly Message[];
  /** The first listener of an agent: what it is told is written before anything depends on it. */
  readonly record: AgentListener;
  /** A copy under a new id, as it is now. */
  fork(): Promise<string>;
  /** Writes what is left and lets the session go. */
  close(): Promise<void>;
};

/** Opens a session of JSON lines, or begins one. Two writers at once are refused. */
export async function openSession(place: SessionPlace): Promise<StoredSession> {
  const { dir, sessionId = randomUUID(), cwd = process.cwd(), tell = () => undefined } = place;
  await mkdir(dir, { recursive: true });
  const path = transcriptPath(dir, sessionId);
  const isNew = !existsSync(path);
  // A new one is claimed when its file is made.
  const tried = isNew ? undefined : await claimSession(path);
  if (tried?.ok === false) throw new Error(tried.notice);
  const { messages, lastUuid, title } = rebuild(isNew ? [] : (await readSession(path)).records);
  const transcript = openTranscript({
    dir,
    sessionId,
    cwd,
    gitBranch: undefined,
    version: VERSION,
    lastUuid,
    title,
    persistence: 'disk',
    claim: tried?.claim,
    newId: randomUUID,
    now: Date.now,
    tell,
  });
  return {
    sessionId,
    path,
    messages,
    record: transcript.record,
    async fork() {
      await transcript.sync();
      const newId = randomUUID();
      await forkSession({ id: sessionId, path }, newId);
      return newId;
    },
    close: transcript.close,
  };
}

/** The conversation of a stored session, without opening it for writing. */
export async function readMessages(place: Pick<SessionPlace, 'dir'> & { readonly sessionId: string }) {
  return rebuild((await readSession(transcriptPath(place.dir, place.sessionId))).records).messages;
}
