import { z } from 'zod';
import { type CallDenial, DENIAL_SOURCES } from '../../contracts/denial.ts';
import type { Display } from '../../contracts/display.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Message, ToolResultBlock } from '../../contracts/message.ts';
import { MODEL_FAILURE_KINDS } from '../../contracts/model.ts';
import type { PastRunEvent, SessionRecord } from '../../contracts/session.ts';
import { TERMINAL_REASONS, type Terminal } from '../../contracts/terminal-reason.ts';

/** The facts recorded about a conversation besides its messages. */
export type RecordedEventsAndTimes = {
  /** Events between a message and the next one, by message id: results, notices, the end of the run. */
  readonly eventsAfter: ReadonlyMap<string, readonly PastRunEvent[]>;
  /** Start and end times of the thinking blocks of a reply, in order. */
  readonly thinkingTimes: ReadonlyMap<string, readonly ThinkingTime[]>;
  /** Cost of the session before the first of the messages. */
  readonly costUsd: number;
};

/** The time of a thinking block; both times are equal when its start is unknown. */
type ThinkingTime = { readonly fromMs: number; readonly toMs: number };

type RecordOf<Type> = Extract<SessionRecord, { type: Type }>;

/** Collects the recorded facts about consecutive messages of a conversation. */
export function collectRecordedFacts(
  records: readonly SessionRecord[],
  messages: readonly Message[],
): RecordedEventsAndTimes {
  const first = messages[0]?.id;
  const start = records.findIndex((record) => record.type === 'user' && record.message.id === first);
  const before = records.slice(0, Math.max(0, start));
  const costUsd = before.reduce((cost, record) => getCost(record) ?? cost, 0);
  const messageIds = new Set(messages.map(({ id }) => id));
  return collectFacts(records.slice(before.length), messageIds, costUsd);
}

function collectFacts(
  records: readonly SessionRecord[],
  messageIds: ReadonlySet<string>,
  costBeforeUsd: number,
): RecordedEventsAndTimes {
  const eventsAfter = new Map<string, PastRunEvent[]>();
  const thinkingTimes = new Map<string, ThinkingTime[]>();
  const replies = createReplyTracker();
  let anchorId = '';
  let costUsd = costBeforeUsd;
  const addEvents = (messageId: string, record: SessionRecord, ...events: readonly AgentEvent[]) => {
    if (!messageIds.has(messageId)) return;
    const atMs = getTimeMs(record);
    const pastEvents = events.map((event) => ({ event, atMs, costUsd }));
    eventsAfter.set(messageId, [...(eventsAfter.get(messageId) ?? []), ...pastEvents]);
  };
  for (const record of records) {
    costUsd = getCost(record) ?? costUsd;
    switch (record.type) {
      case 'user':
      case 'custom':
        anchorId = record.message.id;
        break;
      case 'assistant': {
        anchorId = record.messageId;
        const span = replies.addBlock(record);
        if (span !== undefined) thinkingTimes.set(anchorId, [...(thinkingTimes.get(anchorId) ?? []), span]);
        break;
      }
      case 'compact-boundary': {
        const { boundary, messages, postTokens } = record;
        anchorId = messages.at(-1)?.id ?? anchorId;
        addEvents(anchorId, record, { type: 'compacted', boundary, messages, postTokens });
        break;
      }
      case 'permission':
        replies.addDecision(record);
        break;
      case 'result':
        addEvents(replies.getReplyId(record.callId) ?? anchorId, record, ...replies.endCall(record));
        break;
      case 'system':
        if (record.subtype === 'turn_end') setThinkingStart(thinkingTimes, record);
        else if (record.subtype === 'tool_start') replies.addCallStart(record);
        else addEvents(anchorId, record, ...createSystemEvents(record));
        break;
      default:
    }
  }
  return { eventsAfter: eventsAfter, thinkingTimes, costUsd: costBeforeUsd };
}

/** Tracks the replies read so far: their calls, and the time of each block. */
function createReplyTracker() {
  const replyIds = new Map<string, string>();
  const typedCalls = new Set<string>();
  const decisions = new Map<string, RecordOf<'permission'>>();
  let last = { messageId: '', atMs: 0 };
  return {
    getReplyId: (callId: string) => replyIds.get(callId),
    addBlock(record: RecordOf<'assistant'>): ThinkingTime | undefined {
      const { messageId, block } = record;
      if (block.type === 'tool_use') replyIds.set(block.id, messageId);
      const toMs = getTimeMs(record);
      const fromMs = last.messageId === messageId ? last.atMs : toMs;
      last = { messageId, atMs: toMs };
      return block.type === 'thinking' || block.type === 'redacted_thinking' ? { fromMs, toMs } : undefined;
    },
    addDecision: (record: RecordOf<'permission'>) => void decisions.set(record.callId, record),
    addCallStart({ data }: RecordOf<'system'>) {
      const call = callStartSchema.safeParse(data);
      if (call.success && call.data.messageId === '') typedCalls.add(call.data.callId);
    },
    /** Returns the end event of a call; for a command typed by the user, also its start event. */
    endCall(record: RecordOf<'result'>): readonly AgentEvent[] {
      const { callId, tool, result } = record;
      const end = callEndSchema.safeParse(record);
      // A result without a tool name only records that the call was lost.
      if (!end.success || tool === '') return [];
      const { status, display } = end.data;
      const decision = decisions.get(callId);
      const denial = end.data.denial ?? (status === 'denied' ? readLegacyDenial(decision, result) : undefined);
      // The time the user took to answer the permission question does not count.
      const sinceDecision = decision === undefined ? Number.POSITIVE_INFINITY : getTimeMs(record) - getTimeMs(decision);
      const durationMs = Math.max(0, Math.min(end.data.durationMs, sinceDecision));
      const endEvent: AgentEvent = {
        ...{ type: 'tool_end', callId, tool, result, status, durationMs },
        ...(denial === undefined ? {} : { denial }),
        ...(display === undefined ? {} : { display }),
      };
      if (typedCalls.has(callId)) {
        const command = display?.kind === 'output' ? display.command : '';
        return [{ type: 'tool_start', callId, tool, title: command, input: { command }, messageId: '' }, endEvent];
      }
      // A plan is shown by its question.
      if (display?.kind === 'plan') return [...createPlanEvents(callId, display.plan), endEvent];
      return [endEvent];
    },
  };
}

const oldTraceSchema = z.array(z.object({ text: z.string() }));

/** Trace text of a refusal by the user, up to version 0.1: the words of the user, or a text for the model. */
const OLD_REFUSAL = /^The answer was no: (?:The user refused this call\.[\s\S]*)?/;
/** Start of the result of any other denied call, up to version 0.1. */
const OLD_DENIAL = /^\S+ (?:needs permission and )?was not run\. /;

/** Returns the denial of a call recorded by version 0.1 or earlier, which stored its sentences only. @internal */
export function readLegacyDenial(
  decision: RecordOf<'permission'> | undefined,
  { content }: ToolResultBlock,
): CallDenial {
  const trace = oldTraceSchema.safeParse(decision?.trace);
  const answer = trace.data?.at(-1)?.text ?? '';
  if (OLD_REFUSAL.test(answer)) return { by: 'user', reason: answer.replace(OLD_REFUSAL, '') };
  const text = typeof content === 'string' ? content : '';
  return { by: 'rule', reason: text.replace(OLD_DENIAL, '') };
}

function createPlanEvents(callId: string, plan: string): readonly AgentEvent[] {
  const id = `plan-${callId}`;
  return [
    { type: 'question', id, callId, question: { kind: 'plan', plan } },
    { type: 'question_answer', id, answer: undefined },
  ];
}

/** Sets the start of a leading thinking block to the time of the reply's first token. */
function setThinkingStart(thoughts: Map<string, ThinkingTime[]>, record: RecordOf<'system'>): void {
  const end = turnEndSchema.safeParse(record.data);
  const [first, ...rest] = thoughts.get(end.data?.messageId ?? '') ?? [];
  if (end.data === undefined || first === undefined || first.fromMs !== first.toMs) return;
  const fromMs = getTimeMs(record) - end.data.durationMs + end.data.firstTokenMs;
  thoughts.set(end.data.messageId, [{ fromMs: Math.min(fromMs, first.toMs), toMs: first.toMs }, ...rest]);
}

function createSystemEvents({ subtype, data }: RecordOf<'system'>): readonly AgentEvent[] {
  switch (subtype) {
    case 'notice': {
      const parsed = noticeSchema.safeParse(data);
      return parsed.success ? [{ type: 'notice', ...parsed.data }] : [];
    }
    case 'agent_end': {
      const end = runEndSchema.safeParse(data);
      return end.success ? [{ type: 'agent_end', ...end.data }] : [];
    }
    case 'calls_summary':
      return typeof data.text === 'string' ? [{ type: 'calls_summary', text: data.text }] : [];
    default:
      return [];
  }
}

function getCost(record: SessionRecord): number | undefined {
  if (record.type !== 'system' || record.subtype !== 'live') return undefined;
  return typeof record.data.spentUsd === 'number' ? record.data.spentUsd : undefined;
}

function getTimeMs({ timestamp }: SessionRecord): number {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? 0 : ms;
}

const numberSchema = z.number();
const stringsSchema = z.array(z.string());

const hunkSchema = z.lazy(() =>
  z.object({
    oldStart: numberSchema,
    oldLines: numberSchema,
    newStart: numberSchema,
    newLines: numberSchema,
    lines: z.array(z.object({ kind: z.enum(['add', 'del', 'same']), text: z.string() })),
    path: z.string().optional(),
  }),
);

const questionSchema = z.lazy(() =>
  z.object({
    question: z.string(),
    header: z.string().optional(),
    multiSelect: z.boolean(),
    options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
  }),
);

const todoSchema = z.lazy(() =>
  z.object({
    content: z.string(),
    status: z.enum(['pending', 'in_progress', 'completed']),
    activeForm: z.string().optional(),
  }),
);

const displaySchema: z.ZodType<Display> = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: z.string() }),
    z.object({
      kind: z.literal('diff'),
      path: z.string(),
      created: z.boolean(),
      hunks: z.array(hunkSchema),
      added: numberSchema,
      removed: numberSchema,
    }),
    z.object({ kind: z.literal('file'), path: z.string(), lines: numberSchema, partial: z.boolean() }),
    z.object({ kind: z.literal('list'), summary: z.string(), items: stringsSchema, total: numberSchema }),
    z.object({
      kind: z.literal('output'),
      command: z.string(),
      output: z.string(),
      exitCode: numberSchema.nullable(),
      end: z.string().optional(),
      hiddenLines: numberSchema,
      fullPath: z.string().optional(),
    }),
    z.object({ kind: z.literal('todo'), todos: z.array(todoSchema) }),
    z.object({ kind: z.literal('image'), path: z.string(), mediaType: z.string(), bytes: numberSchema }),
    z.object({ kind: z.literal('plan'), plan: z.string() }),
    z.object({ kind: z.literal('question'), questions: z.array(questionSchema), answers: stringsSchema }),
    z.object({ kind: z.literal('agent'), agentType: z.string(), summary: z.string(), calls: numberSchema }),
  ]),
);

/** The recorded end of a call; unreadable optional parts are omitted. */
const callEndSchema = z.lazy(() =>
  z.object({
    status: z.enum(['done', 'failed', 'denied', 'interrupted']),
    denial: z
      .object({ by: z.enum(DENIAL_SOURCES), reason: z.string().optional() })
      .optional()
      .catch(undefined),
    durationMs: numberSchema.catch(0),
    display: displaySchema.optional().catch(undefined),
  }),
);

const terminalSchema: z.ZodType<Terminal> = z.lazy(() =>
  z.object({
    reason: z.enum(TERMINAL_REASONS),
    words: z.string().optional(),
    failure: z
      .object({ kind: z.enum(MODEL_FAILURE_KINDS), message: z.string(), status: numberSchema.optional() })
      .optional()
      .catch(undefined),
  }),
);

const runEndSchema = z.object({ terminal: terminalSchema, durationMs: numberSchema.catch(0) });

const noticeSchema = z.lazy(() =>
  z.object({ level: z.enum(['info', 'warn', 'error']), text: z.string(), topic: z.string().optional() }),
);

/** The recorded timing of a reply. */
const turnEndSchema = z.object({ messageId: z.string(), durationMs: numberSchema, firstTokenMs: numberSchema });

/** The recorded start of a call; the message id is empty for a command typed by the user. */
const callStartSchema = z.lazy(() => z.object({ callId: z.string(), tool: z.string(), messageId: z.string() }));
