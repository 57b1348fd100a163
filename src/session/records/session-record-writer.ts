import type { AgentEvent } from '../../contracts/event.ts';
import type { AssistantBlock, Message, ToolResultBlock } from '../../contracts/message.ts';
import type { SessionRecord, SessionRecordBody } from '../../contracts/session.ts';
import type { AppendFs } from '../../lib/files/append-fs.ts';
import { copyAsJson } from '../../lib/json.ts';
import type { UnsavedLines } from '../unsaved-lines.ts';
import { type AppendFileStatus, createAppendFile } from './append-file.ts';

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

/** Creates a function that turns events into records; it keeps only the blocks of the current reply. @internal */
export function createEventRecorder(): (event: AgentEvent) => readonly SessionRecordBody[] {
  let messageId = '';
  let blocks: AssistantBlock[] = [];
  const recorded = new Map<string, ToolResultBlock>();

  return (event) => {
    switch (event.type) {
      case 'message_start':
        if (event.role !== 'assistant') return [];
        messageId = event.messageId;
        blocks = [];
        return [];
      case 'block_end':
        if (event.messageId !== messageId) {
          messageId = event.messageId;
          blocks = [];
        }
        blocks.push(event.block);
        return [{ type: 'assistant', messageId, model: event.model, index: blocks.length - 1, block: event.block }];
      case 'message_end':
        return createMessageRecords(event.message, blocks, recorded);
      case 'tool_end': {
        if (event.status === 'discarded') return [];
        const { type: _, ...rest } = event;
        recorded.set(event.callId, event.result);
        return [{ type: 'result', ...rest }];
      }
      case 'tombstone':
        return [{ type: 'tombstone', messageId: event.messageId, why: event.why }];
      case 'compacted':
        return [
          {
            type: 'compact-boundary',
            boundary: event.boundary,
            messages: event.messages,
            postTokens: event.postTokens,
          },
        ];
      case 'queue':
        return [{ type: 'queue', item: event.item, state: event.state }];
      case 'permission_decision':
        return [
          { type: 'permission', callId: event.callId, tool: event.tool, verdict: event.verdict, trace: event.trace },
        ];
      case 'turn_end':
      case 'transition':
      case 'retry':
      case 'recovery_start':
      case 'recovery_end':
      case 'notice':
      case 'calls_summary':
      case 'mode':
      case 'agent_end':
      case 'permission_answer': {
        const { type, ...data } = event;
        return [{ type: 'system', subtype: type, data: copyAsJson(data) }];
      }
      case 'tool_start': {
        // The input is part of the reply already; this only records that the call started.
        const { callId, tool, messageId: reply } = event;
        return [{ type: 'system', subtype: 'tool_start', data: { callId, tool, messageId: reply } }];
      }
      default:
        return [];
    }
  };
}

function createMessageRecords(
  message: Message,
  blocks: readonly AssistantBlock[],
  recorded: Map<string, ToolResultBlock>,
): readonly SessionRecordBody[] {
  if (message.role === 'boundary') return [];
  if (message.role === 'custom') return [{ type: 'custom', message }];
  if (message.role === 'assistant') {
    const { id, model, stopReason, usage } = message;
    const kept = message.blocks.map((block) => blocks.indexOf(block)).filter((index) => index !== -1);
    return [{ type: 'reply', messageId: id, model, kept, ...(stopReason && { stopReason }), ...(usage && { usage }) }];
  }
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  if (results.length === 0) return [{ type: 'user', message }];
  const others = message.blocks.filter((block) => block.type !== 'tool_result');
  const unrecorded = results.filter((result) => !isRecorded(result, recorded.get(result.tool_use_id)));
  recorded.clear();
  return [
    ...unrecorded.map(createResultRecord),
    { type: 'user', message: { ...message, blocks: others }, results: results.map((result) => result.tool_use_id) },
  ];
}

/** Compares by content: the result sent to the model must be on record, even if it is not what the call returned. */
function isRecorded(result: ToolResultBlock, recorded: ToolResultBlock | undefined): boolean {
  return recorded === result || (recorded !== undefined && JSON.stringify(recorded) === JSON.stringify(result));
}

function createResultRecord(result: ToolResultBlock): SessionRecordBody {
  return { type: 'result', callId: result.tool_use_id, tool: '', result, status: 'interrupted', durationMs: 0 };
}
