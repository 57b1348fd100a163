import { z } from 'zod';
import { type ContextDecision, parseReductions } from '../../context/reduction-log.ts';
import type { AssistantBlock, Message, ToolResultBlock, UserMessage } from '../../contracts/message.ts';
import { MODEL_FAILURE_KINDS, type ModelFailure } from '../../contracts/model.ts';
import { type ExcludedContent, NO_EXCLUDED_CONTENT } from '../../contracts/query.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { splitWords } from '../../lib/text/lines.ts';
import type { RequestDigest } from '../../session/request-digest.ts';
import type { RecordedRequestHead } from '../../session/request-head.ts';
import { findIdenticalRequestBuild, rebuildRequests } from './rebuild-requests.ts';

/** One request of a run, its reply, and the events until the next request. */
export type RecordedStep = {
  /** Number of the request in the session, from 1. */
  readonly request: number;
  readonly recorded: RequestDigest;
  readonly prompt: RecordedRequestHead | undefined;
  /** Decisions of the context pipeline up to this request. */
  readonly decisions: readonly ContextDecision[];
  readonly blocks: readonly { readonly messageId: string; readonly block: AssistantBlock }[];
  readonly turn: z.output<typeof turnEndSchema> | undefined;
  readonly results: ReadonlyMap<string, ToolResultBlock>;
  /** User messages that joined, without their tool results. */
  readonly joined: readonly UserMessage[];
  readonly compaction: Extract<SessionRecord, { type: 'compact-boundary' }> | undefined;
  readonly transition: string | undefined;
};

/** One recorded query: its initial messages, its steps and its end. */
export type RecordedRun = {
  readonly before: readonly Message[];
  readonly excluded: ExcludedContent;
  readonly steps: readonly RecordedStep[];
  /** Absent: it was aborted, or the process ended. */
  readonly end: z.output<typeof agentEndSchema>['terminal'] | undefined;
};

const tokenCountSchema = z.number().default(0);
const failureSchema = z.lazy(() =>
  z
    .object({
      kind: z.enum(MODEL_FAILURE_KINDS),
      message: z.string(),
      refusedPart: z.enum(['signature', 'image']).optional(),
    })
    .transform(
      ({ refusedPart, ...failure }): ModelFailure => ({
        ...failure,
        ...(refusedPart === undefined ? {} : { refusedPart }),
      }),
    ),
);
const turnEndSchema = z.lazy(() =>
  z.object({
    messageId: z.string().optional(),
    stopReason: z.string().optional(),
    usage: z
      .object({
        inputTokens: tokenCountSchema,
        outputTokens: tokenCountSchema,
        cacheReadTokens: tokenCountSchema,
        cacheWriteTokens: tokenCountSchema,
      })
      .optional(),
    failure: failureSchema.optional(),
  }),
);
const agentEndSchema = z.lazy(() =>
  z.object({ terminal: z.object({ reason: z.string(), words: z.string().optional() }) }),
);

/** Splits the records of a session into queries. A request without a preceding transition starts a query. */
export function* splitIntoRecordedRuns(records: readonly SessionRecord[]): Generator<RecordedRun, void> {
  const walk = rebuildRequests(records);
  let run: RecordedRun | undefined;
  let decisions: readonly ContextDecision[] = [];
  let request = 0;
  for (const record of records) {
    if (record.type === 'system' && record.subtype === 'context') {
      decisions = [...decisions, ...parseReductions([record.data])];
    } else if (record.type === 'system' && record.subtype === 'request') {
      const walked = walk.next().value;
      if (walked?.recorded === undefined) return;
      const { recorded, builds, messages, prompt } = walked;
      if (run !== undefined && run.steps.at(-1)?.transition === undefined) {
        yield run;
        run = undefined;
      }
      request += 1;
      const excluded = walked.excluded[findIdenticalRequestBuild(recorded, builds) ?? 0] ?? NO_EXCLUDED_CONTENT;
      run ??= { before: messages, excluded, steps: [], end: undefined };
      run = { ...run, steps: [...run.steps, { ...EMPTY_STEP, request, recorded, prompt, decisions }] };
    } else if (run !== undefined && record.type === 'system' && record.subtype === 'agent_end') {
      yield { ...run, end: selectOwnEnd(agentEndSchema.safeParse(record.data).data?.terminal) };
      run = undefined;
    } else if (run !== undefined) {
      const last = run.steps.at(-1);
      if (last !== undefined) run = { ...run, steps: [...run.steps.slice(0, -1), addRecord(last, record)] };
    }
  }
  if (run !== undefined) yield run;
}

const EMPTY_STEP = {
  blocks: [],
  turn: undefined,
  results: new Map<string, ToolResultBlock>(),
  joined: [],
  compaction: undefined,
  transition: undefined,
} as const;

/** Ends that the loop reached by itself. Others came from outside, at a moment that is not recorded. */
const OWN_ENDS = splitWords(
  'completed stop_hook_prevented max_turns max_output_tokens prompt_too_long image_error refusal api_error',
);

function selectOwnEnd(terminal: RecordedRun['end']): RecordedRun['end'] {
  return terminal !== undefined && OWN_ENDS.includes(terminal.reason) ? terminal : undefined;
}

function addRecord(step: RecordedStep, record: SessionRecord): RecordedStep {
  switch (record.type) {
    case 'assistant':
      return { ...step, blocks: [...step.blocks, { messageId: record.messageId, block: record.block }] };
    case 'tombstone':
      // Blocks that were withdrawn after the turn were part of it.
      if (step.turn !== undefined) return step;
      return { ...step, blocks: step.blocks.filter(({ messageId }) => messageId !== record.messageId) };
    case 'result':
      return { ...step, results: new Map([...step.results, [record.callId, record.result]]) };
    case 'user':
      return { ...step, joined: [...step.joined, record.message] };
    case 'compact-boundary':
      return { ...step, compaction: record };
    case 'system':
      if (record.subtype === 'turn_end') return { ...step, turn: turnEndSchema.safeParse(record.data).data };
      if (record.subtype === 'transition') return { ...step, transition: String(record.data.reason) };
      return step;
    default:
      return step;
  }
}
