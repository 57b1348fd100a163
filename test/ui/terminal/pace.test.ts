import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPace } from '../../../src/ui/terminal/pace.ts';
import { grows, over, permission } from '../screen/told.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('words are drawn ten times a second; an end and a question at once, also of a sub-agent and behind words', () => {
  let drawn = 0;
  const pace = createPace(() => {
    drawn += 1;
    pace.rest();
  });
  pace.hear(grows('word '));
  pace.hear(grows('word '));
  vi.advanceTimersByTime(99);
  expect(drawn).toBe(0);
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(1);

  pace.hear(grows('word '));
  pace.hear(over());
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(2);

  pace.hear(grows('word '));
  const asked = permission('c1', 'Bash', { kind: 'shell', command: 'ls' });
  pace.hear({ type: 'subagent', callId: 'c0', agentId: 'a1', agentType: 'general', event: asked });
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(3);
  vi.advanceTimersByTime(1000);
  expect(drawn).toBe(3);

  // A stop that is over at once is one frame.
  pace.hear({ type: 'status', status: 'stopping' });
  vi.advanceTimersByTime(10);
  pace.hear(over('aborted_streaming'));
  vi.advanceTimersByTime(1);
  expect(drawn).toBe(4);
  pace.hear({ type: 'status', status: 'stopping' });
  vi.advanceTimersByTime(20);
  expect(drawn).toBe(5);
});
