import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDrawThrottle } from '../../../src/ui/terminal/frame-scheduler.ts';
import { grows, over, permission } from '../widgets/screen/events.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Creates a throttle and counts what it draws. */
function countDrawn() {
  let drawn = 0;
  const timer = createDrawThrottle(() => {
    drawn += 1;
    timer.cancel();
  });
  return { timer, count: () => drawn };
}

test('text is drawn soon after a pause, and then ten times a second', () => {
  const { timer, count } = countDrawn();
  timer.schedule(grows('word '));
  vi.advanceTimersByTime(49);
  expect(count()).toBe(0);
  for (let ms = 0; ms < 1000; ms += 1) {
    timer.schedule(grows('word '));
    vi.advanceTimersByTime(1);
  }
  expect(count()).toBe(10);
});

test('an end and a question are drawn at once, also of a sub-agent and after text', () => {
  const { timer, count } = countDrawn();
  timer.schedule(grows('word '));
  timer.schedule(over());
  vi.advanceTimersByTime(1);
  expect(count()).toBe(1);

  timer.schedule(grows('word '));
  const asked = permission('c1', 'Bash', { kind: 'shell', command: 'ls' });
  timer.schedule({ type: 'subagent', callId: 'c0', agentId: 'a1', agentType: 'general', event: asked });
  vi.advanceTimersByTime(1);
  expect(count()).toBe(2);
  vi.advanceTimersByTime(1000);
  expect(count()).toBe(2);

  // A stop that is over at once is one frame.
  timer.schedule({ type: 'status', status: 'stopping' });
  vi.advanceTimersByTime(10);
  timer.schedule(over('aborted_streaming'));
  vi.advanceTimersByTime(1);
  expect(count()).toBe(3);
  timer.schedule({ type: 'status', status: 'stopping' });
  vi.advanceTimersByTime(20);
  expect(count()).toBe(4);
});
