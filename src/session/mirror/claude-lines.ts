import { wireResult, wireSyntheticMessage, wireToolResult, wireUserBlock } from '../../contracts/face/wire.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { UserBlock, UserMessage, UserOrigin } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { lineUuid } from '../../lib/line-uuid.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import { boundaryLines } from './boundary-lines.ts';
import { createLineChain, type LineChain, type Speaker } from './line-chain.ts';
import { createReplyLines, type End } from './reply-lines.ts';

type Of<Type> = Extract<SessionRecord, { type: Type }>;

/** What the lines of a session are made of, one record after another. */
export type ClaudeLines = (record: SessionRecord) => readonly JsonObject[];

/**
 * Turns records into the lines of a transcript as programs for Claude Code read them. Each line names the one before it;
 * after going back that is the line which was gone back to.
 */
export function createClaudeLines(speaker: Speaker): ClaudeLines {
  const chain = createLineChain(speaker);
  const replies = createReplyLines(chain);
  /** The lines of results, by their calls. */
  const results = new Map<string, string>();
  let title = '';
  /** Calls may end while their reply is still being written. */
  let ended: readonly Of<'result'>[] = [];

  function resultLine(record: Of<'result'>): JsonObject {
    const line = chain.line(record, record.uuid, resultWords(record, replies.callerOf(record.callId)));
    results.set(record.callId, String(line.uuid));
    return line;
  }

  function close(end?: End): readonly JsonObject[] {
    const lines = replies.close(end);
    const waiting = ended;
    ended = [];
    return [...lines, ...waiting.map(resultLine)];
  }

  function titleLine({ title: words, by }: Of<'title'>): readonly JsonObject[] {
    if (words === title) return [];
    title = words;
    return by === 'person'
      ? [{ type: 'custom-title', customTitle: words, sessionId: speaker.sessionId }]
      : [{ type: 'summary', summary: words, leafUuid: chain.last() }];
  }

  function systemLines(record: Of<'system'>): readonly JsonObject[] {
    const { subtype, data } = record;
    if (subtype === 'turn_end') return replies.isOpen(data.messageId) ? close(data) : [];
    if (subtype === 'rewind') {
      const lines = close();
      goBack(chain, String(data.messageId));
      return lines;
    }
    const words = subtype === 'agent_end' ? failureWords(data.terminal) : undefined;
    if (words === undefined) return [];
    const said = { type: 'assistant', message: wireSyntheticMessage(words), isApiErrorMessage: true };
    return [...close(), chain.line(record, record.uuid, said)];
  }

  return (record) => {
    switch (record.type) {
      case 'assistant': {
        const lines = replies.isOpen(record.messageId) ? [] : close();
        replies.add(record);
        return lines;
      }
      case 'reply':
        return replies.isOpen(record.messageId) ? close(record) : [];
      case 'result':
        if (!replies.isOpen()) return [resultLine(record)];
        ended = [...ended, record];
        return [];
      case 'user':
        return [...close(), ...userLine(chain, record, record.message)];
      case 'tombstone':
        if (replies.isOpen(record.messageId)) {
          replies.drop();
          ended = [];
        } else if (chain.placeOf(record.messageId)?.uuids.at(-1) === chain.last()) goBack(chain, record.messageId);
        return [];
      case 'compact-boundary':
        return [...close(), ...boundaryLines(record, { chain, replies, results, userLine })];
      case 'title':
        return titleLine(record);
      case 'system':
        return systemLines(record);
      default:
        return [];
    }
  };
}

function resultWords({ result, structured }: Of<'result'>, caller: string | undefined): JsonObject {
  return {
    type: 'user',
    message: { role: 'user', content: [wireResult(result)] },
    toolUseResult: wireToolResult(result, structured),
    ...(caller === undefined ? {} : { sourceToolAssistantUUID: caller }),
  };
}

/** What no person said is marked as such. */
const SPOKEN: readonly UserOrigin[] = ['prompt', 'steer', 'follow_up', 'interrupt', 'shell'];

/** The words of a message; the results it carries have lines of their own, and what was put in beside it has one. */
function userLine(chain: LineChain, record: SessionRecord, message: UserMessage): readonly JsonObject[] {
  const { id, origin, blocks } = message;
  const isAside = (block: UserBlock) => block.type === 'text' && isReminder(block.text);
  const words = blocks.filter((block) => block.type !== 'tool_result' && !isAside(block));
  const kind = origin === 'summary' ? SUMMARY : SPOKEN.includes(origin) ? {} : META;
  const said = [
    { uuid: id, words, kind },
    { uuid: lineUuid(id, 1), words: blocks.filter(isAside), kind: META },
  ].filter((line) => line.words.length > 0);
  return chain.placed(id, () =>
    said.map((line) => {
      const content = plainWords(line.words) ?? line.words.map(wireUserBlock);
      return chain.line(record, line.uuid, { type: 'user', message: { role: 'user', content }, ...line.kind });
    }),
  );
}

const SUMMARY = { isCompactSummary: true, isVisibleInTranscriptOnly: true };
const META = { isMeta: true };

/** What is words alone is written as such. */
function plainWords([first, ...more]: readonly UserBlock[]): string | undefined {
  return first?.type === 'text' && more.length === 0 ? first.text : undefined;
}

function goBack(chain: LineChain, messageId: string): void {
  const place = chain.placeOf(messageId);
  if (place !== undefined) chain.goTo(place.after);
}

/** What went wrong in the end and was not of the person's own doing. */
function failureWords(terminal: JsonValue | undefined): string | undefined {
  if (!isJsonObject(terminal) || !isJsonObject(terminal.failure) || terminal.failure.kind === 'aborted')
    return undefined;
  return String(terminal.words ?? terminal.failure.message);
}
