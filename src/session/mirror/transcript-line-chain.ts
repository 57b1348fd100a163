import type { JsonObject } from '../../contracts/json.ts';
import type { AssistantBlock, Usage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { encodeAssistantBlock, encodeUsage } from '../../contracts/wire-format.ts';
import { createTranscriptLineUuid } from '../../lib/transcript-line-uuid.ts';
import { isTokenUsage } from '../records/validate-session-record.ts';

/** The source of lines: the main conversation or one of its sub-agents. */
export type TranscriptOwner = { readonly sessionId: string; readonly agentId?: string };

/** The lines of a message and the line they follow. */
type MessageLines = { readonly after: string | null; readonly uuids: readonly string[] };

/** A chain of lines in which each line names its parent. */
export type TranscriptLineChain = ReturnType<typeof createTranscriptLineChain>;

/** Creates the chain of a session, or of one of its sub-agents. */
export function createTranscriptLineChain({ sessionId, agentId }: TranscriptOwner) {
  let last: string | null = null;
  const used = new Set<string>();
  const messageLines = new Map<string, MessageLines>();
  const speaker = agentId === undefined ? { isSidechain: false } : { isSidechain: true, agentId };

  return {
    /** Id of the newest line, the parent of the next one. */
    lastUuid: (): string | null => last,
    /** Makes a line the parent of the next one. */
    continueFrom: (uuid: string | null) => {
      last = uuid;
    },
    /** Adds a line after the newest; `wanted` becomes its id unless another line uses it. */
    addLine(record: SessionRecord, preferredUuid: string, fields: JsonObject): JsonObject {
      // Some providers number their replies from zero, so ids repeat.
      const ids = [preferredUuid, record.uuid, createTranscriptLineUuid(record.uuid, used.size)];
      const uuid = ids.find((id) => !used.has(id)) ?? preferredUuid;
      used.add(uuid);
      const parentUuid = last;
      last = uuid;
      const { cwd, version, gitBranch = '', timestamp } = record;
      const head = { ...speaker, userType: 'external', cwd, sessionId, version, gitBranch };
      return { parentUuid, ...head, ...fields, uuid, timestamp };
    },
    /** Adds the lines of a message and remembers them by the message id. */
    addMessageLines(messageId: string, write: () => readonly JsonObject[]): readonly JsonObject[] {
      const after = last;
      const lines = write();
      messageLines.set(messageId, { after, uuids: lines.map(({ uuid }) => String(uuid)) });
      return lines;
    },
    findMessageLines: (messageId: string): MessageLines | undefined => messageLines.get(messageId),
    /** Changes the line that the lines of a message follow. */
    moveMessageLines(messageId: string, after: string | null) {
      messageLines.set(messageId, { after, uuids: messageLines.get(messageId)?.uuids ?? [] });
    },
  };
}

/** A block of a reply with its record. */
type RecordedBlock = { readonly record: SessionRecord; readonly index: number; readonly block: AssistantBlock };

/** The end of a reply, as far as it is known. */
export type MirroredReplyEnd = { readonly stopReason?: unknown; readonly usage?: unknown };

/** Collects the blocks of a reply; its lines, one per block, are written at its end, because each states the usage. */
export type TranscriptReplyWriter = ReturnType<typeof createTranscriptReplyWriter>;

type CompleteReply = { readonly id: string; readonly model: string; readonly blocks: readonly RecordedBlock[] };

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Creates the writer that adds the lines of replies to a chain. */
export function createTranscriptReplyWriter(chain: TranscriptLineChain) {
  let open: CompleteReply | undefined;
  const callers = new Map<string, string>();

  function writeReply(
    { id, model, blocks }: CompleteReply,
    { stopReason, usage }: MirroredReplyEnd,
  ): readonly JsonObject[] {
    const requestId = `req_${(blocks[0]?.record.uuid ?? id).replaceAll('-', '').slice(0, 24)}`;
    const wireUsageFields = encodeUsage(isTokenUsage(usage) ? usage : NO_USAGE);
    return chain.addMessageLines(id, () =>
      blocks.map(({ record, index, block }, position) => {
        const stop = position === blocks.length - 1 && typeof stopReason === 'string' ? stopReason : null;
        const head = { id, type: 'message', role: 'assistant', model };
        const message = {
          ...head,
          content: [encodeAssistantBlock(block)],
          stop_reason: stop,
          stop_sequence: null,
          usage: wireUsageFields,
        };
        const line = chain.addLine(record, createTranscriptLineUuid(id, index), {
          type: 'assistant',
          message,
          requestId,
        });
        if (block.type === 'tool_use') callers.set(block.id, String(line.uuid));
        return line;
      }),
    );
  }

  /** Discards the open reply. */
  function dropReply(): void {
    open = undefined;
  }

  return {
    isOpen: (messageId?: unknown): boolean => open !== undefined && (messageId === undefined || messageId === open.id),
    addBlock(record: Extract<SessionRecord, { type: 'assistant' }>) {
      const { messageId: id, model, index, block } = record;
      open = { id, model, blocks: [...(open?.blocks ?? []), { record, index, block }] };
    },
    closeReply(end: MirroredReplyEnd = {}): readonly JsonObject[] {
      const reply = open;
      dropReply();
      return reply === undefined ? [] : writeReply(reply, end);
    },
    dropReply,
    writeReply,
    /** Returns the id of the line that made a call. */
    getCallLine: (callId: string): string | undefined => callers.get(callId),
  };
}
