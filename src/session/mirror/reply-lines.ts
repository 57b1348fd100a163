import { wireBlock, wireUsage } from '../../contracts/face/wire.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { AssistantBlock, Usage } from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { lineUuid } from '../../lib/line-uuid.ts';
import { isUsage } from '../records/sound-blocks.ts';
import type { LineChain } from './line-chain.ts';

/** A block of a reply, and the record it was written with. */
type Written = { readonly record: SessionRecord; readonly index: number; readonly block: AssistantBlock };

/** How a reply ended, as far as that is known. */
export type End = { readonly stopReason?: unknown; readonly usage?: unknown };

/** The lines of replies, one for each block. They wait for the end of the reply: all of them say what it used. */
export type ReplyLines = {
  isOpen(messageId?: unknown): boolean;
  add(record: Extract<SessionRecord, { type: 'assistant' }>): void;
  /** What was being written counts as written. */
  close(end?: End): readonly JsonObject[];
  /** What was being written never was. */
  drop(): void;
  /** A whole reply. */
  write(reply: Reply, end: End): readonly JsonObject[];
  /** The line of a call. */
  callerOf(callId: string): string | undefined;
};

type Reply = { readonly id: string; readonly model: string; readonly blocks: readonly Written[] };

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function createReplyLines(chain: LineChain): ReplyLines {
  let open: Reply | undefined;
  const callers = new Map<string, string>();

  function write({ id, model, blocks }: Reply, { stopReason, usage }: End): readonly JsonObject[] {
    const requestId = `req_${(blocks[0]?.record.uuid ?? id).replaceAll('-', '').slice(0, 24)}`;
    const used = wireUsage(isUsage(usage) ? usage : NO_USAGE);
    return chain.placed(id, () =>
      blocks.map(({ record, index, block }, at) => {
        const stop = at === blocks.length - 1 && typeof stopReason === 'string' ? stopReason : null;
        const head = { id, type: 'message', role: 'assistant', model };
        const message = { ...head, content: [wireBlock(block)], stop_reason: stop, stop_sequence: null, usage: used };
        const line = chain.line(record, lineUuid(id, index), { type: 'assistant', message, requestId });
        if (block.type === 'tool_use') callers.set(block.id, String(line.uuid));
        return line;
      }),
    );
  }

  function drop(): void {
    open = undefined;
  }

  return {
    isOpen: (messageId) => open !== undefined && (messageId === undefined || messageId === open.id),
    add(record) {
      const { messageId: id, model, index, block } = record;
      open = { id, model, blocks: [...(open?.blocks ?? []), { record, index, block }] };
    },
    close(end = {}) {
      const reply = open;
      drop();
      return reply === undefined ? [] : write(reply, end);
    },
    drop,
    write,
    callerOf: (callId) => callers.get(callId),
  };
}
