import type { HookVerdict } from '../contracts/hook.ts';
import { untilAborted } from '../lib/abort.ts';
import type { Hooks } from './create-hooks.ts';

type Opened = { readonly context: string | undefined; readonly failures: readonly string[] };

/** The Setup and SessionStart hooks of one run: begun once, and what they add goes with the first prompt that is sent. */
export type OpeningHook = {
  /** Lets them begin before anything is said; nobody waits. */
  begin(): void;
  /** What they add, waited for once. Whoever stops waiting stops them. */
  context(signal: AbortSignal): Promise<string | undefined>;
  /** Runs them to their end, for a run that does nothing else; what Setup hooks could not do, in sentences. */
  prepare(): Promise<readonly string[]>;
  /** Resolves when none of them runs any more. */
  close(): Promise<void>;
};

export type Opening = {
  readonly source: 'startup' | 'resume';
  /** A run that is to be prepared first. */
  readonly setup?: 'init' | 'maintenance' | undefined;
};

/** `heard` does what they ask for besides. */
export function createOpeningHook(
  hooks: Pick<Hooks, 'fire'>,
  { source, setup }: Opening,
  heard: (verdict: HookVerdict) => Promise<void>,
): OpeningHook {
  const stopping = new AbortController();
  let begun: Promise<Opened> | undefined;
  let state: 'waits' | 'given' = 'waits';

  async function open(): Promise<Opened> {
    const { signal } = stopping;
    const prepared = setup === undefined ? undefined : await hooks.fire('Setup', { trigger: setup }, signal);
    const started = await hooks.fire('SessionStart', { source }, signal);
    await heard(started);
    const context = [prepared?.context, started.context].filter((text) => text !== undefined);
    const failures = [prepared?.blocked, ...(prepared?.failures ?? [])].filter((text) => text !== undefined);
    return { context: context.length === 0 ? undefined : context.join('\n'), failures };
  }

  const begin = () => {
    begun ??= open();
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
    prepare: async () => (await begin()).failures,
    async close() {
      stopping.abort();
      await begun?.catch(() => undefined); // It was reported, or nobody waits for it any more.
    },
  };
}
