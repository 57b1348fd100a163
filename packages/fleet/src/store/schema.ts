import { type JsonValue, parseJson } from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type {
  BatchSettings,
  BatchStatus,
  BatchTaskBranch,
  BatchTaskResult,
  BatchTaskSpec,
  BatchTaskState,
  BatchTaskView,
  CollectOptions,
  NewBatch,
  NewBatchTask,
  PendingBatchDeletion,
  TaskAttemptView,
} from './batch.ts';
import type { SqlRow } from './database.ts';

export const numberColumnSchema = z.coerce.number();
export const textColumnSchema = z.string();
/** Fields of rows: a damaged one must not hide the other fields, or the other rows. */
export const rowNumberSchema = numberColumnSchema.catch(0);
const rowText = textColumnSchema.catch('(damaged)');
const json: z.ZodType<JsonValue> = z.json();
/** Accepts `null`, which databases return for absent values. */
export const acceptNull = <Type extends z.ZodType>(type: Type) =>
  type
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);
const optionalNumber = acceptNull(numberColumnSchema.nullable());

const verify = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), run: textColumnSchema, tries: numberColumnSchema }),
  z.object({ kind: z.literal('question'), ask: textColumnSchema, tries: numberColumnSchema }),
]);

/** Task specifications may come from another machine or version, so they are validated like any outside data. */
const taskSpec: z.ZodType<BatchTaskSpec> = z.object({
  place: z.object({ url: textColumnSchema, commit: textColumnSchema, folder: textColumnSchema }).optional(),
  prompt: textColumnSchema,
  model: textColumnSchema.optional(),
  mode: textColumnSchema,
  allowedTools: z.array(textColumnSchema),
  disallowedTools: z.array(textColumnSchema),
  env: z.array(textColumnSchema),
  secrets: z.array(textColumnSchema).optional(),
  verify: verify.optional(),
  schema: z.record(textColumnSchema, json).optional(),
  minutes: numberColumnSchema,
  turns: numberColumnSchema.optional(),
});

const taskResult: z.ZodType<BatchTaskResult> = z.object({
  answer: textColumnSchema,
  structured: json.optional(),
  verified: z.enum(['yes', 'not asked']),
  turns: numberColumnSchema,
  machine: textColumnSchema,
  session: textColumnSchema,
  denials: numberColumnSchema,
  stat: z.object({ files: numberColumnSchema, added: numberColumnSchema, removed: numberColumnSchema }),
  notes: z.array(textColumnSchema),
});

/** Stands for a specification of a newer ouro, or a damaged one: no worker allows its mode, so only this task fails. */
const UNREADABLE_SPEC: BatchTaskSpec = {
  prompt: '',
  mode: 'unreadable',
  allowedTools: [],
  disallowedTools: [],
  env: [],
  minutes: 1,
};

const TASK_STATES: readonly [BatchTaskState, ...BatchTaskState[]] = [
  'held',
  'waiting',
  'running',
  'done',
  'failed',
  'cancelled',
];
const kind: z.ZodType<NewBatchTask['kind']> = z.enum(['work', 'summary']);
export const parsedJson = textColumnSchema.catch('').transform((value): unknown => parseJson(value));

const taskRow = z.object({
  task_key: textColumnSchema,
  token: rowNumberSchema,
  seq: rowNumberSchema,
  title: rowText,
  kind: kind.catch('work'),
  lane: rowText,
  state: z.enum(TASK_STATES).catch('failed'),
  tries: rowNumberSchema,
  cost: numberColumnSchema.optional(),
  reason: acceptNull(textColumnSchema),
  session: acceptNull(textColumnSchema),
  machine: acceptNull(textColumnSchema),
  doing: acceptNull(textColumnSchema),
  started_ms: optionalNumber,
  ended_ms: optionalNumber,
  result: acceptNull(textColumnSchema),
  spec: parsedJson.pipe(taskSpec.catch(UNREADABLE_SPEC)),
  signature: acceptNull(textColumnSchema),
  priority: rowNumberSchema,
});

/** A row of `fleet_tasks`. */
export type FleetTaskRow = z.infer<typeof taskRow>;

/** Parses a row of `fleet_tasks`. A task in an unknown state has failed: it can be retried. */
export function parseFleetTaskRow(row: SqlRow): FleetTaskRow {
  const task = taskRow.parse(row);
  return task.state === row.state ? task : { ...task, reason: `its state "${row.state}" is damaged` };
}

/** Converts a task row to the form for display. */
export function createBatchTaskView(row: FleetTaskRow): BatchTaskView {
  const { task_key: key, started_ms: startedMs, ended_ms: endedMs, result, cost = 0, token: _token, ...rest } = row;
  const { signature: _signature, seq: _seq, ...fields } = rest;
  return {
    ...fields,
    key,
    cost,
    startedMs,
    endedMs,
    result: result === undefined ? undefined : taskResult.optional().catch(undefined).parse(parseJson(result)),
  };
}

const collectOptions: z.ZodType<CollectOptions> = z.object({
  as: z.enum(['patches', 'branch', 'pr']),
  name: textColumnSchema,
  ref: textColumnSchema.optional(),
  forge: z.enum(['github', 'gitlab', 'gitea']).optional(),
  draft: z.boolean().optional(),
  labels: z.array(textColumnSchema).optional(),
  reviewers: z.array(textColumnSchema).optional(),
  body: textColumnSchema.optional(),
});
const batchSettings: z.ZodType<BatchSettings> = z.object({
  limits: z.object({
    each: numberColumnSchema,
    all: numberColumnSchema,
    attempts: numberColumnSchema,
    atOnce: numberColumnSchema,
  }),
  priority: numberColumnSchema,
  collect: collectOptions,
});

const batchRow = z.object({
  id: textColumnSchema,
  name: rowText,
  // A damaged batch starts nothing.
  state: z.enum(['open', 'paused', 'cancelled']).catch('paused'),
  version: rowNumberSchema,
  replaced_by: acceptNull(textColumnSchema),
  submitted: acceptNull(parsedJson.pipe(batchSettings.optional().catch(undefined))),
  priority: rowNumberSchema,
  limit_each: rowNumberSchema,
  limit_all: rowNumberSchema,
  attempts: rowNumberSchema,
  at_once: rowNumberSchema,
  // Options of a newer ouro only concern those who collect.
  collect: parsedJson.pipe(collectOptions.catch({ as: 'patches', name: 'ouro/unreadable' })),
  created_ms: rowNumberSchema,
});

/** A row of `fleet_batches`, with its limits grouped. */
export type FleetBatchRow = Pick<
  BatchStatus,
  'id' | 'name' | 'state' | 'version' | 'replacedBy' | 'limits' | 'submitted' | 'collect' | 'createdMs'
>;

/** Parses a row of `fleet_batches`. */
export function parseFleetBatchRow(row: SqlRow): FleetBatchRow {
  const { id, name, state, version, collect, priority, ...rest } = batchRow.parse(row);
  const { limit_each: each, limit_all: all, attempts, at_once: atOnce, created_ms: createdMs } = rest;
  const limits = { each, all, attempts, atOnce };
  const { submitted = { limits, priority, collect }, replaced_by: replacedBy } = rest;
  return { id, name, state, version, replacedBy, collect, createdMs, limits, submitted };
}

/** A batch as stored in a schedule. */
export const newBatchSchema: z.ZodType<NewBatch> = z.intersection(
  batchSettings,
  z.object({ id: textColumnSchema, name: textColumnSchema }),
);
/** A task as stored in a schedule. */
export const newTaskSchema: z.ZodType<NewBatchTask> = z.object({
  key: textColumnSchema,
  title: textColumnSchema,
  spec: taskSpec,
  lane: textColumnSchema,
  kind,
  priority: numberColumnSchema,
});

const branchRow = z.object({
  url: textColumnSchema,
  branch: textColumnSchema,
  commit_id: textColumnSchema,
  batch: textColumnSchema,
  task_key: textColumnSchema,
  request: acceptNull(
    parsedJson.pipe(
      z.object({
        url: textColumnSchema,
        state: z.enum(['open', 'draft', 'merged', 'closed', 'unknown']),
        checks: z.enum(['passed', 'failed', 'running', 'none']),
      }),
    ),
  ),
});

/** Parses a row of `fleet_branches`; `undefined` if it is damaged: an unknown branch is never touched. */
export function parseFleetBranchRow(row: SqlRow): BatchTaskBranch | undefined {
  const branch = branchRow.safeParse(row).data;
  if (branch === undefined) return undefined;
  const { commit_id: commit, task_key: key, request, ...fields } = branch;
  return { ...fields, commit, key, ...(request === undefined ? {} : { request }) };
}

const attemptRow = z.object({
  id: textColumnSchema,
  batch: textColumnSchema,
  task_key: textColumnSchema,
  token: rowNumberSchema,
  lane: rowText,
  worker: rowText,
  machine: rowText,
  started_ms: rowNumberSchema,
  ended_ms: optionalNumber,
  cost: rowNumberSchema,
  session: acceptNull(textColumnSchema),
  outcome: rowText,
});

/** A row of `fleet_attempts`. */
export type FleetAttemptRow = z.infer<typeof attemptRow>;

/** Parses a row of `fleet_attempts`. */
export const parseFleetAttemptRow = (row: SqlRow): FleetAttemptRow => attemptRow.parse(row);

/** Converts an attempt row to the form for display. */
export function createTaskAttemptView({
  machine,
  worker,
  started_ms,
  ended_ms,
  cost,
  outcome,
  session,
}: FleetAttemptRow): TaskAttemptView {
  return { machine, worker, startedMs: started_ms, endedMs: ended_ms, cost, outcome, session };
}

const deletionRow = z.object({
  batch: textColumnSchema,
  installation: textColumnSchema,
  machine: textColumnSchema,
  created_ms: numberColumnSchema,
  tasks: parsedJson.pipe(
    z.array(z.object({ key: textColumnSchema, folder: textColumnSchema, url: textColumnSchema.optional() })),
  ),
});

/** Parses a row of `fleet_deletions`; `undefined` if it is damaged. */
export function parseFleetDeletionRow(row: SqlRow): PendingBatchDeletion | undefined {
  const deletion = deletionRow.safeParse(row).data;
  if (deletion === undefined) return undefined;
  const { created_ms: createdMs, ...fields } = deletion;
  return { ...fields, createdMs };
}

const laneRow = z.object({
  name: textColumnSchema,
  until_ms: rowNumberSchema,
  words: rowText,
  at_most: optionalNumber,
  since_ms: rowNumberSchema,
});
/** A row of `fleet_lanes`. */
export type FleetLaneRow = z.infer<typeof laneRow>;
/** Parses a row of `fleet_lanes`. */
export const parseFleetLaneRow = (row: SqlRow): FleetLaneRow => laneRow.parse(row);

const bytesRow = z.object({ content: z.instanceof(Uint8Array) });
/** Parses the content of a row of `fleet_files`; `undefined` if it is damaged. */
export const parseFleetFileRow = (row: SqlRow): Uint8Array | undefined => bytesRow.safeParse(row).data?.content;
