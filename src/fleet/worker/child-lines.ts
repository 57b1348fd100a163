import { z } from 'zod';
import type { Micros } from '../../contracts/fleet.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';

/** What a run of ouro has told so far. */
export type RunStory = {
  readonly cost: Micros;
  readonly session: string | undefined;
  readonly doing: string | undefined;
  readonly end: RunEnd | undefined;
};

/** The result line of a run. */
export type RunEnd = {
  readonly isError: boolean;
  readonly subtype: string;
  readonly words: string;
  readonly structured: JsonValue | undefined;
  readonly apiStatus: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly turns: number;
  readonly denials: number;
  readonly terminal: string | undefined;
};

/** The provider asks for patience: how long, in what words. */
export type Throttle = { readonly status: number; readonly delayMs: number };

export const NO_STORY: RunStory = { cost: 0, session: undefined, doing: undefined, end: undefined };

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
  api_error_status: z.number().optional(),
  retry_after_ms: z.number().optional(),
  num_turns: z.number(),
  total_cost_usd: z.number(),
  permission_denials: z.array(z.unknown()),
  terminal_reason: z.string().optional(),
});
const line = z.union([spend, init, retry, call, result]);

/** One line of stream-json heard: the story with it, and whether the provider asked for patience. */
export function hearLine(story: RunStory, text: string): { readonly story: RunStory; readonly throttle?: Throttle } {
  const parsed = line.safeParse(parseJson(text));
  if (!parsed.success) return { story };
  const { data } = parsed;
  if (data.type === 'result') return { story: { ...story, cost: microsOf(data.total_cost_usd), end: endOf(data) } };
  if (data.type === 'assistant') return { story: { ...story, doing: doingOf(data.message.content[0]) } };
  if (data.subtype === 'spend')
    return { story: { ...story, cost: Math.max(story.cost, microsOf(data.total_cost_usd)) } };
  if (data.subtype === 'init') return { story: { ...story, session: data.session_id } };
  const status = data.error_status ?? 0;
  return status === 429 || status === 529 ? { story, throttle: { status, delayMs: data.retry_delay_ms } } : { story };
}

/** Upwards: what was paid is never more than what is booked. */
export const microsOf = (dollars: number): Micros => Math.ceil(Math.round(dollars * 1e8) / 100);

function endOf(data: z.infer<typeof result>): RunEnd {
  return {
    isError: data.is_error,
    subtype: data.subtype,
    words: data.errors?.[0] ?? data.result ?? '',
    structured: data.structured_output,
    apiStatus: data.api_error_status,
    retryAfterMs: data.retry_after_ms,
    turns: data.num_turns,
    denials: data.permission_denials.length,
    terminal: data.terminal_reason,
  };
}

type Call = z.infer<typeof call>['message']['content'][0];

/** A call in a few words: its tool and the first text of its input. */
function doingOf({ name, input }: Call): string {
  const first = Object.values(input).find((value) => typeof value === 'string');
  return withoutSecrets(oneLine(typeof first === 'string' ? `${name} ${first}` : name));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
