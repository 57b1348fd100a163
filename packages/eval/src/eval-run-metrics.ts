import { parseJson } from '@ouro-cli/ouro/commands';
import { z } from 'zod';

/** Failed calls of one tool with one cause: a `FailureCause`, or `denied`. */
export type FailedCallCount = { readonly tool: string; readonly cause: string; readonly count: number };

/** The measurements of a run. */
export type EvalRunMetrics = {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly calls: number;
  /** Replies whose every call failed without having run. */
  readonly lostTurns: number;
  readonly failures: readonly FailedCallCount[];
  /** A model without a known price was used. */
  readonly hasUnknownCost: boolean;
};

const count = z.number().default(0);
const spend = z.object({
  type: z.literal('system'),
  subtype: z.literal('spend'),
  usage: z.object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
});
const call = z.object({
  type: z.literal('assistant'),
  message: z.object({
    id: z.string(),
    content: z.tuple([z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string() })]),
  }),
});
const result = z.object({
  type: z.literal('user'),
  message: z.object({ content: z.tuple([z.object({ type: z.literal('tool_result'), tool_use_id: z.string() })]) }),
  failure_cause: z.string().optional(),
  denied_by: z.string().optional(),
});
const unknownCost = z.object({ type: z.literal('result'), cost_is_incomplete: z.literal(true) });
const line = z.union([spend, call, result, unknownCost]);

type Turn = { readonly calls: Map<string, 'open' | 'useful' | 'lost'> };

/** Creates a collector of the measurements in the stream-json output of a run. */
export function createMetricsCollector(): { addLine(text: string): void; read(): EvalRunMetrics } {
  const usage = { requests: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const turns = new Map<string, Turn>();
  const callNames = new Map<string, { readonly tool: string; readonly turn: Turn }>();
  const failures = new Map<string, FailedCallCount>();
  let hasUnknownCost = false;

  function addCall({ message: { id, content } }: z.output<typeof call>): void {
    const turn = turns.get(id) ?? { calls: new Map() };
    turns.set(id, turn);
    turn.calls.set(content[0].id, 'open');
    callNames.set(content[0].id, { tool: content[0].name, turn });
  }

  function addResult({ message, failure_cause, denied_by }: z.output<typeof result>): void {
    const callId = message.content[0].tool_use_id;
    const known = callNames.get(callId);
    if (known === undefined) return;
    const cause = denied_by === undefined ? failure_cause : 'denied';
    // A command that ran and failed has told the model something.
    known.turn.calls.set(callId, cause === undefined || cause === 'reported' ? 'useful' : 'lost');
    if (cause === undefined) return;
    const { tool } = known;
    const key = `${tool} ${cause}`;
    failures.set(key, { tool, cause, count: (failures.get(key)?.count ?? 0) + 1 });
  }

  return {
    addLine(text) {
      const parsed = line.safeParse(parseJson(text));
      if (!parsed.success) return;
      const { data } = parsed;
      if (data.type === 'assistant') return addCall(data);
      if (data.type === 'user') return addResult(data);
      if (data.type === 'result') {
        hasUnknownCost = true;
        return;
      }
      usage.requests += 1;
      usage.inputTokens += data.usage.input_tokens;
      usage.outputTokens += data.usage.output_tokens;
      usage.cacheReadTokens += data.usage.cache_read_input_tokens;
      usage.cacheWriteTokens += data.usage.cache_creation_input_tokens;
    },
    read: () => ({
      ...usage,
      calls: callNames.size,
      lostTurns: [...turns.values()].filter(({ calls }) => [...calls.values()].every((end) => end === 'lost')).length,
      failures: [...failures.values()],
      hasUnknownCost,
    }),
  };
}
