import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createActiveCalls } from '../../../src/mcp/server/active-calls.ts';

const LIMIT_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const begin = () => createActiveCalls(() => LIMIT_MS).begin(async () => undefined);

/** Lets time pass while the server tells progress all along. */
function busyFor(call: ReturnType<typeof begin>, ms: number): void {
  for (let passed = 0; passed < ms; passed += LIMIT_MS / 2) {
    vi.advanceTimersByTime(LIMIT_MS / 2);
    call.heard();
  }
}

test('a server that says nothing is given up after the limit', () => {
  const call = begin();
  vi.advanceTimersByTime(LIMIT_MS - 1);
  expect(call.silent.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(call.silent.reason).toBe('silent');
});

test('a server that tells progress and never ends is given up in the end', () => {
  const call = begin();
  busyFor(call, 23 * LIMIT_MS);
  expect(call.silent.aborted).toBe(false);
  busyFor(call, LIMIT_MS);
  expect(call.silent.reason).toBe('endless');
});

test('the time in which a person is asked does not count, and nothing is left of a call that ended', async () => {
  const call = begin();
  const answered = Promise.withResolvers<void>();
  const asked = call.whilePaused(() => answered.promise);
  vi.advanceTimersByTime(100 * LIMIT_MS);
  answered.resolve();
  await asked;
  busyFor(call, 23 * LIMIT_MS);
  expect(call.silent.aborted).toBe(false);
  call.end();
  expect(vi.getTimerCount()).toBe(0);
});
