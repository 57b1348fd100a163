import type { Feature } from '../contracts/feature.ts';
import type { JsonObject } from '../contracts/json.ts';
import { copyAsJson } from '../lib/json.ts';
import type { HookDispatcher } from './create-hooks.ts';

const BATCH_TIMEOUT_MS = 60_000;

/** Creates the PostToolBatch hooks: they get all calls of one reply, before the next request to the model. */
export function createBatchHooksFeature(hooks: HookDispatcher): Feature {
  let endedCalls: JsonObject[] = [];
  return {
    name: 'batch hooks',
    async afterCall({ tool, input, callId }, outcome) {
      if (hooks.has('PostToolBatch')) {
        const response = copyAsJson({ response: outcome.structured ?? outcome.content }).response ?? null;
        endedCalls.push({ tool_name: tool, tool_input: input, tool_use_id: callId, tool_response: response });
      }
      return {};
    },
    onEvent({ type }) {
      if (type === 'agent_start') endedCalls = [];
    },
    /** Fires PostToolBatch for the calls since the last time; returns the context hooks add. */
    async reminders(moment) {
      if (moment !== 'turn') return [];
      const calls = endedCalls;
      endedCalls = [];
      if (calls.length === 0) return [];
      const verdict = await hooks.fire('PostToolBatch', { tool_calls: calls }, AbortSignal.timeout(BATCH_TIMEOUT_MS));
      return [verdict.context, verdict.blocked].filter((text) => text !== undefined);
    },
  };
}
