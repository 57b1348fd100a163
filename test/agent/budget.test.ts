import { expect, test } from 'vitest';
import { type Budget, createBudget } from '../../src/agent/budget.ts';
import type { ModelOutcome, ModelPort } from '../../src/contracts/model.ts';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import { buildApplicationTool } from '../../src/tools/definition/application-tool.ts';
import { calls, fails, says, scripted } from '../support/loop/scripted.ts';

const PRICE = { input: 10, output: 100 };
const look = buildApplicationTool({ name: 'Look', prompt: 'Looks.', input: {}, call: () => 'seen' });

/** A port that always calls a tool and uses the whole output that it may. */
function createGreedyPort(): { readonly port: ModelPort; readonly limits: number[] } {
  const limits: number[] = [];
  return {
    limits,
    port: {
      name: 'greedy',
      async *stream({ maxOutputTokens, model }, _options, signal): AsyncGenerator<never, ModelOutcome> {
        limits.push(maxOutputTokens);
        await new Promise((resolve) => setImmediate(resolve));
        if (signal.aborted) return { ok: false, failure: { kind: 'aborted', message: 'aborted' } };
        const usage = { inputTokens: 20, outputTokens: maxOutputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
        const block = { type: 'tool_use', id: crypto.randomUUID(), name: 'Look', input: {} } as const;
        return {
          ok: true,
          message: { role: 'assistant', id: '', model, blocks: [block] },
          stopReason: 'tool_use',
          usage,
        };
      },
    },
  };
}

function createGreedyAgent(options: { readonly budget?: Budget; readonly maxBudgetUsd?: number }) {
  const { port, limits } = createGreedyPort();
  const model = { model: 'greedy', port, info: { price: PRICE, defaultOutputTokens: 4_000 } };
  return { agent: createAgent({ model, tools: [look], ...options }), limits };
}

test('twenty parallel agents never exceed their shared budget', async () => {
  const budget = createBudget(2);
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, at) => createGreedyAgent({ budget }).agent.prompt(`I am number ${at}`)),
  );
  expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set(['budget_exhausted']));
  expect(budget.spentUsd()).toBeLessThanOrEqual(2);
  expect(budget.spentUsd()).toBeGreaterThan(1.9);
  expect(budget.reservedUsd()).toBe(0);
});

test('a budget limits the output of the last request instead of refusing it', async () => {
  const { agent, limits } = createGreedyAgent({ maxBudgetUsd: 0.7 });
  const end = await agent.prompt('go');
  expect(end).toMatchObject({ reason: 'budget_exhausted', words: expect.stringContaining('The budget of $0.7') });
  expect(limits[0]).toBe(4_000);
  expect(limits.at(-1)).toBeLessThan(4_000);
  expect(agent.state().spent.usd).toBeLessThanOrEqual(0.7);
});

test('an agent that waits for a shared budget can be aborted', async () => {
  const budget = createBudget(1);
  const held = await budget.reserve(
    { inputUsd: 0.9, usdPerOutputToken: 0.0001, maxOutputTokens: 1_000 },
    new AbortController().signal,
  );
  const { agent, limits } = createGreedyAgent({ budget });
  const run = agent.prompt('go');
  await expect.poll(() => agent.state().status).toBe('requesting');
  agent.abort();
  expect((await run).reason).toBe('aborted_streaming');
  held?.settle(0);
  expect([limits, budget.spentUsd(), budget.reservedUsd()]).toEqual([[], 0, 0]);
});

test('a budget with an unknown price is refused before the first request, and taken with a price', async () => {
  const { model: port, requests } = scripted([says('hi')]);
  const end = await createAgent({ model: port, maxBudgetUsd: 1 }).prompt('hi');
  expect(end).toMatchObject({
    reason: 'budget_exhausted',
    words: expect.stringContaining('no price is known for scripted'),
  });
  expect(requests()).toEqual([]);
  const priced = createAgent({ model: { port, info: { price: PRICE } }, maxBudgetUsd: 1 });
  expect((await priced.prompt('hi')).reason).toBe('completed');
});

test('a failed attempt is paid, and the retry is refused if the rest does not cover it', async () => {
  const broken = { ...fails('server'), unfinished: 'x'.repeat(3_500), stop: 'end_turn' };
  const { model: port } = scripted([], { after: broken });
  const agent = createAgent({
    model: { port, info: { price: PRICE, defaultOutputTokens: 1_100 } },
    maxBudgetUsd: 0.12,
  });
  const end = await agent.prompt('hi');
  expect(end.reason).toBe('budget_exhausted');
  expect(agent.state().spent.usd).toBeCloseTo(0.1001);
});

test('every request of a run counts against maxTurns, those for steering and follow-ups too', async () => {
  const { model, requests } = scripted([calls('Look')], { after: says('done') });
  const agent = createAgent({ model, tools: [look], maxTurns: 3 });
  agent.subscribe((event) => {
    if (event.type === 'turn_end') agent.followUp('and on');
  });
  const end = await agent.prompt('go');
  expect(end).toMatchObject({ reason: 'max_turns', words: 'The limit of 3 turns is reached.' });
  expect(requests()).toHaveLength(3);
});

test.each([-1, Number.NaN, '5'])('a budget of %s is refused', (limit) => {
  const create: (limit: never) => unknown = createBudget;
  expect(() => Reflect.apply(create, undefined, [limit])).toThrow(
    'createBudget: the limit must be a number of dollars',
  );
});
