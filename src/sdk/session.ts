/** `@ouro-cli/agent/session`: conversations stored as JSON lines that survive a crash. */

import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import type { AgentListener } from '../contracts/agent.ts';
import { SECRET_VARIABLES } from '../contracts/environment.ts';
import type { Message } from '../contracts/message.ts';
import { createCallbackSchema, parseArgument } from '../lib/parse-argument.ts';
import { createKnownKeys, type KnownKeys } from '../lib/text/known-keys.ts';
import { getTranscriptPath } from '../session/paths.ts';
import { findSessionLockHolder, lockSession } from '../session/process-locks.ts';
import { rebuildSession } from '../session/records/rebuild-session.ts';
import { openTranscript } from '../session/records/session-transcript.ts';
import { createReplyJournal, readUnfinishedReplyText, restoreInterruptedReply } from '../session/reply-journal.ts';
import { forkSession } from '../session/store/fork-session.ts';
import { readSessionForResume } from '../session/store/read-session-for-resume.ts';
import { isSessionStored } from '../session/unsaved-lines.ts';
import { getEnvironmentVariables, VERSION } from './runtime.ts';

export type { Message } from '../contracts/message.ts';

/** The folder and the id of a session. */
export type SessionLocation = {
  /** Folder of the session file. */
  readonly dir: string;
  /**
   * Session to continue; by default a new one. An unknown id starts a session with this id. It has to be one plain
   * name: no path, no separators.
   */
  readonly sessionId?: string;
  /** Working directory, recorded with each line. */
  readonly cwd?: string;
  /**
   * Keys that the file must not contain, by the name that replaces them: `{ MY_KEY: 'sk-…' }`. Values of fewer than 16
   * characters are not found. Variables with keys of providers always count.
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Called when writing fails, and when it works again. */
  readonly onNotice?: (level: 'info' | 'error', text: string) => void;
};

/** An open session: its messages, and the listener that records new events. */
export type StoredSession = {
  readonly sessionId: string;
  readonly path: string;
  /** Messages so far. A reply during which the process was killed is there as far as it had arrived. */
  readonly messages: readonly Message[];
  /**
   * Listener that records events. Make it the first listener, so that events are written before anything depends on
   * them.
   */
  readonly record: AgentListener;
  /** Copies the session to a new id. */
  fork(): Promise<string>;
  /** Writes pending lines and releases the session lock. */
  close(): Promise<void>;
};

const locationSchema = z.strictObject({
  dir: z.string('must be the path of a folder').min(1, 'must be the path of a folder'),
  sessionId: z.string('must be a text').exactOptional(),
  cwd: z.string().exactOptional(),
  secrets: z.record(z.string(), z.string()).exactOptional(),
  onNotice: createCallbackSchema<NonNullable<SessionLocation['onNotice']>>().exactOptional(),
});

/** Opens or creates a session. Rejects if it is open already, here or in another process. */
export async function openSession(location: SessionLocation): Promise<StoredSession> {
  const {
    dir,
    sessionId = randomUUID(),
    ...options
  } = parseArgument('openSession', dropUndefined(location), locationSchema);
  const { cwd = process.cwd(), secrets = {}, onNotice = () => undefined } = options;
  const { remove: removeKeys } = collectKeys(secrets);
  const path = getTranscriptPath(dir, sessionId);
  await mkdir(dir, { recursive: true });
  const lock = await lockSession(path);
  if (!lock.ok)
    throw new Error(`The session ${sessionId} is already open${await describeHolder(path)}. Close it first.`);
  try {
    const isNew = !isSessionStored(path);
    const { rebuilt, repairs } = await readStored(dir, sessionId);
    const { lastUuid, title } = rebuilt;
    const transcript = openTranscript({
      ...{ dir, sessionId, cwd, lastUuid, title, onNotice, removeKeys },
      gitBranch: undefined,
      version: VERSION,
      persistence: 'disk',
      lock: lock.lock,
      newId: randomUUID,
      now: Date.now,
    });
    const journal = createReplyJournal({ dir, sessionId, leftover: isNew ? 'nothing' : 'words', removeKeys });
    // Not awaited: lines keep their order, so these are on disk before the next message.
    for (const record of repairs) void transcript.append(record);
    return {
      sessionId,
      path,
      messages: rebuilt.messages,
      async record(event) {
        await transcript.recordEvent(event);
        await journal.onEvent(event);
      },
      async fork() {
        await transcript.sync();
        const newId = randomUUID();
        await forkSession({ id: sessionId, path }, newId);
        return newId;
      },
      close: transcript.close,
    };
  } catch (thrown) {
    await lock.lock.release();
    throw thrown;
  }
}

/** Collects the keys of the host, and those that variables hold for the providers of models. */
function collectKeys(secrets: Readonly<Record<string, string>>): KnownKeys {
  const keys = createKnownKeys();
  const variables = getEnvironmentVariables();
  for (const name of SECRET_VARIABLES) keys.add(name, variables[name] ?? '');
  for (const [name, key] of Object.entries(secrets)) keys.add(name, key);
  return keys;
}

/** Reads the messages of a stored session without locking it; none if there is no such session. */
export async function readMessages(
  location: Pick<SessionLocation, 'dir'> & { readonly sessionId: string },
): Promise<readonly Message[]> {
  const { dir, sessionId } = parseArgument('readMessages', location, locationSchema.required({ sessionId: true }));
  return (await readStored(dir, sessionId)).rebuilt.messages;
}

/** Reads a session, together with the reply during which its last process was killed. */
async function readStored(dir: string, sessionId: string) {
  const path = getTranscriptPath(dir, sessionId);
  const { records } = isSessionStored(path) ? await readSessionForResume(path) : { records: [] };
  const interrupted = restoreInterruptedReply(records, await readUnfinishedReplyText(dir, sessionId), randomUUID);
  const rebuilt = rebuildSession(interrupted?.records ?? records);
  if (interrupted === undefined) return { rebuilt, repairs: [] };
  const { block, notice } = interrupted;
  return {
    rebuilt: { ...rebuilt, messages: [...rebuilt.messages, notice] },
    repairs: [block, { type: 'user' as const, message: notice }],
  };
}

async function describeHolder(path: string): Promise<string> {
  const holder = await findSessionLockHolder(path);
  if (holder === undefined) return '';
  return holder.pid === process.pid ? ' in this process' : ` in process ${holder.pid}`;
}

function dropUndefined(location: SessionLocation): object {
  if (typeof location !== 'object' || location === null) return location;
  return Object.fromEntries(Object.entries(location).filter(([, value]) => value !== undefined));
}
