import { expect, test } from 'vitest';
import { createTimeoutBackoff } from '../../../src/lib/processes/timeout-backoff.ts';

test('a hanging script is started at growing intervals, at most ten minutes, and at once after an answer', () => {
  let now = 0;
  const hanging = createTimeoutBackoff(() => now);
  const pauses: number[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    hanging.record('a', { timedOut: true, tookMs: 1_000 });
    const since = now;
    while (hanging.isPaused('a')) now += 1_000;
    pauses.push((now - since) / 1_000);
  }
  expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]);
  hanging.record('a', { timedOut: true, tookMs: 1_000 });
  expect([hanging.isPaused('a'), hanging.isPaused('b')]).toEqual([true, false]);
  hanging.record('a', { timedOut: false, tookMs: 1 });
  expect(hanging.isPaused('a')).toBe(false);
});
