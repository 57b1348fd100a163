import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTimeLimit } from '../../src/lib/time-limit.ts';

let stoppedMs = 0;
beforeEach(() => {
  stoppedMs = 0;
  vi.useFakeTimers();
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + stoppedMs);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Starts a limit of ten seconds, and tells when it is reached. */
function start() {
  const onReached = vi.fn();
  return { limit: startTimeLimit(10_000, onReached), onReached };
}

test('a limit is reached when its time has passed, and not after it was stopped', () => {
  const { onReached } = start();
  const stopped = start();
  vi.advanceTimersByTime(9_000);
  stopped.limit.stop();
  expect(onReached).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(onReached).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(60_000);
  expect(onReached).toHaveBeenCalledOnce();
  expect(stopped.onReached).not.toHaveBeenCalled();
});

test('time in which the program was stopped does not count', () => {
  const { limit, onReached } = start();
  vi.advanceTimersByTime(4_200);
  stoppedMs += 30_000;
  vi.advanceTimersByTime(5_700);
  expect(onReached).not.toHaveBeenCalled();
  expect(limit.getStoppedMs()).toBeCloseTo(30_000, -2);
  vi.advanceTimersByTime(300);
  expect(onReached).toHaveBeenCalledOnce();
});

test('a program that was stopped just before the limit first hears what happened meanwhile', () => {
  const { onReached } = start();
  vi.advanceTimersByTime(9_900);
  stoppedMs += 30_000;
  vi.advanceTimersByTime(100);
  expect(onReached).not.toHaveBeenCalled();
  vi.advanceTimersByTime(500);
  expect(onReached).toHaveBeenCalledOnce();
});

test('timers that are late on a busy machine count in full', () => {
  const { limit, onReached } = start();
  for (let second = 0; second < 5; second += 1) {
    stoppedMs += 1_000;
    vi.advanceTimersByTime(1_000);
  }
  expect(onReached).toHaveBeenCalledOnce();
  expect(limit.getStoppedMs()).toBe(0);
});
