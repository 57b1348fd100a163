import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createActiveMcpCalls } from '../../../src/mcp/client/create-mcp-client.ts';

const LIMIT_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const begin = () => createActiveMcpCalls(() => LIMIT_MS).begin(async () => undefined);

/** Lets time pass while the server tells progress all along. */
function busyFor(call: ReturnType<typeof begin>, ms: number): void {
  for (let passed = 0; passed < ms; passed += LIMIT_MS / 2) {
    vi.advanceTimersByTime(LIMIT_MS / 2);
    call.recordActivity();
  }
}

test('a silent server is given up after the timeout', () => {
  const call = begin();
  vi.advanceTimersByTime(LIMIT_MS - 1);
  expect(call.timeoutSignal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(call.timeoutSignal.reason).toBe('silent');
});

test('a server that reports progress for ever is given up eventually', () => {
  const call = begin();
  busyFor(call, 23 * LIMIT_MS);
  expect(call.timeoutSignal.aborted).toBe(false);
  busyFor(call, LIMIT_MS);
  expect(call.timeoutSignal.reason).toBe('endless');
});

test('time spent asking the user does not count, and an ended call leaves no timer', async () => {
  const call = begin();
  const answered = Promise.withResolvers<void>();
  const asked = call.whilePaused(() => answered.promise);
  vi.advanceTimersByTime(100 * LIMIT_MS);
  answered.resolve();
  await asked;
  busyFor(call, 23 * LIMIT_MS);
  expect(call.timeoutSignal.aborted).toBe(false);
  call.end();
  expect(vi.getTimerCount()).toBe(0);
});
