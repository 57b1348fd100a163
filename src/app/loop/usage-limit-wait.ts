import type { Agent } from '../../contracts/agent.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import { getReachedUsageLimit, type Terminal } from '../../contracts/terminal-reason.ts';
import { sleep } from '../../model/retry.ts';
import type { Core } from '../core.ts';

/** Interval for checking the clock: timers are late after the machine was asleep. */
const CHECK_INTERVAL_MS = 30_000;
/** Minimum wait: no limit is reset at once. */
const MIN_WAIT_MS = 100;

/** Waits until the usage limit that ended the last run is reset, then continues. `undefined`: aborted, or no limit. */
export type WaitForUsageLimit = () => Promise<Terminal | undefined>;

/** Creates the wait; it follows the runs of the agent to know the limit. */
export function createUsageLimitWait(
  { bus, now }: Pick<Core, 'bus' | 'now'>,
  agent: Agent,
  pause: typeof sleep = sleep,
): WaitForUsageLimit {
  let limit: { readonly failure: ModelFailure; readonly resetsAtMs: number } | undefined;
  agent.subscribe((event) => {
    if (event.type === 'agent_start') limit = undefined;
    if (event.type !== 'agent_end') return;
    const failure = getReachedUsageLimit(event.terminal);
    limit = failure && { failure, resetsAtMs: now() + Math.max(MIN_WAIT_MS, failure.retryAfterMs) };
  });

  return async () => {
    const current = limit;
    if (current === undefined || agent.state().status !== 'idle') return undefined;
    const { failure, resetsAtMs } = current;
    const text = `Usage limit reached. ouro continues when it is reset ${formatResetTime(resetsAtMs, now())}.`;
    await bus.emit({ type: 'notice', level: 'warn', topic: 'usage_limit', text });
    const isOver = await agent.runExclusive('requesting', async (signal) => {
      const skip = new AbortController();
      bus.getPort().onWait(() => skip.abort());
      await bus.emit({ type: 'retry', attempt: 1, limit: 1, delayMs: Math.max(0, resetsAtMs - now()), failure });
      const end = AbortSignal.any([signal, skip.signal]);
      while (now() < resetsAtMs && !end.aborted) await pause(Math.min(CHECK_INTERVAL_MS, resetsAtMs - now()), end);
      return !signal.aborted;
    });
    // A message that arrived meanwhile has started a run of its own.
    return isOver && agent.state().status === 'idle' ? agent.continue() : undefined;
  };
}

function formatResetTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = `at ${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  return isToday ? time : `${time} on ${at.toDateString()}`;
}
