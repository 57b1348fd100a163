/**
 * The share of random cases that are tried: a fortieth while somebody waits, more with `OURO_TEST_TIMES` (0.15 in CI,
 * 3 at night).
 */
const times = Number(process.env.OURO_TEST_TIMES) || 0.025;

/** True if all tests run, slow ones included, with all cases that are not random. */
export const isWholeRun = times >= 0.15;

/** True if nothing is left out, as at night. */
export const isNightRun = times >= 1;

/** Returns the number of random cases of a property. */
export function runs(whole: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(whole * times) };
}

/** Returns all cases in a complete run, and a few evenly spread ones in a quick run. */
export function someOf<T>(cases: readonly T[], few = 1): T[] {
  const step = Math.max(1, Math.floor(cases.length / few));
  return isWholeRun ? [...cases] : cases.filter((_, at) => at % step === 0).slice(0, few);
}

/** Returns every `step`-th case of those that take long, and all at night; another seed begins elsewhere. */
export function partOf<T>(cases: readonly T[], step: number): T[] {
  const start = (Number(process.env.OURO_TEST_SEED) || 0) % step;
  return isNightRun ? [...cases] : cases.filter((_, at) => at % step === start);
}

/** The timeout of everything a test waits for: a busy machine may need a minute for milliseconds of work. */
export const WAIT_MS = 45_000;
