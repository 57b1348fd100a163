import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGarbageCollectionListener, findGarbageCollector } from '../../../src/cli/modes/collect-garbage.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';

const RUN_END: AgentEvent = { type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 0 };
const REPLY: AgentEvent = {
  type: 'message_end',
  message: { role: 'assistant', id: 'a', model: 'demo', blocks: [] },
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createCounter() {
  const counts = { young: 0, full: 0 };
  const collector = {
    edenGC: () => {
      counts.young += 1;
    },
    fullGC: () => {
      counts.full += 1;
    },
  };
  return { counts, listener: createGarbageCollectionListener(collector) };
}

test('garbage is collected once after each run, not while its last frame is due', () => {
  const { counts, listener } = createCounter();
  listener(REPLY);
  listener(RUN_END);
  expect(counts).toEqual({ young: 0, full: 0 });
  vi.runAllTimers();
  expect(counts).toEqual({ young: 1, full: 0 });
});

test('one collection in six is full', () => {
  const { counts, listener } = createCounter();
  for (let run = 0; run < 12; run += 1) {
    listener(RUN_END);
    vi.runAllTimers();
  }
  expect(counts).toEqual({ young: 10, full: 2 });
});

test('a run of many replies collects while it is running', () => {
  const { counts, listener } = createCounter();
  for (let reply = 0; reply < 16; reply += 1) {
    listener(REPLY);
    vi.runAllTimers();
  }
  expect(counts).toEqual({ young: 2, full: 0 });
});

test('the runtime of ouro has a collector', () => {
  expect(findGarbageCollector()).toEqual(
    expect.objectContaining({ edenGC: expect.any(Function), fullGC: expect.any(Function) }),
  );
});
