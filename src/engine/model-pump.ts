import type { AgentEvent } from '../contracts/event.ts';
import type { ModelEvent, ModelOutcome, ModelRequest } from '../contracts/model.ts';
import type { QueryDeps, QueryState } from '../contracts/query.ts';
import type { Channel } from '../lib/channel.ts';
import { messageOf } from '../lib/errors.ts';
import { hasFallback, linkOf } from './model-of.ts';
import type { ToolRun } from './tool-run.ts';

/** Overloads in a row before a fallback model takes over. */
export const OVERLOADS_BEFORE_FALLBACK = 3;

/** What comes in while a reply streams, from whichever side. */
export type Arrival =
  | { readonly from: 'model'; readonly event: ModelEvent }
  | { readonly from: 'calls'; readonly event: AgentEvent }
  | { readonly from: 'end'; readonly outcome: ModelOutcome | undefined; readonly crash: string | undefined }
  | { readonly from: 'settled' };

/** Reads the port to its end in the background; what it says arrives on the channel, never as an exception. */
export function pump(
  request: ModelRequest,
  state: QueryState,
  calls: ToolRun,
  channel: Channel<Arrival>,
  deps: QueryDeps,
  signal: AbortSignal,
): void {
  const link = linkOf(state, deps);
  const { maxRetryDelayMs, getApiKey } = deps.config;
  // A complete call may wait in the channel for a slow consumer: it counts as begun, or it would run twice.
  let onItsWay = false;
  const options = {
    restartable: () => !onItsWay && calls.started() === 0,
    overloadLimit: hasFallback(state, deps) ? OVERLOADS_BEFORE_FALLBACK : Number.POSITIVE_INFINITY,
    partial: deps.config.partialMessages,
    ...(link.maxRetries === undefined ? {} : { maxRetries: link.maxRetries }),
    ...(link.timeoutMs === undefined ? {} : { timeoutMs: link.timeoutMs }),
    ...(maxRetryDelayMs === undefined ? {} : { maxRetryDelayMs }),
    ...(getApiKey === undefined ? {} : { getApiKey }),
    ...(deps.onWait === undefined ? {} : { onWait: deps.onWait }),
  };
  const run = async () => {
    const stream = deps.model.stream(request, options, signal);
    for (;;) {
      const step = await stream.next();
      if (step.done === true) return step.value;
      if (step.value.type === 'discarded') onItsWay = false;
      if (startsCall(step.value, deps)) onItsWay = true;
      channel.push({ from: 'model', event: step.value });
    }
  };
  run().then(
    (outcome) => channel.push({ from: 'end', outcome, crash: undefined }),
    (thrown) => channel.push({ from: 'end', outcome: undefined, crash: messageOf(thrown) }),
  );
}

function startsCall(event: ModelEvent, deps: QueryDeps): boolean {
  return (
    deps.config.toolExecution === 'streaming' &&
    event.type === 'block_end' &&
    event.block.type === 'tool_use' &&
    event.block.unparsed === undefined
  );
}
