import { expect, test } from 'vitest';
import { crashAfter, wholeRun } from './crash-run.ts';

/** The full run of two hundred is `OURO_CRASHES=200`; a handful holds the line every day. */
const CRASHES = Number(process.env.OURO_CRASHES ?? 6);
const PARALLEL = 2;

test('killed at any moment, a session resumes with everything that was accepted, exactly once', {
  timeout: 600_000,
}, async () => {
  const { durationMs, records } = await wholeRun();
  expect(records.length).toBeGreaterThan(40);
  const moments = Array.from({ length: CRASHES }, (_, at) => (durationMs * (at + Math.random())) / CRASHES);
  const faults: string[] = [];
  const take = async () => {
    for (let delayMs = moments.pop(); delayMs !== undefined; delayMs = moments.pop()) {
      const report = await crashAfter(delayMs);
      faults.push(
        ...report.faults.map((fault) => `after ${Math.round(delayMs)} ms, ${report.records} records: ${fault}`),
      );
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, take));
  expect(faults).toEqual([]);
});
