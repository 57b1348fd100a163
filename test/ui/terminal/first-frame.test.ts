import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { holdFirstFrame } from '../../../src/ui/terminal/first-frame.ts';

const ANSWER_MS = 25;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first frame comes with the answer, once, or a moment later where none comes', () => {
  const show = vi.fn();
  const answered = holdFirstFrame('asked', show);
  expect(answered.isHeld()).toBe(true);
  answered.release();
  answered.release();
  vi.advanceTimersByTime(ANSWER_MS * 2);
  expect([answered.isHeld(), show.mock.calls.length]).toEqual([false, 1]);
  const silent = holdFirstFrame('asked', show);
  vi.advanceTimersByTime(ANSWER_MS);
  expect([silent.isHeld(), show.mock.calls.length]).toEqual([false, 2]);
});

test('where nothing is asked nothing is held, and nothing drawn twice', () => {
  const show = vi.fn();
  const first = holdFirstFrame('nothing', show);
  first.release();
  expect([first.isHeld(), show.mock.calls.length, vi.getTimerCount()]).toEqual([false, 0, 0]);
});
