import type { Agent } from '../../contracts/agent.ts';
import { limitOf, type Terminal } from '../../contracts/terminal.ts';
import { sleep } from '../../model/retry.ts';
import type { Core } from '../core.ts';

/** A machine that slept is late for its alarms, so the clock is looked at in between. */
const LOOK_EVERY_MS = 30_000;
/** Nobody who limits means at once. */
const SHORTEST_MS = 100;

/** Waits until the limit that ended the last run is reset and goes on; `undefined` when there is none, or it was stopped. */
export type WaitForLimit = () => Promise<Terminal | undefined>;

export function createLimitWait(
  { bus, now }: Pick<Core, 'bus' | 'now'>,
  agent: Agent,
  pause: typeof sleep = sleep,
): WaitForLimit {
  let limit: { readonly failure: NonNullable<ReturnType<typeof limitOf>>; readonly resetsAtMs: number } | undefined;
  agent.subscribe((event) => {
    if (event.type === 'agent_start') limit = undefined;
    if (event.type !== 'agent_end') return;
    const failure = limitOf(event.terminal);
    limit = failure && { failure, resetsAtMs: now() + Math.max(SHORTEST_MS, failure.retryAfterMs) };
  });

  return async () => {
    const due = limit;
    if (due === undefined || agent.state().status !== 'idle') return undefined;
    const { failure, resetsAtMs } = due;
    const text = `The usage limit is reached. It is reset ${clockTime(resetsAtMs, now())}; ouro waits and goes on then.`;
    await bus.tell({ type: 'notice', level: 'warn', topic: 'usage_limit', text });
    const isOver = await agent.between('requesting', async (signal) => {
      const skip = new AbortController();
      bus.port().onWait(() => skip.abort());
      await bus.tell({ type: 'retry', attempt: 1, limit: 1, delayMs: Math.max(0, resetsAtMs - now()), failure });
      const end = AbortSignal.any([signal, skip.signal]);
      while (now() < resetsAtMs && !end.aborted) await pause(Math.min(LOOK_EVERY_MS, resetsAtMs - now()), end);
      return !signal.aborted;
    });
    // Words that came meanwhile have begun a run of their own.
    return isOver && agent.state().status === 'idle' ? agent.continue() : undefined;
  };
}

function clockTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = `at ${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  return isToday ? time : `${time} on ${at.toDateString()}`;
}
