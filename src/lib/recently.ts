const FRESH_MS = 60_000;

/** Asks once a minute at most; whoever asks meanwhile gets the same answer. What failed is asked again. */
export function recently<Value>(ask: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let last: { readonly atMs: number; readonly answer: Promise<Value> } | undefined;
  return () => {
    if (last === undefined || now() - last.atMs > FRESH_MS) {
      const asked = { atMs: now(), answer: ask() };
      last = asked;
      asked.answer.catch(() => {
        if (last === asked) last = undefined;
      });
    }
    return last.answer;
  };
}
