import { z } from 'zod';
import { type ContextDecision, readDecisions } from '../../context/decisions.ts';
import type { AssistantBlock, Message, ToolResultBlock, UserMessage } from '../../contracts/message.ts';
import { FAILURE_KINDS, type ModelFailure } from '../../contracts/model.ts';
import { NOTHING_STRIPPED, type Stripped } from '../../contracts/query.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import type { RequestDigest } from '../../session/request-digest.ts';
import type { RecordedHead } from '../../session/request-head.ts';
import { sameBuild, walkRequests } from './replay-session.ts';

/** One request of a run, what the model answered, and what happened until the next. */
export type RecordedStep = {
  /** Counted from one, over the whole session. */
  readonly request: number;
  readonly recorded: RequestDigest;
  readonly prompt: RecordedHead | undefined;
  /** What the context pipeline had decided by then. */
  readonly decisions: readonly ContextDecision[];
  readonly blocks: readonly { readonly messageId: string; readonly block: AssistantBlock }[];
  readonly turn: z.output<typeof turnEnd> | undefined;
  readonly results: ReadonlyMap<string, ToolResultBlock>;
  /** Messages that joined, without the results they carry. */
  readonly joined: readonly UserMessage[];
  readonly compaction: Extract<SessionRecord, { type: 'compact-boundary' }> | undefined;
  readonly transition: string | undefined;
};

/** One query as it stands in the record: where it began, its steps, how it ended. */
export type RecordedRun = {
  readonly before: readonly Message[];
  readonly stripped: Stripped;
  readonly steps: readonly RecordedStep[];
  /** Absent: somebody stopped it, or the process ended. */
  readonly end: z.output<typeof agentEnd>['terminal'] | undefined;
};

const tokens = z.number().default(0);
const failure = z
  .object({
    kind: z.enum(FAILURE_KINDS),
    message: z.string(),
    refusedPart: z.enum(['signature', 'image']).optional(),
  })
  .transform(
    ({ refusedPart, ...failure }): ModelFailure => ({
      ...failure,
      ...(refusedPart === undefined ? {} : { refusedPart }),
    }),
  );
const turnEnd = z.object({
  messageId: z.string().optional(),
  stopReason: z.string().optional(),
  usage: z
    .object({ inputTokens: tokens, outputTokens: tokens, cacheReadTokens: tokens, cacheWriteTokens: tokens })
    .optional(),
  failure: failure.optional(),
});
const agentEnd = z.object({ terminal: z.object({ reason: z.string(), words: z.string().optional() }) });

/** Cuts a record into its queries. A request that no transition led to begins one. */
export function* recordedRuns(records: readonly SessionRecord[]): Generator<RecordedRun, void> {
  const walk = walkRequests(records);
  let run: RecordedRun | undefined;
  let decisions: readonly ContextDecision[] = [];
  let request = 0;
  for (const record of records) {
    if (record.type === 'system' && record.subtype === 'context') {
      decisions = [...decisions, ...readDecisions([record.data])];
    } else if (record.type === 'system' && record.subtype === 'request') {
      const walked = walk.next().value;
      if (walked?.recorded === undefined) return;
      const { recorded, builds, messages, prompt } = walked;
      if (run !== undefined && run.steps.at(-1)?.transition === undefined) {
        yield run;
        run = undefined;
      }
      request += 1;
      const stripped = walked.stripped[sameBuild(recorded, builds) ?? 0] ?? NOTHING_STRIPPED;
      run ??= { before: messages, stripped, steps: [], end: undefined };
      run = { ...run, steps: [...run.steps, { ...EMPTY, request, recorded, prompt, decisions }] };
    } else if (run !== undefined && record.type === 'system' && record.subtype === 'agent_end') {
      yield { ...run, end: endOf(agentEnd.safeParse(record.data).data?.terminal) };
      run = undefined;
    } else if (run !== undefined) {
      const last = run.steps.at(-1);
      if (last !== undefined) run = { ...run, steps: [...run.steps.slice(0, -1), after(last, record)] };
    }
  }
  if (run !== undefined) yield run;
}

const EMPTY = {
  blocks: [],
  turn: undefined,
  results: new Map<string, ToolResultBlock>(),
  joined: [],
  compaction: undefined,
  transition: undefined,
} as const;

/** Ends that the loop came to by itself; the others came from outside, at a moment that is on no record. */
const OWN_ENDS = [
  'completed',
  'stop_hook_prevented',
  'max_turns',
  'max_output_tokens',
  'prompt_too_long',
  'image_error',
  'refusal',
  'api_error',
];

function endOf(terminal: RecordedRun['end']): RecordedRun['end'] {
  return terminal !== undefined && OWN_ENDS.includes(terminal.reason) ? terminal : undefined;
}

function after(step: RecordedStep, record: SessionRecord): RecordedStep {
  switch (record.type) {
    case 'assistant':
      return { ...step, blocks: [...step.blocks, { messageId: record.messageId, block: record.block }] };
    case 'tombstone':
      // What is taken back after the turn was part of it all the same.
      if (step.turn !== undefined) return step;
      return { ...step, blocks: step.blocks.filter(({ messageId }) => messageId !== record.messageId) };
    case 'result':
      return { ...step, results: new Map([...step.results, [record.callId, record.result]]) };
    case 'user':
      return { ...step, joined: [...step.joined, record.message] };
    case 'compact-boundary':
      return { ...step, compaction: record };
    case 'system':
      if (record.subtype === 'turn_end') return { ...step, turn: turnEnd.safeParse(record.data).data };
      if (record.subtype === 'transition') return { ...step, transition: String(record.data.reason) };
      return step;
    default:
      return step;
  }
}
