import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/event.ts';
import { createMessageDisplayHooks } from '../../src/hooks/message-display.ts';
import { mergeHookResults } from '../../src/hooks/run-hook.ts';

const says = (delta: string, kind: 'text' | 'thinking' = 'text'): AgentEvent => ({
  type: 'message_update',
  messageId: 'm1',
  index: 0,
  kind,
  delta,
});
const prompt: AgentEvent = { type: 'message_end', message: { role: 'user', id: 'u1', blocks: [], origin: 'prompt' } };
const reply: AgentEvent = {
  type: 'message_end',
  message: { role: 'assistant', id: 'm1', model: 'x', blocks: [] },
};

/** Hooks that are heard one by one; each waits until it is let go. */
function hooksOf(displayContent?: string) {
  const received: unknown[] = [];
  const waiting: (() => void)[] = [];
  const works: Promise<unknown>[] = [];
  let others = 0;
  const receive = createMessageDisplayHooks(
    {
      has: () => true,
      fire(_, { delta, index, final, turn_id: turn }) {
        received.push([index, final, delta, turn]);
        const verdict = { ...mergeHookResults([]), displayContent };
        return new Promise((resolve) => waiting.push(() => resolve(verdict)));
      },
      runInBackground: (work) => void works.push(work(new AbortController().signal)),
    },
    () => {
      others += 1;
    },
  );
  const settle = async () => {
    for (let times = 0; times < 10; times += 1) await Promise.resolve();
  };
  return {
    received,
    others: () => others,
    async receive(...events: readonly AgentEvent[]) {
      for (const event of events) receive(event);
      await settle();
    },
    async letGo() {
      waiting.shift()?.();
      await settle();
    },
    ended: () => Promise.all(works),
  };
}

test('complete lines are reported, batched while busy, and the rest at the end', async () => {
  const hooks = hooksOf();
  await hooks.receive(prompt, says('one\ntw'), says('ideas', 'thinking'));
  expect(hooks.received).toEqual([[0, false, 'one\n', 'u1']]);
  await hooks.receive(says('o\nthree\nfo'));
  expect(hooks.received).toHaveLength(1);
  await hooks.letGo();
  expect(hooks.received.at(-1)).toEqual([1, false, 'two\nthree\n', 'u1']);
  await hooks.letGo();
  await hooks.receive(says('ur'), reply);
  expect(hooks.received.at(-1)).toEqual([2, true, 'four', 'u1']);
  await hooks.letGo();
  await hooks.ended();
  expect(hooks.received).toHaveLength(3);
});

test('a message that ends with its last line has its own end, and so has a discarded one', async () => {
  const hooks = hooksOf();
  await hooks.receive(says('one\n'));
  await hooks.letGo();
  await hooks.receive(reply);
  await hooks.letGo();
  expect(hooks.received).toEqual([
    [0, false, 'one\n', ''],
    [1, true, '', ''],
  ]);
  await hooks.receive(says('tw'), { type: 'tombstone', messageId: 'm1', why: 'again' });
  await hooks.letGo();
  await hooks.ended();
  expect(hooks.received.at(-1)).toEqual([0, true, 'tw', '']);
});

test('a message without text is skipped, and replaced text is reported', async () => {
  const hooks = hooksOf('OTHER');
  await hooks.receive(prompt, reply);
  expect(hooks.received).toEqual([]);
  await hooks.receive(says('one'), reply);
  await hooks.letGo();
  await hooks.ended();
  expect(hooks.others()).toBe(1);
});
