import { z } from 'zod';
import { EFFORTS } from '../../contracts/model.ts';
import { createCallbackSchema, parseArgument } from '../../lib/parse-argument.ts';
import type { AgentChange, AgentOptions } from './options.ts';

const callback = createCallbackSchema<() => unknown>().optional();
const count = z.number().int('must be a whole number').positive('must be 1 or more').optional();
const duration = z.number().positive('must be milliseconds, more than 0').optional();
const effort = z.enum(EFFORTS, `must be one of ${EFFORTS.join(', ')}`);
const queueMode = z.enum(['one-at-a-time', 'all']).optional();
const list = z.custom<readonly unknown[]>(Array.isArray, 'must be a list').optional();
const hasMethods =
  (...names: readonly string[]) =>
  (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function');

const signal = z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional();

const changeShape = {
  model: z
    .union(
      [z.string().min(1, 'is empty'), z.looseObject({}), z.array(z.unknown())],
      'must be a name, a port, or a list',
    )
    .optional(),
  systemPrompt: z
    .union(
      [z.string(), z.array(z.union([z.string(), z.looseObject({ text: z.string() })]))],
      'must be a text, or a list of { name, text }',
    )
    .optional(),
  tools: list,
  thinking: effort.optional(),
} satisfies Record<keyof AgentChange, z.ZodType>;

const optionsSchema = z.strictObject({
  ...changeShape,
  apiKey: z.union([z.string(), createCallbackSchema<() => unknown>()], 'must be a text or a function').optional(),
  baseUrl: z.string().optional(),
  fetch: callback,
  messages: list,
  thinkingBudgets: z.partialRecord(effort, z.number().positive()).optional(),
  queueModes: z.strictObject({ steering: queueMode, followUp: queueMode }).optional(),
  toolExecution: z.enum(['streaming', 'after-reply']).optional(),
  parallelCalls: count,
  maxTurns: count,
  maxBudgetUsd: z.number().nonnegative('must be a number of dollars').optional(),
  budget: z.custom(hasMethods('reserve', 'spentUsd'), 'must be a budget of createBudget(usd)').optional(),
  signal,
  maxRetryDelayMs: z.number().nonnegative().optional(),
  sessionId: z.string().min(1, 'is empty').optional(),
  cwd: z.string().optional(),
  context: z
    .custom((value) => value === 'off' || hasMethods('prepare', 'compact')(value), "must be a context port, or 'off'")
    .optional(),
  contextLevels: z
    .array(
      z.strictObject({ name: z.string(), at: z.number().min(0).max(1).optional(), reduce: callback.nonoptional() }),
    )
    .optional(),
  compactAtPercent: z.number().positive().max(100).optional(),
  listeners: z.array(createCallbackSchema<() => unknown>()).optional(),
  convertToLlm: callback,
  transformContext: callback,
  hooks: z.custom(hasMethods('beforeCall', 'afterCall'), 'must be hooks of agentHooks()').optional(),
  features: z.array(z.looseObject({ name: z.string() }), 'must be a list of { name, ... }').optional(),
  beforeToolCall: callback,
  afterToolCall: callback,
  onPayload: callback,
  onResponse: callback,
  shouldStopAfterTurn: callback,
  onPermission: callback,
  onQuestion: callback,
  questionTimeoutMs: duration,
  saveCapsule: callback,
  logger: callback,
  now: callback,
  newId: callback,
} satisfies Record<keyof AgentOptions, z.ZodType>);

/** Throws if an option is unknown or has a wrong type. */
export function checkAgentOptions(caller: string, options: unknown): void {
  parseArgument(caller, options, optionsSchema);
}

/** Throws if a change is unknown or has a wrong type. */
export function checkAgentChange(change: unknown): void {
  parseArgument('change', change, z.strictObject(changeShape));
}

/** Throws if an option of a run is unknown or has a wrong type. */
export function checkRunOptions(caller: string, options: unknown): void {
  parseArgument(caller, options, z.strictObject({ signal }));
}
