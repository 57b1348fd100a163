import type { JsonObject } from '../../contracts/json.ts';
import type { Message, UserMessage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { lineUuid } from '../../lib/line-uuid.ts';
import type { LineChain } from './line-chain.ts';
import type { ReplyLines } from './reply-lines.ts';

type Parts = {
  readonly chain: LineChain;
  readonly replies: ReplyLines;
  readonly results: ReadonlyMap<string, string>;
  readonly userLine: (chain: LineChain, record: SessionRecord, message: UserMessage) => readonly JsonObject[];
};

/** A compaction: where it cut, and what is new behind it. What it kept is not written again; the cut names its lines. */
export function boundaryLines(
  record: Extract<SessionRecord, { type: 'compact-boundary' }>,
  { chain, replies, results, userLine }: Parts,
): readonly JsonObject[] {
  const kept = record.messages.flatMap((message) => {
    const uuids = linesOf(message, chain, results);
    return uuids.length === 0 ? [] : [{ id: message.id, uuids }];
  });
  const logicalParentUuid = chain.last();
  chain.goTo(null);
  const boundary = chain.line(record, record.uuid, { type: 'system', subtype: 'compact_boundary' });
  const fresh = record.messages.flatMap((message): readonly JsonObject[] => {
    if (chain.placeOf(message.id) !== undefined) return [];
    if (message.role === 'user') return userLine(chain, record, message);
    if (message.role !== 'assistant') return [];
    const { id, model, stopReason, usage } = message;
    return replies.write(
      { id, model, blocks: message.blocks.map((block, index) => ({ record, index, block })) },
      { stopReason, usage },
    );
  });
  const summaryUuid = chain.last();
  // Readers put what was kept behind its anchor, before all else that follows it. Going back behind the summary alone
  // must follow the summary, so the anchor is a line of its own.
  const note = { type: 'system', subtype: 'informational', content: 'Kept from before:', level: 'info' };
  const anchor = kept.length === 0 ? [] : [chain.line(record, lineUuid(record.uuid, 1), note)];
  const anchorUuid = chain.last();
  let after = summaryUuid;
  for (const { id, uuids } of kept) {
    chain.move(id, after);
    after = uuids.at(-1) ?? after;
  }
  if (after !== summaryUuid) chain.goTo(after);
  const uuids = kept.flatMap((message) => message.uuids);
  const { trigger, preTokens } = record.boundary;
  const relinked = {
    preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
    preservedMessages: { anchorUuid, uuids, allUuids: uuids },
  };
  const compactMetadata = { trigger, preTokens, postTokens: record.postTokens, ...(uuids.length > 0 && relinked) };
  const words = { content: 'Conversation compacted', level: 'info', isMeta: false };
  return [{ ...boundary, logicalParentUuid, ...words, compactMetadata }, ...fresh, ...anchor];
}

/** The lines of a message that stand already, results first. */
function linesOf(message: Message, chain: LineChain, results: ReadonlyMap<string, string>): readonly string[] {
  const place = chain.placeOf(message.id);
  if (place === undefined) return [];
  const blocks = message.role === 'user' ? message.blocks : [];
  const answered = blocks.flatMap((block) =>
    block.type === 'tool_result' ? (results.get(block.tool_use_id) ?? []) : [],
  );
  return [...answered, ...place.uuids];
}
