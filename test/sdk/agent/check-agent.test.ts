import { expect, test } from 'vitest';
import { FAULTS } from '../../../src/model/with-faults.ts';
import { checkAgent } from '../../../src/sdk/agent/check-agent.ts';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';

test.concurrent('an agent passes its own checks', async () => {
  const { ok, checks } = await checkAgent((options) => createAgent(options));
  expect(checks.filter((check) => !check.ok)).toEqual([]);
  expect([ok, checks.length]).toEqual([true, 2 * FAULTS.length + 7]);
});

test.concurrent('an agent that ignores the limits, or never ends, is detected', async () => {
  const [unlimited, endless] = await Promise.all([
    checkAgent(({ model, maxRetryDelayMs }) => createAgent({ model, maxRetryDelayMs, maxTurns: 50 })),
    checkAgent((options) => createAgent({ ...options, listeners: [() => new Promise(() => undefined)] }), {
      timeoutMs: 5,
    }),
  ]);
  expect(unlimited.checks.filter((check) => !check.ok)).toEqual([
    { name: 'the budget is kept', ok: false, problem: expect.stringContaining('were spent') },
  ]);
  expect(endless.checks.every(({ ok, problem = '' }) => !ok && problem.includes('had not ended after 5 ms'))).toBe(
    true,
  );
});
