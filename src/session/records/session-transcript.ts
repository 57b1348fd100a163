import type { AgentEvent } from '../../contracts/event.ts';
import type { SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import { type AppendFs, diskAppendFs } from '../../lib/files/append-fs.ts';
import { recordLastPrompted } from '../last-prompted-session.ts';
import { getSessionFolder, getSubAgentPath, getTranscriptPath } from '../paths.ts';
import { lockSession, type SessionLock } from '../process-locks.ts';
import { openUnsavedLines } from '../unsaved-lines.ts';
import {
  createSessionRecordWriter,
  type SessionRecordWriter,
  type SessionRecordWriterOptions,
} from './session-record-writer.ts';

/** The transcript of a session. A record is on disk when its promise resolves, before anything depends on it. */
export type SessionTranscript = {
  readonly sessionId: string;
  readonly path: string | undefined;
  readonly folder: string;
  recordEvent(event: AgentEvent): Promise<void>;
  append(body: SessionRecordBody): Promise<void>;
  appendToSubAgent(agentId: string, body: SessionRecordBody): Promise<void>;
  /** Flushes the file to disk, not only to the page cache. */
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Number of lines that could not be written yet. */
  countPending(): number;
};

/** A consumer of all records that processes them when nothing else waits. */
export type SessionRecordSink = {
  /** Queues a record without processing it. */
  push(record: SessionRecord, agentId?: string): void;
  /** Processes the queued records. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** Options of a transcript; `cwd` is the real path of the current working directory. */
export type SessionTranscriptOptions = Omit<SessionRecordWriterOptions, 'fs' | 'fallback' | 'onRecord'> & {
  readonly dir: string;
  readonly persistence: 'disk' | 'memory';
  /** Lock on a resumed session; a new session is locked when its file is created. */
  readonly lock?: SessionLock | undefined;
  /** Receives every record as well. */
  readonly mirror?: SessionRecordSink | undefined;
  readonly fs?: AppendFs;
  /** Parents of the folders for lines that the disk does not take; tests pass their own. */
  readonly unsavedParents?: readonly string[] | undefined;
};

/** Opens a transcript; no file is created before the first user message. */
export function openTranscript(options: SessionTranscriptOptions): SessionTranscript {
  const { dir, sessionId, mirror, fs: disk = diskAppendFs } = options;
  const folder = getSessionFolder(dir, sessionId);
  if (options.persistence === 'memory') return { ...MEMORY_TRANSCRIPT, sessionId, path: undefined, folder };
  const path = getTranscriptPath(dir, sessionId);
  const { fs, fallback, release } = lockBeforeWriting(path, disk, options);
  const main = createSessionRecordWriter(
    { ...options, fs, fallback, onRecord: (record) => mirror?.push(record) },
    path,
  );
  const subagents = new Map<string, SessionRecordWriter>();
  let hasStarted = options.lastUuid !== null;
  let isSynced = false;
  /** Afterwards another run may own the session, and what arrives late, such as a title, is dropped. */
  let isClosed = false;
  /** Records appended before the first user message. */
  let deferred: readonly SessionRecordBody[] = [];

  async function append(body: SessionRecordBody): Promise<void> {
    if (isClosed) return;
    if (!hasStarted && body.type !== 'user' && body.type !== 'custom') {
      deferred = [...deferred, body];
      return;
    }
    hasStarted = true;
    const bodies = [...deferred, body];
    deferred = [];
    await Promise.all(bodies.map(main.append));
  }

  /** Waits for the disk before the first request of a session; later turns only start the sync. */
  async function syncAfter(event: AgentEvent): Promise<void> {
    if (!hasStarted) return;
    if (event.type === 'message_end' && event.message.role === 'user' && !isSynced) {
      isSynced = true;
      await main.sync();
    }
    if (event.type === 'message_end' && event.message.role === 'user' && event.message.origin === 'prompt')
      await recordLastPrompted(dir, sessionId, options.unsavedParents);
    // The disk can sync while the model answers. Not awaited: the file reports its own failures.
    if (event.type === 'request_sent') void main.sync();
    if (event.type !== 'agent_end') return;
    await main.repeatTitle();
    await main.sync();
  }

  function getSubAgentWriter(agentId: string): SessionRecordWriter {
    const known = subagents.get(agentId);
    if (known !== undefined) return known;
    const onRecord = (record: SessionRecord) => mirror?.push(record, agentId);
    // Transcripts of sub-agents are not stored on another disk.
    const settings = { ...options, lastUuid: null, fs: disk, onRecord };
    const writer = createSessionRecordWriter(settings, getSubAgentPath(folder, agentId));
    subagents.set(agentId, writer);
    return writer;
  }

  return {
    sessionId,
    path,
    folder,
    append,
    appendToSubAgent: async (agentId, body) => (isClosed ? undefined : getSubAgentWriter(agentId).append(body)),
    async recordEvent(event) {
      if (isClosed) return;
      if (event.type === 'subagent') {
        const writer = getSubAgentWriter(event.agentId);
        await Promise.all(writer.toRecords(event.event).map(writer.append));
        if (isIdlePoint(event.event)) void mirror?.flush();
        return;
      }
      const written = Promise.all(main.toRecords(event).map(append));
      if (mustBeWritten(event)) await written;
      await syncAfter(event);
      if (isIdlePoint(event)) void mirror?.flush();
    },
    sync: main.sync,
    async close() {
      await Promise.all([...subagents.values(), main].map((writer) => writer.close()));
      isClosed = true;
      await mirror?.close();
      await release();
    },
    countPending: main.countPending,
  };
}

const MEMORY_TRANSCRIPT: Omit<SessionTranscript, 'sessionId' | 'path' | 'folder'> = {
  recordEvent: async () => undefined,
  append: async () => undefined,
  appendToSubAgent: async () => undefined,
  sync: async () => undefined,
  close: async () => undefined,
  countPending: () => 0,
};

/** Wraps the disk and its fallback so that writing to one of them takes the session lock first. */
function lockBeforeWriting(
  path: string,
  disk: AppendFs,
  { lock: initialLock, onNotice, unsavedParents }: SessionTranscriptOptions,
) {
  const unsaved = openUnsavedLines(path, unsavedParents);
  let claim = initialLock;

  async function lock(): Promise<void> {
    if (claim !== undefined) return;
    const attempt = await lockSession(path, unsavedParents);
    if (attempt.ok) claim = attempt.lock;
    else onNotice('error', 'Another ouro process writes to this session file. Start one of them without --session-id.');
  }

  const fs: AppendFs = {
    async open(wanted) {
      const handle = await disk.open(wanted);
      await lock();
      return handle;
    },
  };
  const fallback = {
    ...unsaved,
    async save(lines: string) {
      await lock();
      return unsaved.save(lines);
    },
  };
  return { fs, fallback, release: async () => claim?.release() };
}

/** Returns whether an event starts an idle phase, in which the mirror may write. */
function isIdlePoint({ type }: AgentEvent): boolean {
  return type === 'request_sent' || type === 'agent_end';
}

/** Returns whether the caller waits for the records of an event. Waiting for a later line covers the earlier ones. */
function mustBeWritten(event: AgentEvent): boolean {
  if (event.type === 'message_end') return event.message.role !== 'assistant';
  return event.type !== 'permission_decision' && event.type !== 'turn_end' && event.type !== 'transition';
}
