import type { Ask } from '../elicit.ts';

/** A call at work: how long its server may be silent, and whom a question of the server goes to. */
export type ActiveCall = {
  readonly ask: Ask;
  /** Aborted when nothing was heard for too long: `silent`; or nothing but progress for very long: `endless`. */
  readonly silent: AbortSignal;
  heard(): void;
  /** Time in which the server waits for us does not count. */
  whilePaused<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  end(): void;
};

/** A server that goes on telling progress, and nothing else, is given up after so many times its limit of silence. */
const MOST_SILENCES = 24;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The calls of one server that are at work. A question of the server is asked in the name of the newest. */
export function createActiveCalls(limitMs: () => number) {
  let active: readonly ActiveCall[] = [];

  function begin(ask: Ask): ActiveCall {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pauses = 0;
    let endless: ReturnType<typeof setTimeout> | undefined;

    /** It has as long as any call from here on. */
    function begun(): void {
      clearTimeout(endless);
      if (pauses > 0) return;
      const longestMs = Math.min(limitMs() * MOST_SILENCES, LONGEST_TIMER_MS);
      endless = setTimeout(() => controller.abort('endless'), longestMs);
    }

    function heard(): void {
      clearTimeout(timer);
      if (pauses === 0) timer = setTimeout(() => controller.abort('silent'), limitMs());
    }

    const call: ActiveCall = {
      ask,
      silent: controller.signal,
      heard,
      async whilePaused(work) {
        pauses += 1;
        clearTimeout(timer);
        clearTimeout(endless);
        try {
          return await work();
        } finally {
          pauses -= 1;
          heard();
          begun();
        }
      },
      end() {
        pauses += 1;
        clearTimeout(timer);
        clearTimeout(endless);
        active = active.filter((one) => one !== call);
      },
    };
    active = [...active, call];
    heard();
    begun();
    return call;
  }

  return { begin, newest: () => active.at(-1) };
}
