import type { AgentEvent } from '../../contracts/event.ts';

/** Sub-agents that nobody waits for while they work: who leaves before them would throw their work away. */
export type AgentsBehind = {
  hear(event: AgentEvent): void;
  /** Does one still work, or has one ended that no request has told of? */
  areOwed(): boolean;
  /** Resolves when none works any more. */
  ended(): Promise<void>;
};

export function watchAgentsBehind(): AgentsBehind {
  const working = new Set<string>();
  let hasNews = false;
  let waiting: (() => void)[] = [];

  return {
    hear(event) {
      // What is known when a turn begins goes with its request.
      if (event.type === 'turn_start') hasNews = false;
      if (event.type !== 'background' || event.kind !== 'agent' || event.state === 'printed') return;
      if (event.state === 'started') {
        working.add(event.id);
        return;
      }
      hasNews = true;
      working.delete(event.id);
      if (working.size > 0) return;
      for (const wake of waiting) wake();
      waiting = [];
    },
    areOwed: () => hasNews || working.size > 0,
    ended() {
      if (working.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      return promise;
    },
  };
}
