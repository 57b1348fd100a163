import { z } from 'zod';
import type {
  AttemptView,
  BatchLimits,
  CollectWish,
  NewTask,
  TaskResult,
  TaskSpec,
  TaskState,
  TaskView,
} from '../../contracts/fleet.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Row } from './sql.ts';

const number = z.coerce.number();
const text = z.string();
const json: z.ZodType<JsonValue> = z.json();
/** Databases say `null` for what is absent. */
const absent = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => (value === null ? undefined : value));
const numberOrNone = z
  .union([z.number(), z.string(), z.bigint()])
  .nullish()
  .transform((value) => (value === null || value === undefined ? undefined : Number(value)));

const verify = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), run: text, tries: number }),
  z.object({ kind: z.literal('question'), ask: text, tries: number }),
]);

/** What was submitted may come from another machine and another version: it is read like any outside data. */
const taskSpec: z.ZodType<TaskSpec> = z.object({
  place: z.object({ url: text, commit: text, folder: text }).optional(),
  prompt: text,
  model: text.optional(),
  mode: text,
  allowedTools: z.array(text),
  disallowedTools: z.array(text),
  env: z.array(text),
  verify: verify.optional(),
  schema: z.record(text, json).optional(),
  minutes: number,
  turns: number.optional(),
});

const taskResult: z.ZodType<TaskResult> = z.object({
  answer: text,
  structured: json.optional(),
  verified: z.enum(['yes', 'not asked']),
  turns: number,
  machine: text,
  session: text,
  denials: number,
  stat: z.object({ files: number, added: number, removed: number }),
  notes: z.array(text),
});

const TASK_STATES: readonly [TaskState, ...TaskState[]] = ['held', 'waiting', 'running', 'done', 'failed', 'cancelled'];
const kind: z.ZodType<NewTask['kind']> = z.enum(['work', 'summary']);
const parsedJson = text.transform((value): unknown => JSON.parse(value));

const taskRow = z.object({
  task_key: text,
  job: text,
  seq: number,
  title: text,
  kind,
  lane: text,
  state: z.enum(TASK_STATES),
  tries: number,
  cost: number.optional(),
  reason: absent(text),
  session: absent(text),
  machine: absent(text),
  doing: absent(text),
  started_ms: numberOrNone,
  ended_ms: numberOrNone,
  result: absent(text),
  spec: parsedJson.pipe(taskSpec),
  signature: absent(text),
  priority: number,
});

export type TaskRow = z.infer<typeof taskRow>;

export const readTask = (row: Row): TaskRow => taskRow.parse(row);

export function taskView(row: TaskRow): TaskView {
  const { task_key: key, started_ms: startedMs, ended_ms: endedMs, result, cost = 0, job: _job, ...rest } = row;
  const { signature: _signature, priority: _priority, seq: _seq, ...shown } = rest;
  return {
    ...shown,
    key,
    cost,
    startedMs,
    endedMs,
    result: result === undefined ? undefined : taskResult.parse(JSON.parse(result)),
  };
}

const batchRow = z.object({
  id: text,
  name: text,
  state: z.enum(['open', 'paused', 'cancelled']),
  priority: number,
  limit_each: number,
  limit_all: number,
  attempts: number,
  at_once: number,
  collect: parsedJson.pipe(z.object({ as: z.enum(['patches', 'branch', 'pr']), name: text })),
  created_ms: number,
});

export type BatchRow = Readonly<Pick<z.infer<typeof batchRow>, 'id' | 'name' | 'state'>> & {
  readonly limits: BatchLimits;
  readonly collect: CollectWish;
  readonly createdMs: number;
};

export function readBatch(row: Row): BatchRow {
  const { id, name, state, collect, ...found } = batchRow.parse(row);
  const { limit_each: each, limit_all: all, attempts, at_once: atOnce, created_ms: createdMs } = found;
  return { id, name, state, collect, createdMs, limits: { each, all, attempts, atOnce } };
}

const attemptRow = z.object({
  id: text,
  batch: text,
  task_key: text,
  token: number,
  lane: text,
  worker: text,
  machine: text,
  started_ms: number,
  ended_ms: numberOrNone,
  cost: number,
  session: absent(text),
  outcome: text,
});

export type AttemptRow = z.infer<typeof attemptRow>;

export const readAttempt = (row: Row): AttemptRow => attemptRow.parse(row);

export function attemptView({
  machine,
  worker,
  started_ms,
  ended_ms,
  cost,
  outcome,
  session,
}: AttemptRow): AttemptView {
  return { machine, worker, startedMs: started_ms, endedMs: ended_ms, cost, outcome, session };
}

const laneRow = z.object({ name: text, until_ms: number, words: text, at_most: numberOrNone, since_ms: number });
export type LaneRow = z.infer<typeof laneRow>;
export const readLane = (row: Row): LaneRow => laneRow.parse(row);

const bytesRow = z.object({ content: z.instanceof(Uint8Array) });
export const readContent = (row: Row): Uint8Array => bytesRow.parse(row).content;
