/**
 * How much a search through many cases tries: a fortieth of it as long as somebody waits, all of it with
 * `OURO_TEST_TIMES=1`, as in CI, and so many times as much with a larger number.
 */
const times = Number(process.env.OURO_TEST_TIMES) || 0.025;

/** Is there time for every case there is? */
export const isWholeRun = times >= 1;

/** How many cases a property is tried on, of so many in CI. */
export function runs(whole: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(whole * times) };
}

/** All cases in a whole run; for somebody who waits a few that lie spread over them. */
export function someOf<T>(cases: readonly T[], few = 1): T[] {
  const step = Math.max(1, Math.floor(cases.length / few));
  return isWholeRun ? [...cases] : cases.filter((_, at) => at % step === 0).slice(0, few);
}
