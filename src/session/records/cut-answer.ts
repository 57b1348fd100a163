import type { UserMessage } from '../../contracts/message.ts';
import type { RecordBody, SessionRecord } from '../../contracts/session.ts';
import type { OpenWords } from '../running/answer-journal.ts';

/** The answer a killed run was in the middle of. */
export type CutAnswer = {
  /** The records with the words that were open as a block behind them. */
  readonly records: readonly SessionRecord[];
  /** To be written before anything else. */
  readonly block: Extract<RecordBody, { type: 'assistant' }>;
  /** Tells the model, behind the results of its calls. */
  readonly line: UserMessage;
};

const CUT_WORDS = '[The session ended here, in the middle of your reply. The user has seen at most what stands here.]';

/** Open words count when the session ends with them: their reply has neither joined nor been taken back. */
export function cutAnswer(
  records: readonly SessionRecord[],
  open: OpenWords | undefined,
  newId: () => string,
): CutAnswer | undefined {
  const last = records.at(-1);
  if (open === undefined || last === undefined || !isTheEnd(records, open)) return undefined;
  const { messageId, model, index, text } = open;
  const block = { type: 'assistant', messageId, model, index, block: { type: 'text', text, cut: true } } as const;
  const { v, uuid, parentUuid, sessionId, timestamp, cwd, version } = last;
  return {
    records: [...records, { v, uuid, parentUuid, sessionId, timestamp, cwd, version, ...block }],
    block,
    line: { role: 'user', id: newId(), origin: 'interrupt', blocks: [{ type: 'text', text: CUT_WORDS }] },
  };
}

function isTheEnd(records: readonly SessionRecord[], { messageId, index }: OpenWords): boolean {
  const said = records.flatMap((record) =>
    record.type === 'assistant' || record.type === 'reply' || record.type === 'user' || record.type === 'tombstone'
      ? [record]
      : [],
  );
  const isOver = said.some(
    (record) => (record.type === 'reply' || record.type === 'tombstone') && record.messageId === messageId,
  );
  const blocks = said.filter((record) => record.type === 'assistant' && record.messageId === messageId).length;
  const last = said.at(-1);
  const follows = last?.type === 'user' || (last?.type === 'assistant' && last.messageId === messageId);
  return !isOver && blocks === index && (follows || last?.type === 'tombstone');
}
