import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import { parseSdkArgument } from '../parse-sdk-argument.ts';
import { toToolOutcome } from '../tool-result.ts';
import type { AfterToolCallResult, BeforeToolCallResult } from './options.ts';

const text = z.string().exactOptional();
const inputSchema = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

const beforeSchema = z.strictObject({
  block: z.union([z.string(), z.boolean()]).optional(),
  input: inputSchema.exactOptional(),
  ask: z.union([z.string(), z.boolean()]).optional(),
  endRun: text,
});

/** Checks the result of `beforeToolCall`. It throws for anything unknown, because the call would run otherwise. */
export function checkBeforeToolCallResult(result: unknown): BeforeToolCallResult {
  if (result === undefined || result === null || result === true) return {};
  if (result === false) return { block: BLOCKED };
  const { block, ask, ...rest } = parseSdkArgument('beforeToolCall', result, beforeSchema);
  return {
    ...rest,
    ...(block === undefined || block === false ? {} : { block: block === true ? BLOCKED : block }),
    ...(ask === undefined || ask === false ? {} : { ask: ask === true ? 'The application asks.' : ask }),
  };
}

const BLOCKED = 'The application blocked this call.';

const afterSchema = z.strictObject({ outcome: z.unknown().optional(), add: text, endRun: text });

/** Checks the result of `afterToolCall`. It throws for anything unknown, because the result would pass otherwise. */
export function parseAfterToolCallResult(result: unknown, tool: string): AfterToolCallResult {
  if (result === undefined || result === null) return {};
  const { outcome, ...rest } = parseSdkArgument('afterToolCall', result, afterSchema);
  return { ...rest, ...(outcome === undefined ? {} : { outcome: toToolOutcome(outcome, tool) }) };
}
