import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEventBus } from '../../../src/app/core.ts';
import { createUsageLimitWait } from '../../../src/app/loop/usage-limit-wait.ts';
import { type ApiTurn, says, status } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { longTest } from '../../support/long-test.ts';
import { fails, says as scriptedSays } from '../../support/loop/scripted.ts';
import { scriptedAgent } from '../../support/loop/scripted-agent.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
beforeEach(async () => {
  project = await createTempProject();
});
afterEach(() => project.remove());

const limited = (ms: number) => status(429, 'Your limit is used up', { 'retry-after-ms': String(ms) });

async function opened(...turns: readonly ApiTurn[]) {
  const server = await startApiServer({ turns });
  const made = await composed(project, server.url, {}, { OURO_MAX_RETRIES: '0' });
  return {
    ...made,
    server,
    agent: made.conversation.agent,
    wait: () => made.conversation.waitForLimit?.(),
    async [Symbol.asyncDispose]() {
      await made.close();
      await server.close();
    },
  };
}

test('a run ended by a usage limit continues when the limit resets', async () => {
  await using at = await opened(limited(150), says('There it is.'));
  expect(await at.agent.prompt('go')).toMatchObject({ reason: 'api_error' });
  expect(await at.wait()).toEqual({ reason: 'completed' });
  expect(at.server.requests().map(({ body }) => body.messages?.length)).toEqual([1, 1]);
  expect(at.events).toContainEqual(
    expect.objectContaining({ type: 'notice', text: expect.stringMatching(/reset at \d\d:\d\d/) }),
  );
  expect(await at.wait()).toBeUndefined();
});

test('the wait counts down, ends on abort and is offered again; skipping it continues at once', async () => {
  await using at = await opened(limited(7_200_000), says('There it is.'));
  await at.agent.prompt('go');
  const counts = () => at.events.filter((event) => event.type === 'retry' && event.delayMs > 7_000_000);
  const stopped = at.wait();
  await vi.waitFor(() => expect(counts()).toHaveLength(1));
  at.agent.abort();
  expect(await stopped).toBeUndefined();
  expect(at.server.requests()).toHaveLength(1);
  const again = at.wait();
  await vi.waitFor(() => expect(counts()).toHaveLength(2));
  at.agent.retryNow();
  expect(await again).toEqual({ reason: 'completed' });
});

longTest('messages typed during the wait are sent when it ends', async () => {
  await using at = await opened(limited(7_200_000), says('Both.'));
  await at.agent.prompt('go');
  const waiting = at.wait();
  await vi.waitFor(() => expect(at.events.some(({ type }) => type === 'retry')).toBe(true));
  at.agent.steer('and that');
  at.agent.retryNow();
  expect(await waiting).toBeUndefined();
  await at.agent.waitForIdle();
  expect(at.server.requests()).toHaveLength(2);
  expect(at.server.requests()[1]?.raw).toContain('and that');
});

test('without a limit, or without a reset time, there is nothing to wait for', async () => {
  await using at = await opened(status(429), says('fine'));
  await at.agent.prompt('go');
  expect(await at.wait()).toBeUndefined();
  await at.agent.prompt('again');
  expect(await at.wait()).toBeUndefined();
});

const HOUR_MS = 3_600_000;

/** Waits two hours by a clock of its own, which every pause moves on by as much as is said. */
async function waitByClock(passes: (ms: number) => number) {
  let now = Date.parse('2026-01-01T12:00:00Z');
  const pauses: number[] = [];
  const bus = createEventBus();
  const replies = [fails('rate_limited', { resetsAfterMs: 2 * HOUR_MS }), scriptedSays('There it is.')];
  const { agent, deps } = scriptedAgent(replies, {}, { attach: bus.attach });
  const wait = createUsageLimitWait({ bus, now: () => now }, agent, async (ms) => {
    pauses.push(ms);
    now += passes(ms);
  });
  await agent.prompt('go');
  return { end: await wait(), pauses, calls: deps.calls() };
}

test('a machine that slept through the reset continues as soon as it wakes', async () => {
  const slept = await waitByClock((ms) => ms + 9 * HOUR_MS);
  expect(slept).toEqual({ end: { reason: 'completed' }, pauses: [30_000], calls: 2 });
});

test('a machine that did not sleep waits exactly until the reset', async () => {
  const { end, pauses, calls } = await waitByClock((ms) => ms);
  expect({ end, calls, waited: pauses.reduce((sum, ms) => sum + ms, 0) }).toEqual({
    end: { reason: 'completed' },
    calls: 2,
    waited: 2 * HOUR_MS,
  });
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
});

longTest('the reset time is also read from providers that only report when the limit resets', async () => {
  const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '150ms' };
  await using at = await opened(status(429, 'used up', headers), says('There it is.'));
  await at.agent.prompt('go');
  expect(await at.wait()).toEqual({ reason: 'completed' });
});
