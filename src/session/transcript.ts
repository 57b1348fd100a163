import type { AgentEvent } from '../contracts/event.ts';
import { type RecordBody, SCHEMA_VERSION, type SessionRecord } from '../contracts/session.ts';
import { type AppendFile, type AppendFs, createAppendFile, diskAppendFs } from './append-file.ts';
import { projectDir, sessionFolder, subagentPath, transcriptPath } from './paths.ts';
import { createRecorder } from './records-of.ts';

/** A session's record on disk. What it was told is written when the promise resolves: before anything depends on it. */
export type Transcript = {
  readonly sessionId: string;
  readonly path: string | undefined;
  readonly folder: string;
  record(event: AgentEvent): Promise<void>;
  append(body: RecordBody): Promise<void>;
  /** On the disk itself, not only in its cache. */
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Lines that could not be written yet. */
  waiting(): number;
};

export type TranscriptParts = {
  readonly ouroHome: string;
  /** The real path of the directory the session belongs to. */
  readonly cwd: string;
  readonly sessionId: string;
  readonly gitBranch: string | undefined;
  readonly version: string;
  readonly lastUuid: string | null;
  readonly persistence: 'disk' | 'memory';
  readonly newId: () => string;
  readonly now: () => number;
  /** A sentence when writing fails, and one when it works again. */
  readonly tell: (level: 'info' | 'error', text: string) => void;
  readonly fs?: AppendFs;
};

/** Nothing is created before the first user message. */
export function openTranscript(parts: TranscriptParts): Transcript {
  const dir = projectDir(parts.ouroHome, parts.cwd);
  const folder = sessionFolder(dir, parts.sessionId);
  const path = parts.persistence === 'memory' ? undefined : transcriptPath(dir, parts.sessionId);
  const main = path === undefined ? undefined : track(path, parts);
  const subagents = new Map<string, Track>();
  let begun = parts.lastUuid !== null;
  let held: RecordBody[] = [];

  async function append(body: RecordBody): Promise<void> {
    if (main === undefined) return;
    if (!begun && body.type !== 'user') {
      held.push(body);
      return;
    }
    begun = true;
    const bodies = [...held, body];
    held = [];
    await Promise.all(bodies.map((one) => main.append(one)));
  }

  return {
    sessionId: parts.sessionId,
    path,
    folder,
    append,
    async record(event) {
      if (event.type === 'subagent') {
        if (path === undefined) return;
        const own = subagents.get(event.agentId) ?? track(subagentPath(folder, event.agentId), parts);
        subagents.set(event.agentId, own);
        await Promise.all(own.recorder(event.event).map((body) => own.append(body)));
        return;
      }
      const bodies = main?.recorder(event) ?? [];
      await Promise.all(bodies.map((body) => append(body)));
      if (event.type === 'turn_end' || (event.type === 'message_end' && event.message.role === 'user'))
        await main?.file.sync();
    },
    sync: async () => main?.file.sync(),
    async close() {
      await Promise.all([...subagents.values()].map((one) => one.file.close()));
      await main?.file.close();
    },
    waiting: () => main?.file.waiting() ?? 0,
  };
}

type Track = {
  readonly file: AppendFile;
  readonly recorder: ReturnType<typeof createRecorder>;
  append(body: RecordBody): Promise<void>;
};

/** One file with its chain of parents. */
function track(path: string, parts: TranscriptParts): Track {
  let parentUuid = parts.lastUuid;
  const file = createAppendFile(path, parts.fs ?? diskAppendFs, (why) =>
    why === undefined
      ? parts.tell('info', 'The session is being saved again.')
      : parts.tell(
          'error',
          `The session could not be saved (${why}). ouro goes on and keeps trying; free some space or check the permissions of ${path}.`,
        ),
  );
  return {
    file,
    recorder: createRecorder(),
    append(body) {
      const uuid = parts.newId();
      const record: SessionRecord = {
        v: SCHEMA_VERSION,
        uuid,
        parentUuid,
        sessionId: parts.sessionId,
        timestamp: new Date(parts.now()).toISOString(),
        cwd: parts.cwd,
        version: parts.version,
        ...(parts.gitBranch === undefined ? {} : { gitBranch: parts.gitBranch }),
        ...body,
      };
      parentUuid = uuid;
      return file.append(`${JSON.stringify(record)}\n`);
    },
  };
}
