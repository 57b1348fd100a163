import { type RecordBody, SCHEMA_VERSION, type SessionRecord } from '../../contracts/session.ts';
import { type AppendFile, type AppendFs, createAppendFile } from './append-file.ts';
import { createRecorder } from './records-of.ts';

/** One file of records with its chain of parents. */
export type Track = {
  readonly file: AppendFile;
  readonly recorder: ReturnType<typeof createRecorder>;
  /** The record as the line it becomes; each names the one before it. */
  line(body: RecordBody): string;
};

export type TrackParts = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly version: string;
  readonly lastUuid: string | null;
  readonly newId: () => string;
  readonly now: () => number;
  readonly tell: (level: 'info' | 'error', text: string) => void;
  readonly fs: AppendFs;
};

/** Opens nothing yet: the first line does. */
export function createTrack(parts: TrackParts, path: string): Track {
  let parentUuid = parts.lastUuid;
  return {
    file: createAppendFile(path, parts.fs, (why) =>
      why === undefined
        ? parts.tell('info', 'The session is being saved again.')
        : parts.tell(
            'error',
            `The session could not be saved (${why}). ouro goes on and keeps trying; ${advice(path)}`,
          ),
    ),
    recorder: createRecorder(),
    line(body) {
      const uuid = parts.newId();
      const record: SessionRecord = makeRecord(body, {
        uuid,
        parentUuid,
        sessionId: parts.sessionId,
        timestamp: new Date(parts.now()).toISOString(),
        cwd: parts.cwd,
        version: parts.version,
        ...(parts.gitBranch === undefined ? {} : { gitBranch: parts.gitBranch }),
      });
      parentUuid = uuid;
      return `${JSON.stringify(record)}\n`;
    },
  };
}

function advice(path: string): string {
  return `free some space or check the permissions of ${path}.`;
}

/** `v` and `type` lead every line: readers skip what they do not need by its first bytes. */
export function makeRecord(body: RecordBody, head: Omit<SessionRecord, 'v' | 'type'>): SessionRecord {
  return Object.assign({ v: SCHEMA_VERSION, type: body.type }, head, body);
}
