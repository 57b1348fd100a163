import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDrawThrottle } from '../../../src/ui/terminal/frame-scheduler.ts';
import { grows, over, permission } from '../widgets/screen/events.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('text is drawn ten times a second; an end and a question at once, also of a sub-agent and after text', () => {
  let drawn = 0;
  const timer = createDrawThrottle(() => {
    drawn += 1;
    timer.cancel();
  });
  timer.schedule(grows('word '));
  timer.schedule(grows('word '));
  vi.advanceTimersByTime(99);
  expect(drawn).toBe(0);
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(1);

  timer.schedule(grows('word '));
  timer.schedule(over());
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(2);

  timer.schedule(grows('word '));
  const asked = permission('c1', 'Bash', { kind: 'shell', command: 'ls' });
  timer.schedule({ type: 'subagent', callId: 'c0', agentId: 'a1', agentType: 'general', event: asked });
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(3);
  vi.advanceTimersByTime(1000);
  expect(drawn).toBe(3);

  // A stop that is over at once is one frame.
  timer.schedule({ type: 'status', status: 'stopping' });
  vi.advanceTimersByTime(10);
  timer.schedule(over('aborted_streaming'));
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(4);
  timer.schedule({ type: 'status', status: 'stopping' });
  vi.advanceTimersByTime(20);
  expect(drawn).toBe(5);
});
