import { z } from 'zod';
import type { Message, ToolResultBlock, UserMessage } from '../contracts/message.ts';

/** What happened to one result, with the words that stand in its place: replayed, never thought over again. */
export type ResultDecision = {
  readonly level: 'budget' | 'snip' | 'microcompact';
  readonly callId: string;
  readonly text: string;
};

/** A run of calls became one line. */
export type FoldDecision = {
  readonly level: 'collapse';
  /** The replies and the results that are folded, by message id; the line stands where the first was. */
  readonly messageIds: readonly string[];
  readonly callIds: readonly string[];
  readonly text: string;
};

export type Decision = ResultDecision | FoldDecision;

/** The decisions of one conversation and the view they make of a message. */
export function createDecisions(): {
  record(decision: Decision): void;
  has(callId: string): boolean;
  /** Was the block changed after it had been sent? Then it is never changed again. */
  isFinal(callId: string): boolean;
  viewOf(message: Message): Message | undefined;
  all(): readonly Decision[];
} {
  const results = new Map<string, ResultDecision>();
  const folds: FoldDecision[] = [];
  const foldedCalls = new Set<string>();
  const foldedMessages = new Map<string, FoldDecision>();
  return {
    record: (decision) => {
      if (decision.level !== 'collapse') {
        results.set(decision.callId, decision);
        return;
      }
      folds.push(decision);
      for (const id of decision.callIds) foldedCalls.add(id);
      for (const id of decision.messageIds) foldedMessages.set(id, decision);
    },
    has: (callId) => results.has(callId) || foldedCalls.has(callId),
    isFinal: (callId) => foldedCalls.has(callId) || isAfterwards(results.get(callId)),
    viewOf: (message) => {
      const fold = foldedMessages.get(message.id);
      if (fold !== undefined) return fold.messageIds[0] === message.id ? foldLine(message.id, fold) : leftover(message);
      return message.role === 'user' ? withResults(message, results) : message;
    },
    all: () => [...results.values(), ...folds],
  };
}

export type Decisions = ReturnType<typeof createDecisions>;

/** The budget is applied before a result is sent for the first time; the other levels come later. */
function isAfterwards(decision: ResultDecision | undefined): boolean {
  return decision !== undefined && decision.level !== 'budget';
}

function foldLine(id: string, fold: FoldDecision): UserMessage {
  return { role: 'user', id, origin: 'summary', blocks: [{ type: 'text', text: fold.text }] };
}

/** What a folded message of results held besides results stays. */
function leftover(message: Message): Message | undefined {
  if (message.role !== 'user') return undefined;
  const blocks = message.blocks.filter((block) => block.type !== 'tool_result');
  return blocks.length === 0 ? undefined : { ...message, blocks };
}

function withResults(message: UserMessage, results: ReadonlyMap<string, ResultDecision>): UserMessage {
  const decided = (callId: string) => results.get(callId);
  const isTouched = message.blocks.some((block) => block.type === 'tool_result' && decided(block.tool_use_id));
  if (!isTouched) return message;
  const blocks = message.blocks.map((block) => {
    const decision = block.type === 'tool_result' ? decided(block.tool_use_id) : undefined;
    return block.type !== 'tool_result' || decision === undefined ? block : replaced(block, decision.text);
  });
  return { ...message, blocks };
}

function replaced(block: ToolResultBlock, text: string): ToolResultBlock {
  return { ...block, content: text };
}

const stored = z.discriminatedUnion('level', [
  z.object({ level: z.enum(['budget', 'snip', 'microcompact']), callId: z.string(), text: z.string() }),
  z.object({
    level: z.literal('collapse'),
    messageIds: z.array(z.string()),
    callIds: z.array(z.string()),
    text: z.string(),
  }),
]);

/** Decisions as a session file kept them; what is no decision is left out. */
export function readDecisions(records: readonly unknown[]): readonly Decision[] {
  return records.flatMap((record) => stored.safeParse(record).data ?? []);
}
