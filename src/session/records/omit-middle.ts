import type { SessionRecord } from '../../contracts/session.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { EMPTY_CONVERSATION, reduceConversation } from './conversation-state.ts';

/** Record types that hold the conversation: they make a file large, and a boundary makes earlier ones unnecessary. */
export const CONVERSATION_TYPES: ReadonlySet<string> = new Set([
  'user',
  'assistant',
  'reply',
  'result',
  'permission',
  'tombstone',
  'compact-boundary',
]);

/** The limit of all prompts that are kept from the omitted part. */
export const MAX_PROMPTS_CHARS = 200_000;

/** Shortens a long conversation to the newest prompts before the tail, a note about the omitted part, and the tail. */
export function omitMiddle(
  records: readonly SessionRecord[],
  { tail: tailIndex, bytes }: { readonly tail: number; readonly bytes: number },
): readonly SessionRecord[] {
  let remaining = MAX_PROMPTS_CHARS;
  const before = records
    .slice(0, tailIndex)
    .toReversed()
    .filter((record) => {
      if (record.type !== 'user') return true;
      remaining -= JSON.stringify(record.message).length;
      return remaining >= 0;
    })
    .toReversed();
  return [...before, ...startAtPrompt(records.slice(tailIndex), bytes)];
}

/** Starts at the first prompt, or else at the first complete reply: results before it have lost their calls. */
function startAtPrompt(records: readonly SessionRecord[], bytes: number): readonly SessionRecord[] {
  const prompt = records.findIndex((record) => record.type === 'user' && record.results === undefined);
  const reply = records.findIndex((record) => record.type === 'assistant' && record.index === 0);
  const start = prompt === -1 ? reply : prompt;
  const firstKept = start === -1 ? records.length : start;
  const [head] = records;
  if (head === undefined) return records;
  const { v, parentUuid, sessionId, timestamp, cwd, version } = head;
  const text = `<reminder>This conversation is too long to be sent: of its first ${formatBytes(bytes)} only what the user typed stands above, without answers, calls and results. What follows is its end.</reminder>`;
  const note: SessionRecord = {
    ...{ v, uuid: `left-out-${bytes}`, parentUuid, sessionId, timestamp, cwd, version, type: 'user' as const },
    message: { role: 'user', id: `left-out-${bytes}`, origin: 'resume', blocks: [{ type: 'text', text }] },
  };
  return [note, ...records.filter((record, index) => index >= firstKept || !CONVERSATION_TYPES.has(record.type))];
}

/** Drops the conversation records before the last rewind whose target was omitted. */
export function dropBeforeLostRewind(records: readonly SessionRecord[]): readonly SessionRecord[] {
  let state = EMPTY_CONVERSATION;
  let lostRewind = -1;
  for (const [index, record] of records.entries()) {
    state = reduceConversation({ ...state, incomplete: false }, record);
    if (state.incomplete) lostRewind = index;
  }
  return records.filter((record, index) => index > lostRewind || !CONVERSATION_TYPES.has(record.type));
}
