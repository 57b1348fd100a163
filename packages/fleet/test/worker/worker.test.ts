import { expect, test } from 'vitest';
import { createSleepDetector } from '../../src/worker/worker.ts';

test.each([
  ['a second passes', 1_000, 1_000, false],
  ['the machine was suspended', 3_600_000, 10, true],
  ['its processes were frozen', 60_000, 60_000, true],
  ['the clock was set forward', 86_400_000, 1_000, true],
  ['the clock was set back', -3_600_000, 1_000, true],
  ['the clock is corrected a little', 1_400, 1_000, false],
])('%s', (_, wallGap, steadyGap, hasSlept) => {
  const now = { wall: 1_000_000_000, steady: 5_000 };
  const detector = createSleepDetector({ wall: () => now.wall, steady: () => now.steady });
  expect(detector.hasSlept()).toBe(false);
  now.wall += wallGap;
  now.steady += steadyGap;
  expect([detector.hasSlept(), detector.hasSlept()]).toEqual([hasSlept, false]);
  detector.stop();
});
