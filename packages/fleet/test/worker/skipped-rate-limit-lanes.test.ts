import { expect, test } from 'vitest';
import { createSkippedRateLimitLanes } from '../../src/worker/classify-task-run.ts';

test('a lane is skipped for a time that doubles up to ten minutes, until one of its tasks has run', () => {
  let now = 0;
  const lanes = createSkippedRateLimitLanes(() => now);
  const reason = { why: 'no-key', message: 'No API key.' } as const;
  const pauses = Array.from({ length: 6 }, () => {
    const pause = lanes.skip('anthropic', reason);
    // Another task that was started at the same time.
    expect(lanes.skip('anthropic', reason)).toBe(pause);
    expect([...lanes.list()]).toEqual([['anthropic', reason]]);
    now += pause;
    expect([...lanes.list()]).toEqual([]);
    return pause / 1000;
  });
  expect(pauses).toEqual([30, 60, 120, 240, 480, 600]);
  lanes.clear('anthropic');
  expect(lanes.skip('anthropic', reason)).toBe(30_000);
});
