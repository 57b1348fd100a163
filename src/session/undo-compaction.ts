import type { Message } from '../contracts/message.ts';
import { EMPTY_CONVERSATION, messagesOf, nextConversation } from './records/conversation-state.ts';
import { readTranscript } from './records/read-transcript.ts';

/** The conversation as an earlier run had it before it was compacted, with what was said since; from the session's file. */
export async function beforeCompaction(
  path: string | undefined,
  messages: readonly Message[],
): Promise<readonly Message[] | undefined> {
  const read = path === undefined ? undefined : await readTranscript(path).catch(() => undefined);
  let conversation = EMPTY_CONVERSATION;
  let found: { readonly before: readonly Message[]; readonly after: readonly Message[] } | undefined;
  for (const record of read?.records ?? []) {
    if (record.type === 'compact-boundary') {
      const before = messagesOf(conversation);
      // A conversation that was cleared, or is back from a compaction, was not summed up just now.
      found = isSummedUp(before, record.messages) ? { before, after: record.messages } : undefined;
    }
    conversation = nextConversation(conversation, record);
  }
  if (found === undefined) return undefined;
  const { before, after } = found;
  const continues = after.every((message, index) => messages[index]?.id === message.id);
  return continues ? [...before, ...messages.slice(after.length)] : undefined;
}

function isSummedUp(before: readonly Message[], after: readonly Message[]): boolean {
  const known = new Set(before.map(({ id }) => id));
  return after.some((message) => message.role === 'user' && message.origin === 'summary' && !known.has(message.id));
}
