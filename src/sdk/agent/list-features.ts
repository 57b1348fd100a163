import { z } from 'zod';
import type { AgentPort } from '../../agent/agent-deps.ts';
import type { AgentListener } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import { parseArgument } from '../../lib/parse-argument.ts';
import { toToolOutcome } from '../../tools/definition/tool-result.ts';
import type { AfterToolCallResult, AgentOptions, BeforeToolCallResult } from './options.ts';

/**
 * Lists the features of an agent in an application: its listeners, its hooks and callbacks, its own features. Hooks come
 * first before a call, so that the callback gets the input they return, and last after it, so that they do not see what
 * the callback removed.
 */
export function listFeatures(
  options: AgentOptions,
  emit: AgentPort['emit'],
  log: NonNullable<AgentOptions['logger']>,
): readonly Feature[] {
  const { hooks, beforeToolCall, afterToolCall, listeners = [], features = [] } = options;
  const application: Feature = {
    name: 'application',
    ...(beforeToolCall && {
      async beforeCall(call, signal) {
        const { block, input, ask, endRun } = checkBeforeToolCallResult(await beforeToolCall(call, signal));
        return omitUndefined({ deny: block, input, ask, stop: endRun });
      },
    }),
    ...(afterToolCall && {
      async afterCall(call, result, _durationMs, signal) {
        const runCallback = async () => parseAfterToolCallResult(await afterToolCall(call, result, signal), call.tool);
        const { outcome, add, endRun } = await runCallback().catch(async (thrown): Promise<AfterToolCallResult> => {
          const text = `afterToolCall failed for ${call.tool}: ${getErrorMessage(thrown)}`;
          await emit({ type: 'notice', level: 'error', text });
          return { outcome: createWithheldOutcome(call.tool) };
        });
        return omitUndefined({ outcome, context: add, stop: endRun });
      },
    }),
  };
  const first = listeners.map((onEvent): Feature => ({ name: 'listener', onEvent }));
  const last: readonly Feature[] = [...features, { name: 'log', onEvent: createLogListener(options, log) }];
  if (hooks === undefined) return [...first, application, ...last];
  const { onPrompt, beforeCall, onApproval, onQuestion, afterCall, onStop } = hooks;
  const before = { name: 'hooks', onPrompt, beforeCall, ...omitUndefined({ onApproval, onQuestion }) };
  return [...first, before, application, { name: 'hooks', afterCall, onStop }, ...last];
}

/** Creates the listener that logs notices and reports the end of each turn. */
function createLogListener({ onResponse }: AgentOptions, log: NonNullable<AgentOptions['logger']>): AgentListener {
  return (event: AgentEvent): void => {
    if (event.type === 'notice') log(event.level, event.text);
    if (event.type !== 'turn_end') return;
    const { model, durationMs, stopReason, failure } = event;
    onResponse?.({ model, durationMs, ...omitUndefined({ stopReason, failure }) });
  };
}

/** Creates the outcome of a result whose check failed: it may contain something the model must not see. */
function createWithheldOutcome(tool: string): ToolOutcome {
  const text = `The result of ${tool} is withheld: the check of results failed.`;
  return { content: text, isError: true, display: { kind: 'text', text } };
}

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
function checkBeforeToolCallResult(result: unknown): BeforeToolCallResult {
  if (result === undefined || result === null || result === true) return {};
  if (result === false) return { block: BLOCKED };
  const { block, ask, ...rest } = parseArgument('beforeToolCall', result, beforeSchema);
  return {
    ...rest,
    ...(block === undefined || block === false ? {} : { block: block === true ? BLOCKED : block }),
    ...(ask === undefined || ask === false ? {} : { ask: ask === true ? 'The application asks.' : ask }),
  };
}

const BLOCKED = 'The application blocked this call.';

const afterSchema = z.strictObject({ outcome: z.unknown().optional(), add: text, endRun: text });

/** Checks the result of `afterToolCall`. It throws for anything unknown, because the result would pass otherwise. */
function parseAfterToolCallResult(result: unknown, tool: string): AfterToolCallResult {
  if (result === undefined || result === null) return {};
  const { outcome, ...rest } = parseArgument('afterToolCall', result, afterSchema);
  return { ...rest, ...(outcome === undefined ? {} : { outcome: toToolOutcome(outcome, tool) }) };
}
