import type { SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import type { AppendFs } from '../../lib/files/append-fs.ts';
import type { UnsavedLines } from '../unsaved-lines.ts';
import { type AppendFileStatus, createAppendFile } from './append-file.ts';
import { createEventRecorder } from './event-records.ts';

/** The version of the record format. */
export const SESSION_SCHEMA_VERSION = 1;

type TitleRecord = Extract<SessionRecordBody, { type: 'title' }>;

/** A writer for one file of records, each linked to its parent. A record is on disk when `append` resolves. */
export type SessionRecordWriter = ReturnType<typeof createSessionRecordWriter>;

/** Options of a record writer: the fields of every record, and where it writes. */
export type SessionRecordWriterOptions = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly version: string;
  /** Id of the newest record in the file, the parent of the next one. */
  readonly lastUuid: string | null;
  /** Title of a resumed session. */
  readonly title?: TitleRecord | undefined;
  readonly newId: () => string;
  readonly now: () => number;
  /** Called with a message for the user when writing fails and when it works again. */
  readonly onNotice: (level: 'info' | 'error', text: string) => void;
  readonly fs: AppendFs;
  /**
   * Removes keys from a line. A resumed request therefore differs from what the model saw, and once misses the cache; a
   * signature over changed thinking is rejected, and the thinking left out. Both are better than a key on disk.
   */
  readonly removeKeys?: ((line: string) => string) | undefined;
  /** Called with every record before it is written. */
  readonly onRecord?: ((record: SessionRecord) => void) | undefined;
  /** Storage on another disk for lines that cannot be written. */
  readonly fallback?: UnsavedLines | undefined;
};

const MAX_CHARS_AFTER_TITLE = 8_000;

/** Creates a record writer; the file is opened by its first record. */
export function createSessionRecordWriter(options: SessionRecordWriterOptions, path: string) {
  const { sessionId, cwd, gitBranch, version, newId, now, onNotice, fs, removeKeys = (line) => line } = options;
  let parentUuid = options.lastUuid;
  let title = options.title;
  let charsSinceTitle = 0;
  const reportStatus = (status: AppendFileStatus) => {
    if (status.type === 'works') return onNotice('info', 'The session is being saved again.');
    if (status.type === 'restored')
      return onNotice('info', `The session file was deleted and has been written again: ${path}`);
    const advice = `ouro keeps trying; free some space, or check the disk and the permissions of ${path}.`;
    const meanwhile =
      status.fallbackPath === undefined ? '' : ` Meanwhile the session is kept in ${status.fallbackPath}.`;
    onNotice('error', `The session could not be saved (${status.problem}). ${advice}${meanwhile}`);
  };
  const file = createAppendFile(path, fs, reportStatus, options.fallback);

  function append(body: SessionRecordBody): Promise<void> {
    const uuid = newId();
    const branch = gitBranch === undefined ? {} : { gitBranch };
    const timestamp = new Date(now()).toISOString();
    const record = createSessionRecord(body, { uuid, parentUuid, sessionId, timestamp, cwd, version, ...branch });
    options.onRecord?.(record);
    const line = removeKeys(`${JSON.stringify(record)}\n`);
    parentUuid = uuid;
    charsSinceTitle = body.type === 'title' ? 0 : charsSinceTitle + line.length;
    if (body.type === 'title') title = body;
    return file.append(line);
  }

  return {
    append,
    toRecords: createEventRecorder(),
    /** Writes the title again when it is far from the end: session lists read only the ends of a file. */
    async repeatTitle() {
      if (title !== undefined && charsSinceTitle > MAX_CHARS_AFTER_TITLE) await append(title);
    },
    sync: file.sync,
    close: file.close,
    /** Number of lines that could not be written yet. */
    countPending: file.countPending,
  };
}

/** Creates a record with `v` and `type` first: readers skip lines by their first bytes. */
export function createSessionRecord(body: SessionRecordBody, head: Omit<SessionRecord, 'v' | 'type'>): SessionRecord {
  return Object.assign({ v: SESSION_SCHEMA_VERSION, type: body.type }, head, body);
}
