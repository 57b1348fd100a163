import type { AgentEvent } from '../contracts/event.ts';
import type { Hook } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { deferred } from '../lib/deferred.ts';
import type { RunHook } from './hook-runs.ts';
import { nameOf } from './run-hook.ts';

/** What a hook that nobody waited for has to say: with the next turn, or so that one begins. */
export type LateWords = { readonly words: string; readonly how: 'next turn' | 'wake'; readonly title: string };

type LateHooks = {
  /** Pulled when the session ends. */
  readonly signal: AbortSignal;
  /** The end of the session waits for this. */
  leave(done: Promise<unknown>): void;
  begin(hook: Hook, input: JsonObject): void;
  /** Who is told what they have to say. */
  hear(listener: (words: LateWords) => void): void;
  close(signal: AbortSignal): Promise<void>;
};

/** Hooks nobody waits for; the end of the session does. */
export function createLateHooks({ tell }: { readonly tell: (event: AgentEvent) => void }, run: RunHook): LateHooks {
  const life = new AbortController();
  const background = new Set<Promise<unknown>>();
  const late = deferred<(words: LateWords) => void>();

  function leave(done: Promise<unknown>): void {
    background.add(done);
    void done.finally(() => background.delete(done)); // Its failures are told where they happen.
  }

  async function speak(hook: Hook, input: JsonObject): Promise<void> {
    const { outcome, words, output } = await run(hook, input, life.signal);
    if (life.signal.aborted) return;
    if (outcome === 'failed') tell({ type: 'notice', level: 'warn', topic: 'hook', text: words });
    const wakes = hook.asyncRewake === true && outcome === 'blocked';
    const said = [wakes ? words : undefined, output.systemMessage, output.additionalContext].filter((text) => text);
    if (said.length === 0) return;
    const title = nameOf(hook);
    // Who listens may come later; the end of the session does not wait for that.
    void late.promise.then((listener) =>
      listener({ title, words: `${title} says:\n${said.join('\n')}`, how: wakes ? 'wake' : 'next turn' }),
    );
  }

  return {
    signal: life.signal,
    leave,
    begin: (hook: Hook, input: JsonObject) => leave(speak(hook, input)),
    hear: late.resolve,
    async close(signal: AbortSignal): Promise<void> {
      const stop = () => life.abort();
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      await Promise.all(background);
    },
  };
}
