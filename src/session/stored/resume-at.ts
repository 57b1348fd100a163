import type { Message } from '../../contracts/message.ts';
import type { RecordBody } from '../../contracts/session.ts';
import { lineUuid } from '../../lib/line-uuid.ts';

/** Blocks that were never kept leave holes in the count, so a few more than there are. */
const SPARE_BLOCKS = 8;

export type ResumedAt =
  | { readonly ok: true; readonly messages: readonly Message[]; readonly records: readonly RecordBody[] }
  | { readonly ok: false; readonly problem: string };

/** A conversation up to a message and no further. What came after it leaves the session as a rewind does. */
export function resumeAt(messages: readonly Message[], wanted: string | undefined): ResumedAt {
  if (wanted === undefined) return { ok: true, messages, records: [] };
  const at = messages.findLastIndex((message) => isMeant(message, wanted));
  if (at < 0) return { ok: false, problem: `The session holds no message ${wanted} to resume at.` };
  const next = messages[at + 1];
  // Results belong to the calls they answer.
  const end = next?.role === 'user' && next.blocks.some(({ type }) => type === 'tool_result') ? at + 2 : at + 1;
  const first = messages[end];
  const records: readonly RecordBody[] =
    first === undefined ? [] : [{ type: 'system', subtype: 'rewind', data: { messageId: first.id } }];
  return { ok: true, messages: messages.slice(0, end), records };
}

function isMeant(message: Message, wanted: string): boolean {
  if (message.id === wanted) return true;
  if (message.role !== 'assistant') return false;
  const count = message.blocks.length + SPARE_BLOCKS;
  return Array.from({ length: count }, (_, index) => lineUuid(message.id, index)).includes(wanted);
}
