import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { Message, UserBlock, UserMessage, UserOrigin } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import {
  createSyntheticMessage,
  encodeToolResult,
  encodeUserBlock,
  formatToolUseResult,
} from '../../contracts/wire-format.ts';
import { isSystemReminder } from '../../lib/text/reminder.ts';
import { createTranscriptLineUuid } from '../../lib/transcript-line-uuid.ts';
import {
  createTranscriptLineChain,
  createTranscriptReplyWriter,
  type MirroredReplyEnd,
  type TranscriptLineChain,
  type TranscriptOwner,
  type TranscriptReplyWriter,
} from './transcript-line-chain.ts';

type RecordOf<Type> = Extract<SessionRecord, { type: Type }>;

/** Converts one record after another into transcript lines. */
export type ClaudeLineConverter = (record: SessionRecord) => readonly JsonObject[];

/**
 * Creates a converter from records to transcript lines in the format of Claude Code. Each line names its parent line;
 * after a rewind, that is the line the conversation went back to.
 */
export function createClaudeTranscriptConverter(speaker: TranscriptOwner): ClaudeLineConverter {
  const chain = createTranscriptLineChain(speaker);
  const replies = createTranscriptReplyWriter(chain);
  /** Line ids of results, by call id. */
  const results = new Map<string, string>();
  let title = '';
  /** Results of calls that ended while their reply was still being written. */
  let endedResults: readonly RecordOf<'result'>[] = [];

  function addResultLine(record: RecordOf<'result'>): JsonObject {
    const line = chain.addLine(record, record.uuid, createResultFields(record, replies.getCallLine(record.callId)));
    results.set(record.callId, String(line.uuid));
    return line;
  }

  function closeReply(end?: MirroredReplyEnd): readonly JsonObject[] {
    const lines = replies.closeReply(end);
    const waiting = endedResults;
    endedResults = [];
    return [...lines, ...waiting.map(addResultLine)];
  }

  function createTitleLine({ title: newTitle, by }: RecordOf<'title'>): readonly JsonObject[] {
    if (newTitle === title) return [];
    title = newTitle;
    return by === 'person'
      ? [{ type: 'custom-title', customTitle: newTitle, sessionId: speaker.sessionId }]
      : [{ type: 'summary', summary: newTitle, leafUuid: chain.lastUuid() }];
  }

  function createSystemLines(record: RecordOf<'system'>): readonly JsonObject[] {
    const { subtype, data } = record;
    if (subtype === 'turn_end') return replies.isOpen(data.messageId) ? closeReply(data) : [];
    if (subtype === 'rewind') {
      const lines = closeReply();
      rewindTo(chain, String(data.messageId));
      return lines;
    }
    const failure = subtype === 'agent_end' ? getFailureMessage(data.terminal) : undefined;
    if (failure === undefined) return [];
    const fields = { type: 'assistant', message: createSyntheticMessage(failure), isApiErrorMessage: true };
    return [...closeReply(), chain.addLine(record, record.uuid, fields)];
  }

  return (record) => {
    switch (record.type) {
      case 'assistant': {
        const lines = replies.isOpen(record.messageId) ? [] : closeReply();
        replies.addBlock(record);
        return lines;
      }
      case 'reply':
        return replies.isOpen(record.messageId) ? closeReply(record) : [];
      case 'result':
        if (!replies.isOpen()) return [addResultLine(record)];
        endedResults = [...endedResults, record];
        return [];
      case 'user':
        return [...closeReply(), ...addUserLines(chain, record, record.message)];
      case 'tombstone':
        if (replies.isOpen(record.messageId)) {
          replies.dropReply();
          endedResults = [];
        } else if (chain.findMessageLines(record.messageId)?.uuids.at(-1) === chain.lastUuid())
          rewindTo(chain, record.messageId);
        return [];
      case 'compact-boundary':
        return [...closeReply(), ...renderBoundaryLines(record, { chain, replies, results, addUserLines })];
      case 'title':
        return createTitleLine(record);
      case 'system':
        return createSystemLines(record);
      default:
        return [];
    }
  };
}

function createResultFields({ result, structured }: RecordOf<'result'>, caller: string | undefined): JsonObject {
  return {
    type: 'user',
    message: { role: 'user', content: [encodeToolResult(result)] },
    toolUseResult: formatToolUseResult(result, structured),
    ...(caller === undefined ? {} : { sourceToolAssistantUUID: caller }),
  };
}

/** Origins of messages typed by the user; all others are marked as meta messages. */
const TYPED_ORIGINS: readonly UserOrigin[] = ['prompt', 'steer', 'follow_up', 'interrupt', 'shell'];

/** Renders a user message: one line for its own text and one for its reminders; its results have their own lines. */
function addUserLines(chain: TranscriptLineChain, record: SessionRecord, message: UserMessage): readonly JsonObject[] {
  const { id, origin, blocks } = message;
  const isReminderBlock = (block: UserBlock) => block.type === 'text' && isSystemReminder(block.text);
  const ownBlocks = blocks.filter((block) => block.type !== 'tool_result' && !isReminderBlock(block));
  const flags = origin === 'summary' ? SUMMARY : TYPED_ORIGINS.includes(origin) ? {} : META;
  const lines = [
    { uuid: id, blocks: ownBlocks, flags },
    { uuid: createTranscriptLineUuid(id, 1), blocks: blocks.filter(isReminderBlock), flags: META },
  ].filter((line) => line.blocks.length > 0);
  return chain.addMessageLines(id, () =>
    lines.map((line) => {
      const content = getPlainText(line.blocks) ?? line.blocks.map(encodeUserBlock);
      return chain.addLine(record, line.uuid, { type: 'user', message: { role: 'user', content }, ...line.flags });
    }),
  );
}

const SUMMARY = { isCompactSummary: true, isVisibleInTranscriptOnly: true };
const META = { isMeta: true };

/** Returns the text of a message that consists of a single text block. */
function getPlainText([first, ...more]: readonly UserBlock[]): string | undefined {
  return first?.type === 'text' && more.length === 0 ? first.text : undefined;
}

function rewindTo(chain: TranscriptLineChain, messageId: string): void {
  const message = chain.findMessageLines(messageId);
  if (message !== undefined) chain.continueFrom(message.after);
}

/** Returns the failure message of a run, unless the user aborted it. */
function getFailureMessage(terminal: JsonValue | undefined): string | undefined {
  if (!isJsonObject(terminal) || !isJsonObject(terminal.failure) || terminal.failure.kind === 'aborted')
    return undefined;
  return String(terminal.words ?? terminal.failure.message);
}

type BoundaryInput = {
  readonly chain: TranscriptLineChain;
  readonly replies: TranscriptReplyWriter;
  readonly results: ReadonlyMap<string, string>;
  readonly addUserLines: (
    chain: TranscriptLineChain,
    record: SessionRecord,
    message: UserMessage,
  ) => readonly JsonObject[];
};

/** Renders a compaction: the boundary and its new messages. The boundary names the lines of kept messages. */
function renderBoundaryLines(
  record: Extract<SessionRecord, { type: 'compact-boundary' }>,
  { chain, replies, results, addUserLines }: BoundaryInput,
): readonly JsonObject[] {
  const kept = record.messages.flatMap((message) => {
    const uuids = listLineIds(message, chain, results);
    return uuids.length === 0 ? [] : [{ id: message.id, uuids }];
  });
  const logicalParentUuid = chain.lastUuid();
  chain.continueFrom(null);
  const boundary = chain.addLine(record, record.uuid, { type: 'system', subtype: 'compact_boundary' });
  const newLines = record.messages.flatMap((message): readonly JsonObject[] => {
    if (chain.findMessageLines(message.id) !== undefined) return [];
    if (message.role === 'user') return addUserLines(chain, record, message);
    if (message.role !== 'assistant') return [];
    const { id, model, stopReason, usage } = message;
    return replies.writeReply(
      { id, model, blocks: message.blocks.map((block, index) => ({ record, index, block })) },
      { stopReason, usage },
    );
  });
  const summaryUuid = chain.lastUuid();
  // Readers insert the kept messages right after the anchor. The anchor is a line of its own, because a rewind to just
  // after the summary has to continue from the summary.
  const note = { type: 'system', subtype: 'informational', content: 'Kept from before:', level: 'info' };
  const anchor = kept.length === 0 ? [] : [chain.addLine(record, createTranscriptLineUuid(record.uuid, 1), note)];
  const anchorUuid = chain.lastUuid();
  let after = summaryUuid;
  for (const { id, uuids } of kept) {
    chain.moveMessageLines(id, after);
    after = uuids.at(-1) ?? after;
  }
  if (after !== summaryUuid) chain.continueFrom(after);
  const uuids = kept.flatMap((message) => message.uuids);
  const { trigger, preTokens } = record.boundary;
  const relinked = {
    preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
    preservedMessages: { anchorUuid, uuids, allUuids: uuids },
  };
  const compactMetadata = { trigger, preTokens, postTokens: record.postTokens, ...(uuids.length > 0 && relinked) };
  const fields = { content: 'Conversation compacted', level: 'info', isMeta: false };
  return [{ ...boundary, logicalParentUuid, ...fields, compactMetadata }, ...newLines, ...anchor];
}

/** Returns the ids of the lines already written for a message, results first. */
function listLineIds(
  message: Message,
  chain: TranscriptLineChain,
  results: ReadonlyMap<string, string>,
): readonly string[] {
  const lines = chain.findMessageLines(message.id);
  if (lines === undefined) return [];
  const blocks = message.role === 'user' ? message.blocks : [];
  const resultIds = blocks.flatMap((block) =>
    block.type === 'tool_result' ? (results.get(block.tool_use_id) ?? []) : [],
  );
  return [...resultIds, ...lines.uuids];
}
