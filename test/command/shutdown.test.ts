import { expect, test, vi } from 'vitest';
import { createShutdown } from '../../src/command/shutdown.ts';
import type { AbortReason } from '../../src/contracts/agent.ts';
import { fakeConversation } from '../support/loop/fake-conversation.ts';
import { says } from '../support/loop/scripted.ts';

/** A process that notes how it would have ended. */
function fakeProcess() {
  const exits: number[] = [];
  let raise: (reason: AbortReason) => void = () => undefined;
  const shutdown = createShutdown({
    onSignal(listener) {
      raise = listener;
      return () => undefined;
    },
    exit: (code) => exits.push(code),
  });
  return { exits, shutdown, raise: (reason: AbortReason) => raise(reason) };
}

test.each([
  ['sigint', 130],
  ['sigterm', 143],
  ['sighup', 129],
] as const)('before there is a conversation, %s ends at once with %d', (reason, code) => {
  const { exits, raise } = fakeProcess();
  raise(reason);
  expect(exits).toEqual([code]);
});

test('a signal aborts every conversation, and its end closes them', async () => {
  const hold = Promise.withResolvers<void>();
  const talks = [0, 1].map(() => fakeConversation({ replies: [{ ...says('half'), hold: hold.promise }] }));
  const { exits, shutdown, raise } = fakeProcess();
  for (const talk of talks) shutdown.attach(talk);
  const running = talks.map(({ agent }) => agent.prompt('go'));
  raise('sigterm');
  expect(await shutdown.started).toBe('sigterm');
  expect((await Promise.all(running)).map(({ reason }) => reason)).toEqual(['aborted_streaming', 'aborted_streaming']);
  await shutdown.finish(0);
  expect(talks.map((talk) => talk.closedFor())).toEqual([['sigterm'], ['sigterm']]);
  expect({ exits, reason: shutdown.reason() }).toEqual({ exits: [], reason: 'sigterm' });
});

test.each([
  ['sigterm', 143],
  ['shutdown', 3],
] as const)('%s while the conversations close makes the exit code %d', async (reason, code) => {
  const { exits, shutdown } = fakeProcess();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  shutdown.attach({ ...fakeConversation(), close: () => closed });
  const finished = shutdown.finish(3);
  shutdown.start(reason);
  close();
  expect({ code: await finished, exits }).toEqual({ code, exits: [] });
});

test('a second signal exits without waiting', async () => {
  const { exits, shutdown, raise } = fakeProcess();
  shutdown.attach(fakeConversation());
  raise('sigterm');
  raise('sigint');
  expect(exits).toEqual([143]);
  await shutdown.finish(0);
});

test('a run whose end takes too long exits with its own code', async () => {
  vi.useFakeTimers();
  try {
    const { exits, shutdown } = fakeProcess();
    shutdown.attach({ ...fakeConversation(), close: () => new Promise<never>(() => undefined) });
    void shutdown.finish(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(exits).toEqual([3]);
  } finally {
    vi.useRealTimers();
  }
});
