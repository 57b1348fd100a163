import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { getReachedUsageLimit, type Terminal } from '../../contracts/terminal-reason.ts';

/** Waits for the end of a run, and after usage limits also for the runs that continue it. */
export async function waitThroughUsageLimits(
  ended: Promise<Terminal>,
  { waitForLimit, agent }: Conversation,
): Promise<Terminal> {
  let terminal = await ended;
  await agent.waitForIdle();
  while (getReachedUsageLimit(terminal) !== undefined) {
    const next = await waitForLimit?.();
    if (next === undefined) return terminal;
    terminal = next;
    await agent.waitForIdle();
  }
  return terminal;
}

/** Turns a completed run into a failed one when a JSON schema was set and the run has no structured output. */
export function requireStructuredOutput(terminal: Terminal, schema: JsonObject | undefined): Terminal {
  if (schema === undefined || terminal.reason !== 'completed' || terminal.structuredOutput !== undefined)
    return terminal;
  return {
    reason: 'structured_output_failed',
    words: 'The model answered in plain text instead of the required JSON schema.',
  };
}

/** The background sub-agents of a conversation; exiting before they end would lose their work. */
export type BackgroundAgents = ReturnType<typeof trackBackgroundAgents>;

/** Tracks background sub-agents from the events of a conversation. */
export function trackBackgroundAgents() {
  const workingIds = new Set<string>();
  let hasUnreported = false;
  let waiters: (() => void)[] = [];

  return {
    handleEvent(event: AgentEvent) {
      // The request of a new turn includes the results of all sub-agents that have ended by then.
      if (event.type === 'turn_start') hasUnreported = false;
      if (event.type !== 'background' || event.kind !== 'agent' || event.state === 'printed') return;
      if (event.state === 'started') {
        workingIds.add(event.id);
        return;
      }
      hasUnreported = true;
      workingIds.delete(event.id);
      if (workingIds.size > 0) return;
      for (const resolve of waiters) resolve();
      waiters = [];
    },
    /** True while a sub-agent works, and after one has ended until its result is sent to the model. */
    hasPending: (): boolean => hasUnreported || workingIds.size > 0,
    /** Resolves when no sub-agent works. */
    waitUntilDone() {
      if (workingIds.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.push(resolve);
      return promise;
    },
  };
}
