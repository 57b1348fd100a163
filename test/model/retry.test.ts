import { describe, expect, test } from 'vitest';
import type { ModelEvent, ModelFailure, ModelOutcome, ModelPort, StreamOptions } from '../../src/contracts/model.ts';
import { withRetry } from '../../src/model/retry.ts';
import { drain, reply } from './support.ts';

type Try = { readonly events?: readonly ModelEvent[]; readonly outcome: ModelOutcome };

const SHOWN: readonly ModelEvent[] = [
  { type: 'message_start', messageId: 'm1', model: 'x', usage: reply('').usage },
  { type: 'text_delta', index: 0, text: 'half' },
];

function failed(failure: Partial<ModelFailure> = {}): Try {
  return { outcome: { ok: false, failure: { kind: 'server', message: 'Broken.', ...failure } } };
}

function setup(tries: readonly Try[], random = () => 0) {
  const waits: number[] = [];
  let calls = 0;
  const port: ModelPort = {
    name: 'script',
    async *stream() {
      const now = tries[Math.min(calls, tries.length - 1)];
      calls += 1;
      yield { type: 'request_sent', attempt: 1 };
      yield* now?.events ?? [];
      return now?.outcome ?? reply('');
    },
  };
  const clock = {
    now: () => new Date(2026, 0, 1, 12, 0).getTime(),
    sleep: async (ms: number) => void waits.push(ms),
  };
  return { port: withRetry(port, { clock, random }), waits, calls: () => calls };
}

async function run(tries: readonly Try[], options: Partial<StreamOptions> = {}) {
  const { port, waits, calls } = setup(tries);
  const result = await drain(port, { options });
  return { ...result, waits, calls: calls() };
}

describe('withRetry', () => {
  test('a temporary failure is retried with growing delays up to the maximum', async () => {
    const { outcome, waits, calls } = await run([
      ...Array.from({ length: 8 }, () => failed()),
      { outcome: reply('hi') },
    ]);
    expect(outcome).toEqual(reply('hi'));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 32_000]);
    expect(calls).toBe(9);
  });

  test('jitter only shortens a delay', async () => {
    const { port, waits } = setup([failed(), { outcome: reply('') }], () => 1);
    await drain(port);
    expect(waits).toEqual([375]);
  });

  test('each retry is reported with attempt, limit, delay and cause; attempt numbers increase', async () => {
    const { events } = await run([failed(), { outcome: reply('') }]);
    expect(events).toEqual([
      { type: 'request_sent', attempt: 1 },
      { type: 'retry', attempt: 1, limit: 10, delayMs: 500, failure: { kind: 'server', message: 'Broken.' } },
      { type: 'request_sent', attempt: 2 },
    ]);
  });

  test('shown text is discarded before the next attempt', async () => {
    const { events } = await run([{ ...failed({ kind: 'cut' }), events: SHOWN }, { outcome: reply('') }]);
    expect(events.map((event) => event.type)).toEqual([
      'request_sent',
      'message_start',
      'text_delta',
      'discarded',
      'retry',
      'request_sent',
    ]);
    expect(events[3]).toEqual({ type: 'discarded', messageId: 'm1' });
  });

  test('after ten retries the failure is returned with their number', async () => {
    const { outcome, calls } = await run([failed()]);
    expect(calls).toBe(11);
    expect(outcome).toEqual({
      ok: false,
      failure: { kind: 'server', message: 'Broken. Gave up after 11 attempts. Try again later.' },
    });
  });

  test.each(['auth', 'not_found', 'invalid', 'too_long', 'media_too_large', 'aborted'] as const)(
    '%s is never retried',
    async (kind) => {
      const { calls, events } = await run([failed({ kind })]);
      expect([calls, events.length]).toEqual([1, 1]);
    },
  );

  test('the delay requested by the provider is respected up to a minute', async () => {
    const soon = failed({ kind: 'rate_limited', retryAfterMs: 0 });
    expect((await run([soon, soon, soon, { outcome: reply('') }])).waits).toEqual([500, 1000, 2000]);
    const { waits } = await run([failed({ kind: 'rate_limited', retryAfterMs: 60_000 }), { outcome: reply('') }]);
    expect(waits).toEqual([60_000]);
  });

  test('above a minute it stops at once and says when to come back', async () => {
    const reset = await run([failed({ kind: 'rate_limited', resetsAfterMs: 720_000 })]);
    expect([reset.outcome.ok, reset.calls]).toEqual([false, 1]);
    const near = await run([failed({ kind: 'rate_limited', resetsAfterMs: 50_000 }), { outcome: reply('') }]);
    expect(near.waits[0]).toBeLessThan(1_000);
    const { outcome, calls } = await run([failed({ kind: 'rate_limited', retryAfterMs: 720_000 })]);
    expect(calls).toBe(1);
    expect(outcome).toMatchObject({
      failure: { message: 'Broken. The API asks to wait 12 minutes. Try again after 12:12.' },
    });
  });

  test('a run may limit the delay: a longer requested delay gives up at once', async () => {
    const patience = { maxRetryDelayMs: 1_000 };
    const { waits } = await run([failed(), failed(), failed(), failed(), { outcome: reply('') }], patience);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
    const reported = await run([failed({ kind: 'rate_limited', retryAfterMs: 2_000 })], patience);
    expect(reported.calls).toBe(1);
  });

  test('once a call has started nothing is discarded: the failure is returned with its completed blocks', async () => {
    const partial = { role: 'assistant', id: 'm', model: 'x', blocks: [{ type: 'text', text: 'done' }] } as const;
    const outcome = { ok: false, failure: { kind: 'cut', message: 'Cut.' }, partial } as const;
    const result = await run([{ outcome, events: SHOWN }], { restartable: () => false });
    expect([result.calls, result.outcome]).toEqual([1, outcome]);
  });

  test('consecutive overloads are limited; another failure between them resets the count', async () => {
    const overloaded = failed({ kind: 'overloaded' });
    const inRow = await run([overloaded], { overloadLimit: 3 });
    const mixed = await run([overloaded, overloaded, failed(), overloaded, overloaded, { outcome: reply('') }], {
      overloadLimit: 3,
    });
    expect([inRow.calls, inRow.outcome.ok]).toEqual([3, false]);
    expect([mixed.calls, mixed.outcome.ok]).toEqual([6, true]);
  });

  test('an entry of the fallback chain may set its own number of retries', async () => {
    expect((await run([failed()], { maxRetries: 2 })).calls).toBe(3);
    expect((await run([failed()], { maxRetries: 0 })).outcome).toMatchObject({ failure: { message: 'Broken.' } });
  });
});

describe('the retry delay', () => {
  const broken: ModelPort = {
    name: 'broken',
    async *stream() {
      yield { type: 'request_sent', attempt: 1 };
      return { ok: false, failure: { kind: 'network', message: 'Down.' } };
    },
  };

  test('ESC ends it at once', async () => {
    const controller = new AbortController();
    const port = withRetry(broken, { limits: () => ({ baseMs: 60_000 }), capMs: 60_000 });
    const { outcome } = await drain(port, {
      signal: controller.signal,
      options: { onWait: () => queueMicrotask(() => controller.abort()) },
    });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'aborted' } });
  });

  test('it can be skipped', async () => {
    const port = withRetry(broken, { limits: () => ({ baseMs: 60_000, maxRetries: 2 }), capMs: 60_000 });
    const { events } = await drain(port, { options: { onWait: (skip) => queueMicrotask(skip) } });
    expect(events.filter((event) => event.type === 'retry')).toHaveLength(2);
  });
});
