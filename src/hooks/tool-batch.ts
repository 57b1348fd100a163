import type { JsonObject } from '../contracts/json.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { asJson } from '../lib/as-json.ts';
import type { HookFire } from './create-hooks.ts';

const BATCH_MS = 60_000;

/** The calls of one reply together: told to hooks once all have ended, before the model is asked again. */
export function createToolBatch(hooks: HookFire, afterCall: QueryDeps['afterCall']) {
  let ended: readonly JsonObject[] = [];
  const note: QueryDeps['afterCall'] = (request, outcome, durationMs, signal) => {
    const { tool, input, callId } = request;
    const said = asJson({ response: outcome.structured ?? outcome.content }).response ?? null;
    ended = [...ended, { tool_name: tool, tool_input: input, tool_use_id: callId, tool_response: said }];
    return afterCall(request, outcome, durationMs, signal);
  };
  return {
    afterCall: note,
    /** What hooks add. */
    async end(): Promise<readonly string[]> {
      const calls = ended;
      ended = [];
      if (calls.length === 0 || !hooks.has('PostToolBatch')) return [];
      const verdict = await hooks.fire('PostToolBatch', { tool_calls: calls }, AbortSignal.timeout(BATCH_MS));
      return [verdict.context, verdict.blocked].filter((text) => text !== undefined);
    },
  };
}
