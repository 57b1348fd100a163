import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startModelAttempt } from '../../../src/model/stream/model-attempt.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const NEVER = new AbortController().signal;
const TIMEOUTS = { headerTimeoutMs: 1_000, idleTimeoutMs: 60_000 };

function start() {
  const attempt = startModelAttempt(TIMEOUTS, NEVER);
  attempt.markHeadersReceived();
  return attempt;
}

test('a silent reply fails after the idle timeout', () => {
  const attempt = start();
  vi.advanceTimersByTime(59_000);
  expect(attempt.getFailure()).toBeUndefined();
  vi.advanceTimersByTime(2_000);
  expect(attempt.getFailure()?.message).toBe('The reply stalled: no data for 60 s.');
});

test('pings keep a reply alive for ten minutes, content restarts them', () => {
  const attempt = start();
  const pingFor = (seconds: number) => {
    for (let second = 0; second < seconds; second += 30) {
      vi.advanceTimersByTime(30_000);
      attempt.markAlive();
    }
  };
  pingFor(570);
  expect(attempt.getFailure()).toBeUndefined();
  attempt.markProgress();
  pingFor(570);
  expect(attempt.getFailure()).toBeUndefined();
  vi.advanceTimersByTime(31_000);
  expect(attempt.getFailure()?.message).toBe('The reply stalled: only pings or empty parts for 600 s.');
});

test('missing pings are silence', () => {
  const attempt = start();
  vi.advanceTimersByTime(30_000);
  attempt.markAlive();
  vi.advanceTimersByTime(59_000);
  expect(attempt.getFailure()).toBeUndefined();
  vi.advanceTimersByTime(2_000);
  expect(attempt.getFailure()?.message).toBe('The reply stalled: no data for 60 s.');
});
