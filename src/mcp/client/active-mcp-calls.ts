import type { AskUser } from '../elicit.ts';

/** A running call: its silence limit, and the way a question of its server reaches the user. */
export type ActiveMcpCall = {
  readonly ask: AskUser;
  /** Aborted with `silent` after too long without a message, with `endless` after too long with only progress. */
  readonly timeoutSignal: AbortSignal;
  recordActivity(): void;
  /** Runs work the server waits for; that time does not count. */
  whilePaused<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  end(): void;
};

/** A call that only reports progress is aborted after this multiple of the silence limit. */
const MAX_SILENCE_MULTIPLE = 24;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Creates the list of one server's running calls; a question of the server belongs to the newest of them. */
export function createActiveMcpCalls(limitMs: () => number) {
  let active: readonly ActiveMcpCall[] = [];

  function begin(ask: AskUser): ActiveMcpCall {
    const controller = new AbortController();
    let silenceTimer: ReturnType<typeof setTimeout> | undefined;
    let pauses = 0;
    let totalTimer: ReturnType<typeof setTimeout> | undefined;

    /** Restarts the limit for calls that only report progress. */
    function restartTotalLimit(): void {
      clearTimeout(totalTimer);
      if (pauses > 0) return;
      const totalMs = Math.min(limitMs() * MAX_SILENCE_MULTIPLE, MAX_TIMER_MS);
      totalTimer = setTimeout(() => controller.abort('endless'), totalMs);
    }

    function recordActivity(): void {
      clearTimeout(silenceTimer);
      if (pauses === 0) silenceTimer = setTimeout(() => controller.abort('silent'), limitMs());
    }

    const call: ActiveMcpCall = {
      ask,
      timeoutSignal: controller.signal,
      recordActivity: recordActivity,
      async whilePaused(work) {
        pauses += 1;
        clearTimeout(silenceTimer);
        clearTimeout(totalTimer);
        try {
          return await work();
        } finally {
          pauses -= 1;
          recordActivity();
          restartTotalLimit();
        }
      },
      end() {
        pauses += 1;
        clearTimeout(silenceTimer);
        clearTimeout(totalTimer);
        active = active.filter((other) => other !== call);
      },
    };
    active = [...active, call];
    recordActivity();
    restartTotalLimit();
    return call;
  }

  return { begin, newest: () => active.at(-1) };
}
