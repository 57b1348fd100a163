import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answerMs, holdFirstFrame } from '../../../src/ui/terminal/first-frame.ts';

const WAIT_MS = 25;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first frame comes with the answer, once, or a moment later where none comes', () => {
  const show = vi.fn();
  const answered = holdFirstFrame(WAIT_MS, show);
  expect(answered.isHeld()).toBe(true);
  answered.release();
  answered.release();
  vi.advanceTimersByTime(WAIT_MS * 2);
  expect([answered.isHeld(), show.mock.calls.length]).toEqual([false, 1]);
  const silent = holdFirstFrame(WAIT_MS, show);
  vi.advanceTimersByTime(WAIT_MS - 1);
  expect(silent.isHeld()).toBe(true);
  vi.advanceTimersByTime(1);
  expect([silent.isHeld(), show.mock.calls.length]).toEqual([false, 2]);
});

test('where nothing is asked nothing is held, and nothing drawn twice', () => {
  const show = vi.fn();
  const first = holdFirstFrame(undefined, show);
  first.release();
  expect([first.isHeld(), show.mock.calls.length, vi.getTimerCount()]).toEqual([false, 0, 0]);
});

test('a terminal behind a network has longer to answer, and without colours none is asked', () => {
  const look = { depth: 'truecolor', theme: 'auto' } as const;
  const all = [{ ...look }, { ...look, terminal: 'remote' as const }, { ...look, depth: 'none' as const }];
  expect(all.map(answerMs)).toEqual([WAIT_MS, 150, undefined]);
});
