/**
 * The share of random cases that are tried: a fortieth while somebody waits, more with `OURO_TEST_TIMES` (0.4 in CI,
 * 3 at night).
 */
const times = Number(process.env.OURO_TEST_TIMES) || 0.025;

/** Whether all tests run, the slow ones included, with every case that is not random. */
export const isWholeRun = times >= 0.4;

/** How many random cases a property is tried on. */
export function runs(whole: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(whole * times) };
}

/** All cases in a whole run; for somebody who waits a few that lie spread over them. */
export function someOf<T>(cases: readonly T[], few = 1): T[] {
  const step = Math.max(1, Math.floor(cases.length / few));
  return isWholeRun ? [...cases] : cases.filter((_, at) => at % step === 0).slice(0, few);
}

/** The limit of anything a test waits for: a busy machine may take a minute for what usually takes milliseconds. */
export const WAIT_MS = 45_000;
