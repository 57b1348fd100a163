import { writeFile } from 'node:fs/promises';
import type { AgentEvent } from '../../contracts/event.ts';
import type { RecordBody, SessionRecord } from '../../contracts/session.ts';
import { lastHeardPath, sessionFolder, subagentPath, transcriptPath } from '../paths.ts';
import { type Claim, claimSession } from '../running/claim.ts';
import { type AppendFs, diskAppendFs } from './append-fs.ts';
import { createRecordWriter, type RecordWriter, type RecordWriterOptions } from './record-writer.ts';

/** A session's record on disk. What was recorded is written when the promise resolves: before anything depends on it. */
export type Transcript = {
  readonly sessionId: string;
  readonly path: string | undefined;
  readonly folder: string;
  record(event: AgentEvent): Promise<void>;
  append(body: RecordBody): Promise<void>;
  /** The same, in the file of a sub-agent. */
  appendOf(agentId: string, body: RecordBody): Promise<void>;
  /** On the disk itself, not only in its cache. */
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Lines that could not be written yet. */
  waiting(): number;
};

/** Somebody who hears every record and does something with it when there is time. */
export type RecordReader = {
  /** Takes a record, and does nothing with it yet. */
  hear(record: SessionRecord, agentId?: string): void;
  /** What was heard is done with when it resolves. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** `cwd` is the real path of the directory it is worked in now. */
export type TranscriptOptions = Omit<RecordWriterOptions, 'fs' | 'onRecord'> & {
  /** Where its file lies. */
  readonly dir: string;
  readonly persistence: 'disk' | 'memory';
  /** The claim on a resumed session; a new one is claimed when its file is made. */
  readonly claim?: Claim | undefined;
  /** Hears everything too, and writes it when nobody waits. */
  readonly mirror?: RecordReader | undefined;
  readonly fs?: AppendFs;
};

/** Nothing is created before the first user message. */
export function openTranscript(options: TranscriptOptions): Transcript {
  const { dir, sessionId, mirror, fs: disk = diskAppendFs } = options;
  const folder = sessionFolder(dir, sessionId);
  if (options.persistence === 'memory') return { ...UNKEPT, sessionId, path: undefined, folder };
  const path = transcriptPath(dir, sessionId);
  const claimed = claimedWhenOpened(disk, options);
  const main = createRecordWriter({ ...options, fs: claimed.fs, onRecord: (record) => mirror?.hear(record) }, path);
  const subagents = new Map<string, RecordWriter>();
  let isBegun = options.lastUuid !== null;
  let isSynced = false;
  /** What came before the first user message. */
  let held: readonly RecordBody[] = [];

  async function append(body: RecordBody): Promise<void> {
    if (!isBegun && body.type !== 'user' && body.type !== 'custom') {
      held = [...held, body];
      return;
    }
    isBegun = true;
    const bodies = [...held, body];
    held = [];
    await Promise.all(bodies.map(main.append));
  }

  /** The first request of a session waits for the disk itself; later turns only start it on its way. */
  async function settle(event: AgentEvent): Promise<void> {
    if (!isBegun) return;
    if (event.type === 'message_end' && event.message.role === 'user' && !isSynced) {
      isSynced = true;
      await main.sync();
    }
    if (event.type === 'message_end' && event.message.role === 'user' && event.message.origin === 'prompt') {
      // Where it cannot be written the times of the files have to do.
      await writeFile(lastHeardPath(dir), sessionId, { mode: 0o600 }).catch(() => undefined);
    }
    // While the model thinks the disk has time. Nobody waits: the file itself reports what fails.
    if (event.type === 'request_sent') void main.sync();
    if (event.type !== 'agent_end') return;
    await main.repeatTitle();
    await main.sync();
  }

  function writerOf(agentId: string): RecordWriter {
    const known = subagents.get(agentId);
    if (known !== undefined) return known;
    const onRecord = (record: SessionRecord) => mirror?.hear(record, agentId);
    const settings = { ...options, ...NOT_ASIDE, lastUuid: null, fs: disk, onRecord };
    const own = createRecordWriter(settings, subagentPath(folder, agentId));
    subagents.set(agentId, own);
    return own;
  }

  return {
    sessionId,
    path,
    folder,
    append,
    appendOf: (agentId, body) => writerOf(agentId).append(body),
    async record(event) {
      if (event.type === 'subagent') {
        const own = writerOf(event.agentId);
        await Promise.all(own.bodiesOf(event.event).map(own.append));
        if (isQuiet(event.event)) void mirror?.flush();
        return;
      }
      const written = Promise.all(main.bodiesOf(event).map(append));
      if (isDependedOn(event)) await written;
      await settle(event);
      if (isQuiet(event)) void mirror?.flush();
    },
    sync: main.sync,
    async close() {
      await Promise.all([...subagents.values(), main].map((own) => own.close()));
      await mirror?.close();
      await claimed.release();
    },
    waiting: main.waiting,
  };
}

/** The files of sub-agents are only read by people. */
const NOT_ASIDE = { aside: undefined, unsaved: [] };

const UNKEPT = {
  record: async () => undefined,
  append: async () => undefined,
  appendOf: async () => undefined,
  sync: async () => undefined,
  close: async () => undefined,
  waiting: () => 0,
};

/** The file system of a session: whoever opens its file holds the claim on it. */
function claimedWhenOpened(disk: AppendFs, { claim: given, tell }: Pick<TranscriptOptions, 'claim' | 'tell'>) {
  let claim = given;
  const fs: AppendFs = {
    async open(path) {
      const handle = await disk.open(path);
      if (claim !== undefined) return handle;
      const tried = await claimSession(path);
      if (tried.ok) claim = tried.claim;
      else tell('error', 'Another ouro writes to the same session file. Start one of the two without --session-id.');
      return handle;
    },
  };
  return { fs, release: async () => claim?.release() };
}

/** A request is on its way, or nothing is left to do: there is time for what nobody waits for. */
function isQuiet({ type }: AgentEvent): boolean {
  return type === 'request_sent' || type === 'agent_end';
}

/** Nothing happens because of these alone: what comes next waits for its own line, and so for theirs before it. */
function isDependedOn(event: AgentEvent): boolean {
  if (event.type === 'message_end') return event.message.role !== 'assistant';
  return event.type !== 'permission_decision' && event.type !== 'turn_end' && event.type !== 'transition';
}
