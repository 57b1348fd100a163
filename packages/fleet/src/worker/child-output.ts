import {
  type FailureKind,
  formatOneLine,
  type JsonValue,
  MODEL_FAILURE_KINDS,
  parseJson,
  redactSecrets,
} from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type { MicroDollars } from '../store/batch.ts';

/** The state of a run of ouro, from its output so far. */
export type ChildRunProgress = {
  readonly cost: MicroDollars;
  readonly session: string | undefined;
  readonly doing: string | undefined;
  /** Set if a reply of the model was cut off. */
  readonly isCut: boolean;
  readonly end: ChildRunResultLine | undefined;
};

export type ChildRunResultLine = {
  readonly isError: boolean;
  readonly subtype: string;
  readonly text: string;
  readonly structured: JsonValue | undefined;
  readonly failureKind: FailureKind | undefined;
  readonly apiStatus: number | undefined;
  /** No model API wrote the error, but for example a proxy. */
  readonly isForeign: boolean;
  readonly retryAfterMs: number | undefined;
  readonly turns: number;
  readonly denials: number;
  readonly terminalReason: string | undefined;
};

/** A rate limit or overload reported by the provider, and the delay before the retry. */
export type ProviderThrottle = { readonly status: number; readonly delayMs: number };

/** The state before the first line. */
export const NO_CHILD_RUN_PROGRESS: ChildRunProgress = {
  cost: 0,
  session: undefined,
  doing: undefined,
  isCut: false,
  end: undefined,
};

const spend = z.object({ type: z.literal('system'), subtype: z.literal('spend'), total_cost_usd: z.number() });
const init = z.object({ type: z.literal('system'), subtype: z.literal('init'), session_id: z.string() });
const retry = z.object({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  error_status: z.number().nullable(),
  retry_delay_ms: z.number(),
});
const call = z.object({
  type: z.literal('assistant'),
  message: z.object({
    content: z.tuple([
      z.object({ type: z.literal('tool_use'), name: z.string(), input: z.record(z.string(), z.unknown()) }),
    ]),
  }),
});
const result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  structured_output: z.json().optional(),
  api_error_kind: z.enum(MODEL_FAILURE_KINDS).optional().catch(undefined),
  api_error_status: z.number().optional(),
  api_error_foreign: z.boolean().optional(),
  retry_after_ms: z.number().optional(),
  num_turns: z.number(),
  total_cost_usd: z.number(),
  permission_denials: z.array(z.unknown()),
  terminal_reason: z.string().optional(),
});
const cut = z.object({ type: z.literal('assistant'), cut: z.literal(true) });
const line = z.union([spend, init, retry, cut, call, result]);

/** Applies a line of stream-json output. Returns the new state, and the throttling that the line reports. */
export function applyChildOutputLine(
  progress: ChildRunProgress,
  text: string,
): { readonly progress: ChildRunProgress; readonly throttle?: ProviderThrottle } {
  const parsed = line.safeParse(parseJson(text));
  if (!parsed.success) return { progress };
  const { data } = parsed;
  if (data.type === 'result')
    return { progress: { ...progress, cost: convertUsdToMicroDollars(data.total_cost_usd), end: convertResult(data) } };
  if ('cut' in data) return { progress: { ...progress, isCut: true } };
  if (data.type === 'assistant') return { progress: { ...progress, doing: describeCall(data.message.content[0]) } };
  if (data.subtype === 'spend')
    return { progress: { ...progress, cost: Math.max(progress.cost, convertUsdToMicroDollars(data.total_cost_usd)) } };
  if (data.subtype === 'init') return { progress: { ...progress, session: data.session_id } };
  const status = data.error_status ?? 0;
  return status === 429 || status >= 500
    ? { progress, throttle: { status, delayMs: data.retry_delay_ms } }
    : { progress };
}

/** Converts dollars to micros, rounded up, so that the recorded cost is never too low. */
export const convertUsdToMicroDollars = (dollars: number): MicroDollars => Math.ceil(Math.round(dollars * 1e8) / 100);

function convertResult(data: z.infer<typeof result>): ChildRunResultLine {
  return {
    isError: data.is_error,
    subtype: data.subtype,
    text: data.errors?.[0] ?? data.result ?? '',
    structured: data.structured_output,
    failureKind: data.api_error_kind,
    apiStatus: data.api_error_status,
    isForeign: data.api_error_foreign === true,
    retryAfterMs: data.retry_after_ms,
    turns: data.num_turns,
    denials: data.permission_denials.length,
    terminalReason: data.terminal_reason,
  };
}

type Call = z.infer<typeof call>['message']['content'][0];

/** Describes a tool call by its tool and the first text of its input. */
function describeCall({ name, input }: Call): string {
  const firstText = Object.values(input).find((value) => typeof value === 'string');
  return redactSecrets(formatOneLine(typeof firstText === 'string' ? `${name} ${firstText}` : name));
}
