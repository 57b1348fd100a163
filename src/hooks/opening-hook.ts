import { untilAborted } from '../lib/abort.ts';
import type { Hooks } from './create-hooks.ts';

/** The SessionStart hooks of one run: begun once, and what they add goes with the first prompt that is sent. */
export type OpeningHook = {
  /** Lets them begin before anything is said; nobody waits. */
  begin(): void;
  /** What they add, waited for once. Whoever stops waiting stops them. */
  context(signal: AbortSignal): Promise<string | undefined>;
  /** Resolves when none of them runs any more. */
  close(): Promise<void>;
};

export function createOpeningHook(hooks: Pick<Hooks, 'fire'>, source: 'startup' | 'resume'): OpeningHook {
  const stopping = new AbortController();
  let begun: ReturnType<Hooks['fire']> | undefined;
  let state: 'waits' | 'given' = 'waits';

  const begin = () => {
    begun ??= hooks.fire('SessionStart', { source }, stopping.signal);
    return begun;
  };

  return {
    begin: () => void begin().catch(() => undefined), // The prompt that waits for them tells.
    async context(signal) {
      if (state === 'given') return undefined;
      const verdict = await untilAborted(begin(), signal);
      if (signal.aborted) stopping.abort();
      else state = 'given';
      return verdict?.context;
    },
    async close() {
      stopping.abort();
      await begun?.catch(() => undefined); // It was reported, or nobody waits for it any more.
    },
  };
}
