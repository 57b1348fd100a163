/** A limit on silence: aborts when nothing was heard for so long, except while somebody is being asked. */
export type IdleLimit = {
  readonly signal: AbortSignal;
  heard(): void;
  /** Time in which the other side waits for us does not count. */
  whilePaused<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  end(): void;
};

export function createIdleLimit(limitMs: number): IdleLimit {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauses = 0;

  function heard(): void {
    clearTimeout(timer);
    if (pauses === 0) timer = setTimeout(() => controller.abort(), limitMs);
  }

  heard();
  return {
    signal: controller.signal,
    heard,
    async whilePaused(work) {
      pauses += 1;
      clearTimeout(timer);
      try {
        return await work();
      } finally {
        pauses -= 1;
        heard();
      }
    },
    end() {
      pauses += 1;
      clearTimeout(timer);
    },
  };
}
