/**
 * How many cases a property is tried on: the usual few, or so many times as many when somebody has the time,
 * as in `OURO_TEST_TIMES=20 npm test`.
 */
export function runs(usual: number): { readonly numRuns: number } {
  const times = Number(process.env.OURO_TEST_TIMES ?? 1);
  return { numRuns: Math.ceil(usual * (times > 0 ? times : 1)) };
}
