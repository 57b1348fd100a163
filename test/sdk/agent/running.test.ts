import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import { buildApplicationTool } from '../../../src/tools/definition/application-tool.ts';
import { startApiServer } from '../../support/api/server.ts';
import { calls, fails, says, scripted } from '../../support/loop/scripted.ts';

const never = new Promise<void>(() => undefined);

test('an agent is running when prompt() returns, and refuses a second run in the same tick', async () => {
  const agent = createAgent({ model: scripted([says('one')]).model });
  const first = agent.prompt('hi');
  const status = agent.state().status;
  const second = agent.prompt('and I').catch((error: Error) => error.message);
  agent.steer('and this');
  expect([status, agent.state().queue.length]).toEqual(['preparing', 1]);
  expect(await second).toMatch(/already running/);
  expect((await first).reason).toBe('completed');
});

test('abort and waitForIdle work in the tick in which the run starts', async () => {
  const { model, requests } = scripted([says('never sent')]);
  const agent = createAgent({ model });
  const run = agent.prompt('hi');
  agent.abort();
  await agent.waitForIdle();
  expect((await run).reason).toBe('aborted_streaming');
  expect(requests()).toEqual([]);
});

test.each(['prompt', 'agent'])('the signal of the %s aborts a run', async (owner) => {
  const stop = new AbortController();
  const { model, requests } = scripted([{ ...says('half'), hold: never }]);
  const agent = createAgent({ model, ...(owner === 'agent' ? { signal: stop.signal } : {}) });
  const run = agent.prompt('hi', owner === 'prompt' ? { signal: stop.signal } : {});
  await expect.poll(() => requests().length).toBe(1);
  stop.abort();
  expect((await run).reason).toBe('aborted_streaming');
});

test('an already aborted signal ends the run before a request, and affects no other run', async () => {
  const { model, requests } = scripted([says('one'), says('two')]);
  const agent = createAgent({ model });
  const aborted = AbortSignal.abort();
  expect((await agent.prompt('hi', { signal: aborted })).reason).toBe('aborted_streaming');
  expect(requests()).toEqual([]);
  const run = agent.prompt('again');
  await expect(agent.prompt('me too', { signal: aborted })).rejects.toThrow(/already running/);
  expect((await run).reason).toBe('completed');
});

test('the end of a run has the text of the last reply and the usage', async () => {
  const tool = buildApplicationTool({ name: 'Look', prompt: 'Looks.', input: z.object({}), call: () => 'seen' });
  const usage = { inputTokens: 100, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const port = scripted([{ ...calls('Look'), usage }, { ...says('It is red.'), usage }, says('free')]).model;
  const model = { model: 'mine', port, info: { price: { input: 10, output: 100 } } };
  const agent = createAgent({ model, tools: [tool] });
  const totals: number[] = [];
  agent.subscribe((event) => {
    if (event.type === 'spending') totals.push(event.total.usd);
  });
  const end = await agent.prompt('What colour is it?');
  expect(end).toMatchObject({ reason: 'completed', text: 'It is red.', spent: { usd: 0.012, isIncomplete: false } });
  expect(end.spent.usage).toMatchObject({ inputTokens: 200, outputTokens: 100 });
  expect(totals).toEqual([0.006, 0.012]);
  const next = await agent.prompt('And now?');
  expect(next.spent.usage).toMatchObject({ inputTokens: 10, outputTokens: 20 });
  expect(agent.state().spent.usage.inputTokens).toBe(210);
});

test('resume() continues unfinished work, and resolves at once if there is none; continue() rejects then', async () => {
  const messages = [{ role: 'user', content: 'hi' }] as const;
  const { model, requests } = scripted([says('hello')]);
  const agent = createAgent({ model, messages });
  expect(await agent.resume()).toMatchObject({ reason: 'completed', text: 'hello' });
  expect(await agent.resume()).toMatchObject({ reason: 'completed', text: 'hello' });
  await expect(agent.continue()).rejects.toThrow('There is nothing to continue');
  expect(requests()).toHaveLength(1);
});

test('a failed run has a reason, and resume() repeats its request', async () => {
  const { model } = scripted([fails('invalid'), says('now')]);
  const agent = createAgent({ model });
  expect(await agent.prompt('hi')).toMatchObject({ reason: 'api_error', text: '', words: 'scripted invalid' });
  expect(await agent.resume()).toMatchObject({ reason: 'completed', text: 'now' });
});

test('an abort does not wait for a hanging lookup', async () => {
  await using api = await startApiServer({ turns: [] });
  const agent = createAgent({ baseUrl: api.url, apiKey: () => new Promise<string>(() => undefined) });
  const run = agent.prompt('hi');
  await expect.poll(() => agent.state().status).toBe('requesting');
  agent.abort();
  expect((await run).reason).toBe('aborted_streaming');
});
