import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';
import type { PastEvent, SessionRecord } from '../../contracts/session.ts';
import { callEnd, callStart, notice, runEnd, turnEnd } from './past-shapes.ts';

/** What the records of a conversation know besides its messages. */
export type PastFacts = {
  /** What happened behind a message until the next one: results, notices, the end of the run. */
  readonly behind: ReadonlyMap<string, readonly PastEvent[]>;
  /** When the thoughts of a reply began and ended, in their order. */
  readonly thoughts: ReadonlyMap<string, readonly Thought[]>;
  /** What the session had cost before. */
  readonly costUsd: number;
};

/** A thought whose beginning is not known ended as it began. */
export type Thought = { readonly fromMs: number; readonly toMs: number };

type Of<Type> = Extract<SessionRecord, { type: Type }>;

/** Reads off the records what happened around these messages, which stand side by side in a conversation. */
export function pastFacts(records: readonly SessionRecord[], messages: readonly Message[]): PastFacts {
  const first = messages[0]?.id;
  const start = records.findIndex((record) => record.type === 'user' && record.message.id === first);
  const before = records.slice(0, Math.max(0, start));
  const costUsd = before.reduce((cost, record) => costIn(record) ?? cost, 0);
  const wanted = new Set(messages.map(({ id }) => id));
  return readFacts(records.slice(before.length), wanted, costUsd);
}

function readFacts(records: readonly SessionRecord[], wanted: ReadonlySet<string>, costBeforeUsd: number): PastFacts {
  const behind = new Map<string, PastEvent[]>();
  const thoughts = new Map<string, Thought[]>();
  const replies = createReplies();
  let anchor = '';
  let costUsd = costBeforeUsd;
  const note = (messageId: string, record: SessionRecord, ...events: readonly AgentEvent[]) => {
    if (!wanted.has(messageId)) return;
    const atMs = timeOf(record);
    const past = events.map((event) => ({ event, atMs, costUsd }));
    behind.set(messageId, [...(behind.get(messageId) ?? []), ...past]);
  };
  for (const record of records) {
    costUsd = costIn(record) ?? costUsd;
    switch (record.type) {
      case 'user':
      case 'custom':
        anchor = record.message.id;
        break;
      case 'assistant': {
        anchor = record.messageId;
        const thought = replies.block(record);
        if (thought !== undefined) thoughts.set(anchor, [...(thoughts.get(anchor) ?? []), thought]);
        break;
      }
      case 'compact-boundary': {
        const { boundary, messages, postTokens } = record;
        anchor = messages.at(-1)?.id ?? anchor;
        note(anchor, record, { type: 'compacted', boundary, messages, postTokens });
        break;
      }
      case 'permission':
        replies.decided(record);
        break;
      case 'result':
        note(replies.ownerOf(record.callId) ?? anchor, record, ...replies.ended(record));
        break;
      case 'system':
        if (record.subtype === 'turn_end') fixFirst(thoughts, record);
        else if (record.subtype === 'tool_start') replies.started(record);
        else note(anchor, record, ...eventsOf(record));
        break;
      default:
    }
  }
  return { behind, thoughts, costUsd: costBeforeUsd };
}

/** What is known of the replies as far as they have been read: which calls they made, and when each block came. */
function createReplies() {
  const owners = new Map<string, string>();
  const typed = new Set<string>();
  const decisions = new Map<string, Of<'permission'>>();
  let last = { messageId: '', atMs: 0 };
  return {
    ownerOf: (callId: string) => owners.get(callId),
    block(record: Of<'assistant'>): Thought | undefined {
      const { messageId, block } = record;
      if (block.type === 'tool_use') owners.set(block.id, messageId);
      const toMs = timeOf(record);
      const fromMs = last.messageId === messageId ? last.atMs : toMs;
      last = { messageId, atMs: toMs };
      return block.type === 'thinking' || block.type === 'redacted_thinking' ? { fromMs, toMs } : undefined;
    },
    decided: (record: Of<'permission'>) => void decisions.set(record.callId, record),
    started({ data }: Of<'system'>) {
      const call = callStart.safeParse(data);
      if (call.success && call.data.messageId === '') typed.add(call.data.callId);
    },
    /** The end of a call; of one that a person made, its beginning too. */
    ended(record: Of<'result'>): readonly AgentEvent[] {
      const { callId, tool, result } = record;
      const end = callEnd.safeParse(record);
      // Without a tool, only its being lost was noted.
      if (!end.success || tool === '') return [];
      const { status, display } = end.data;
      const decision = decisions.get(callId);
      // The time somebody took to answer is not the call's.
      const sinceDecision = decision === undefined ? Number.POSITIVE_INFINITY : timeOf(record) - timeOf(decision);
      const durationMs = Math.max(0, Math.min(end.data.durationMs, sinceDecision));
      const ended: AgentEvent = {
        ...{ type: 'tool_end', callId, tool, result, status, durationMs },
        ...(display === undefined ? {} : { display }),
      };
      if (typed.has(callId)) {
        const command = display?.kind === 'output' ? display.command : '';
        return [{ type: 'tool_start', callId, tool, title: command, input: { command }, messageId: '' }, ended];
      }
      // A plan was printed when it was asked about.
      if (display?.kind === 'plan') return [...planEvents(callId, display.plan), ended];
      if (decision?.verdict !== 'deny') return [ended];
      const { trace } = decision;
      return [{ type: 'permission_decision', callId, tool, input: {}, verdict: 'deny', trace }, ended];
    },
  };
}

function planEvents(callId: string, plan: string): readonly AgentEvent[] {
  const id = `plan-${callId}`;
  return [
    { type: 'question', id, callId, question: { kind: 'plan', plan } },
    { type: 'question_answer', id, answer: undefined },
  ];
}

/** A reply that begins with a thought began to think with its first token. */
function fixFirst(thoughts: Map<string, Thought[]>, record: Of<'system'>): void {
  const end = turnEnd.safeParse(record.data);
  const [first, ...rest] = thoughts.get(end.data?.messageId ?? '') ?? [];
  if (end.data === undefined || first === undefined || first.fromMs !== first.toMs) return;
  const fromMs = timeOf(record) - end.data.durationMs + end.data.firstTokenMs;
  thoughts.set(end.data.messageId, [{ fromMs: Math.min(fromMs, first.toMs), toMs: first.toMs }, ...rest]);
}

function eventsOf({ subtype, data }: Of<'system'>): readonly AgentEvent[] {
  switch (subtype) {
    case 'notice': {
      const said = notice.safeParse(data);
      return said.success ? [{ type: 'notice', ...said.data }] : [];
    }
    case 'agent_end': {
      const end = runEnd.safeParse(data);
      return end.success ? [{ type: 'agent_end', ...end.data }] : [];
    }
    case 'calls_summary':
      return typeof data.text === 'string' ? [{ type: 'calls_summary', text: data.text }] : [];
    default:
      return [];
  }
}

function costIn(record: SessionRecord): number | undefined {
  if (record.type !== 'system' || record.subtype !== 'live') return undefined;
  return typeof record.data.spentUsd === 'number' ? record.data.spentUsd : undefined;
}

function timeOf({ timestamp }: SessionRecord): number {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? 0 : ms;
}
