import type { Message } from '../../contracts/message.ts';
import type { SessionRecordBody } from '../../contracts/session.ts';
import { createTranscriptLineUuid } from '../../lib/transcript-line-uuid.ts';

/** Dropped blocks leave gaps in the numbering, so some indexes beyond the block count are tried as well. */
const SPARE_BLOCKS = 8;

/** The truncated conversation with the records to append, or the problem. */
export type ResumeAtResult =
  | { readonly ok: true; readonly messages: readonly Message[]; readonly records: readonly SessionRecordBody[] }
  | { readonly ok: false; readonly problem: string };

/** Truncates a conversation after a message; the rest leaves the session as in a rewind. */
export function truncateForResume(messages: readonly Message[], messageId: string | undefined): ResumeAtResult {
  if (messageId === undefined) return { ok: true, messages, records: [] };
  const index = messages.findLastIndex((message) => hasId(message, messageId));
  if (index < 0) return { ok: false, problem: `The session has no message ${messageId} to resume at.` };
  const next = messages[index + 1];
  // Results belong to the calls they answer.
  const end = next?.role === 'user' && next.blocks.some(({ type }) => type === 'tool_result') ? index + 2 : index + 1;
  const first = messages[end];
  const records: readonly SessionRecordBody[] =
    first === undefined ? [] : [{ type: 'system', subtype: 'rewind', data: { messageId: first.id } }];
  return { ok: true, messages: messages.slice(0, end), records };
}

function hasId(message: Message, messageId: string): boolean {
  if (message.id === messageId) return true;
  if (message.role !== 'assistant') return false;
  const count = message.blocks.length + SPARE_BLOCKS;
  return Array.from({ length: count }, (_, index) => createTranscriptLineUuid(message.id, index)).includes(messageId);
}
