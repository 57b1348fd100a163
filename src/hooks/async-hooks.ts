import type { AgentEvent } from '../contracts/event.ts';
import type { Hook } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { createDeferred } from '../lib/promises.ts';
import { describeHook, type RunHook } from './run-hook.ts';

/** Hooks and other work that run in the background: no turn waits for them, but the end of the session does. */
type AsyncHooks = {
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** Starts a hook. */
  start(hook: Hook, input: JsonObject): void;
  /** Tracks background work, which the end of the session waits for. */
  track(work: Promise<unknown>): void;
  /** Sets the listener for results; earlier results are delivered to it as well. */
  onResult(listener: (result: AsyncHookResult) => void): void;
  /** Waits for background work; what is still running when the signal aborts is stopped. */
  close(signal: AbortSignal): Promise<void>;
};

/** The output of an async hook, for the next turn or to start one. */
export type AsyncHookResult = {
  readonly text: string;
  readonly delivery: 'next turn' | 'wake';
  readonly title: string;
};

/** Creates the async hooks: no turn waits for them, but the end of the session does. */
export function createAsyncHooks(emit: (event: AgentEvent) => void, run: RunHook): AsyncHooks {
  const lifetime = new AbortController();
  const background = new Set<Promise<unknown>>();
  const listening = createDeferred<(result: AsyncHookResult) => void>();

  function track(work: Promise<unknown>): void {
    background.add(work);
    void work.finally(() => background.delete(work)); // Failures are reported where they happen.
  }

  async function runAsync(hook: Hook, input: JsonObject): Promise<void> {
    const { outcome, words, output } = await run(hook, input, lifetime.signal);
    if (lifetime.signal.aborted) return;
    if (outcome === 'failed') emit({ type: 'notice', level: 'warn', topic: 'hook', text: words });
    const wakes = hook.asyncRewake === true && outcome === 'blocked';
    const texts = [wakes ? words : undefined, output.systemMessage, output.additionalContext].filter((text) => text);
    if (texts.length === 0) return;
    const title = describeHook(hook);
    // Not tracked: without a listener the end of the session would wait forever.
    void listening.promise.then((listener) =>
      listener({ title, text: `${title} says:\n${texts.join('\n')}`, delivery: wakes ? 'wake' : 'next turn' }),
    );
  }

  return {
    signal: lifetime.signal,
    track,
    start: (hook, input) => track(runAsync(hook, input)),
    onResult: listening.resolve,
    async close(signal) {
      const stop = () => lifetime.abort();
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      await Promise.all(background);
    },
  };
}

/** Returns true for a hook that runs in the background. */
export function isAsyncHook(hook: Hook): boolean {
  return hook.async === true || hook.asyncRewake === true;
}
