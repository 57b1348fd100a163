import type { AgentEvent } from '../../contracts/event.ts';
import { type RecordBody, SCHEMA_VERSION, type SessionRecord } from '../../contracts/session.ts';
import { type AppendNews, type AppendOptions, createAppendFile } from './append-file.ts';
import type { AppendFs } from './append-fs.ts';
import { createRecorder } from './recorder.ts';

export type Title = Extract<RecordBody, { type: 'title' }>;

/** One file of records with its chain of parents. What was appended is written when the promise resolves. */
export type RecordWriter = {
  append(body: RecordBody): Promise<void>;
  /** What an event leaves on record. */
  bodiesOf(event: AgentEvent): readonly RecordBody[];
  /** Lists read only the ends of a file: a title that is too far from the end is written again. */
  repeatTitle(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Lines that could not be written yet. */
  waiting(): number;
};

export type RecordWriterOptions = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly gitBranch: string | undefined;
  readonly version: string;
  /** The newest record of the file, which the next one follows. */
  readonly lastUuid: string | null;
  /** What a resumed session is called. */
  readonly title?: Title | undefined;
  readonly newId: () => string;
  readonly now: () => number;
  /** A sentence when writing fails, and one when it works again. */
  readonly tell: (level: 'info' | 'error', text: string) => void;
  readonly fs: AppendFs;
  /** Hears each record. */
  readonly onRecord?: ((record: SessionRecord) => void) | undefined;
} & AppendOptions;

const FAR_CHARS = 8_000;

/** Opens nothing yet: the first line does. */
export function createRecordWriter(options: RecordWriterOptions, path: string): RecordWriter {
  const { sessionId, cwd, gitBranch, version, newId, now, tell, fs } = options;
  let parentUuid = options.lastUuid;
  let title = options.title;
  let charsSinceTitle = 0;
  const hear = (news: AppendNews) => {
    if (news.what === 'works') return tell('info', 'The session is being saved again.');
    if (news.what === 'restored')
      return tell('info', `The file of this session was deleted; it is written anew: ${path}`);
    const advice = `ouro goes on and keeps trying; free some space or check the permissions of ${path}.`;
    const meanwhile = news.keptIn === undefined ? '' : ` What is said meanwhile is kept in ${news.keptIn}.`;
    tell('error', `The session could not be saved (${news.why}). ${advice}${meanwhile}`);
  };
  const file = createAppendFile(path, fs, hear, options);

  function append(body: RecordBody): Promise<void> {
    const uuid = newId();
    const branch = gitBranch === undefined ? {} : { gitBranch };
    const timestamp = new Date(now()).toISOString();
    const record = makeRecord(body, { uuid, parentUuid, sessionId, timestamp, cwd, version, ...branch });
    options.onRecord?.(record);
    const line = `${JSON.stringify(record)}\n`;
    parentUuid = uuid;
    charsSinceTitle = body.type === 'title' ? 0 : charsSinceTitle + line.length;
    if (body.type === 'title') title = body;
    return file.append(line);
  }

  return {
    append,
    bodiesOf: createRecorder(),
    async repeatTitle() {
      if (title !== undefined && charsSinceTitle > FAR_CHARS) await append(title);
    },
    sync: file.sync,
    close: file.close,
    waiting: file.waiting,
  };
}

/** `v` and `type` lead every line: readers skip what they do not need by its first bytes. */
export function makeRecord(body: RecordBody, head: Omit<SessionRecord, 'v' | 'type'>): SessionRecord {
  return Object.assign({ v: SCHEMA_VERSION, type: body.type }, head, body);
}
