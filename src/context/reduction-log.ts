import { z } from 'zod';
import type { Message, ToolResultBlock, UserMessage } from '../contracts/message.ts';

const decisionSchema = z.lazy(() =>
  z.discriminatedUnion('level', [
    z.object({ level: z.enum(['budget', 'snip', 'microcompact']), callId: z.string(), text: z.string() }),
    z.object({
      level: z.literal('collapse'),
      /** Ids of the collapsed replies and result messages; the line takes the place of the first. */
      messageIds: z.array(z.string()).readonly(),
      callIds: z.array(z.string()).readonly(),
      text: z.string(),
    }),
  ]),
);

/** A decision about what is sent of the conversation. Recorded ones are replayed as they are, never made again. */
export type ContextDecision = Readonly<z.output<typeof decisionSchema>>;
/** The text that replaces one result. */
export type ResultReduction = Exclude<ContextDecision, { level: 'collapse' }>;
/** A run of calls replaced by one line. */
export type CollapseReduction = Extract<ContextDecision, { level: 'collapse' }>;

/** Creates the log of a conversation's decisions, which also applies them to messages. */
export function createReductionLog() {
  const results = new Map<string, ResultReduction>();
  const folds: CollapseReduction[] = [];
  const foldedCalls = new Set<string>();
  const foldedMessages = new Map<string, CollapseReduction>();
  return {
    record: (decision: ContextDecision) => {
      if (decision.level !== 'collapse') {
        results.set(decision.callId, decision);
        return;
      }
      folds.push(decision);
      for (const id of decision.callIds) foldedCalls.add(id);
      for (const id of decision.messageIds) foldedMessages.set(id, decision);
    },
    has: (callId: string): boolean => results.has(callId) || foldedCalls.has(callId),
    /** Returns whether a result was changed after it had been sent; then it is never changed again. */
    isFinal: (callId: string): boolean => foldedCalls.has(callId) || isFinalDecision(results.get(callId)),
    applyTo: (message: Message): Message | undefined => {
      const fold = foldedMessages.get(message.id);
      if (fold !== undefined)
        return fold.messageIds[0] === message.id ? createFoldLine(message.id, fold) : keepNonResults(message);
      return message.role === 'user' ? applyResultDecisions(message, results) : message;
    },
    all: (): readonly ContextDecision[] => [...results.values(), ...folds],
  };
}

/** The decisions of one conversation. */
export type ReductionLog = ReturnType<typeof createReductionLog>;

/** The budget applies before a result is first sent, all other levels after it. */
function isFinalDecision(decision: ResultReduction | undefined): boolean {
  return decision !== undefined && decision.level !== 'budget';
}

function createFoldLine(id: string, fold: CollapseReduction): UserMessage {
  return { role: 'user', id, origin: 'summary', blocks: [{ type: 'text', text: fold.text }] };
}

/** Keeps what a collapsed result message holds besides results. */
function keepNonResults(message: Message): Message | undefined {
  if (message.role !== 'user') return undefined;
  const blocks = message.blocks.filter((block) => block.type !== 'tool_result');
  return blocks.length === 0 ? undefined : { ...message, blocks };
}

function applyResultDecisions(message: UserMessage, results: ReadonlyMap<string, ResultReduction>): UserMessage {
  const getDecision = (callId: string) => results.get(callId);
  const hasDecision = message.blocks.some((block) => block.type === 'tool_result' && getDecision(block.tool_use_id));
  if (!hasDecision) return message;
  const blocks = message.blocks.map((block) => {
    const decision = block.type === 'tool_result' ? getDecision(block.tool_use_id) : undefined;
    return block.type !== 'tool_result' || decision === undefined ? block : replaceContent(block, decision.text);
  });
  return { ...message, blocks };
}

function replaceContent(block: ToolResultBlock, text: string): ToolResultBlock {
  return { ...block, content: text };
}

/** Parses decisions recorded in a session; invalid ones are omitted. */
export function parseReductions(records: readonly unknown[]): readonly ContextDecision[] {
  return records.flatMap((record) => decisionSchema.safeParse(record).data ?? []);
}
