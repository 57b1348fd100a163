import { expect, test } from 'vitest';
import { createHanging } from '../../../src/lib/processes/hanging.ts';

test('a script that hangs is started again later and later, at last every ten minutes, and at once after an answer', () => {
  let now = 0;
  const hanging = createHanging(() => now);
  const pauses: number[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    hanging.note('a', { timedOut: true, tookMs: 1_000 });
    const since = now;
    while (hanging.isPaused('a')) now += 1_000;
    pauses.push((now - since) / 1_000);
  }
  expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]);
  hanging.note('a', { timedOut: true, tookMs: 1_000 });
  expect([hanging.isPaused('a'), hanging.isPaused('b')]).toEqual([true, false]);
  hanging.note('a', { timedOut: false, tookMs: 1 });
  expect(hanging.isPaused('a')).toBe(false);
});
