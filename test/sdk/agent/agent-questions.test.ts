import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../../src/sdk/agent/options.ts';
import { buildApplicationTool } from '../../../src/tools/definition/application-tool.ts';
import { calls, says, scripted } from '../../support/loop/scripted.ts';

/** An agent whose only tool requires approval, and the sums that were paid. */
function createPayer(
  options: AgentOptions = {},
  requiresApproval: boolean | ((input: { sum: number }) => string | boolean) = true,
) {
  const paid: number[] = [];
  const pay = buildApplicationTool({
    name: 'Pay',
    prompt: 'Pays.',
    input: z.object({ sum: z.number() }),
    requiresApproval,
    call: ({ sum }) => {
      paid.push(sum);
      return 'paid';
    },
  });
  const { model, requests } = scripted([calls({ name: 'Pay', input: { sum: 7 } }), says('done')]);
  const agent = createAgent({ model, tools: [pay], ...options });
  const lastRequest = () => JSON.stringify(requests().at(-1)?.messages);
  return { agent, paid, lastRequest };
}

test('a call that requires approval is refused without a listener that can answer', async () => {
  const { agent, paid, lastRequest } = createPayer();
  const asked: string[] = [];
  agent.subscribe((event) => void asked.push(event.type));
  expect((await agent.prompt('pay')).reason).toBe('completed');
  expect([paid, asked.includes('permission_request')]).toEqual([[], false]);
  expect(lastRequest()).toContain('this run cannot ask for approval');
});

test('a listener that answers is asked, with the reason', async () => {
  const { agent, paid } = createPayer({}, ({ sum }) => (sum > 5 ? 'More than 5 euros.' : false));
  const reasons: unknown[] = [];
  const answer = (event: Parameters<Parameters<typeof agent.subscribe>[0]>[0]) => {
    if (event.type !== 'permission_request') return;
    reasons.push(event.request.reasons);
    agent.answerPermission(event.request.id, { behavior: 'allow' });
  };
  agent.subscribe(answer, { answers: true });
  await agent.prompt('pay');
  expect([paid, reasons]).toEqual([[7], [['More than 5 euros.']]]);
});

test.each([
  ['true', async () => true, [7]],
  ["'allow'", () => 'allow', [7]],
  ['an answer', async () => ({ behavior: 'allow' }), [7]],
  ['false', async () => false, []],
  ['nothing', async () => undefined, []],
  ['a promise that breaks', () => Promise.reject(new Error('boom')), []],
  ['nonsense', async () => ({ allowed: true }), []],
])('a callback that answers with %s', async (_, onPermission, expected) => {
  const options: object = { onPermission };
  const { agent, paid } = createPayer(options);
  expect((await agent.prompt('pay')).reason).toBe('completed');
  expect(paid).toEqual(expected);
});

test.each(['a callback', 'a listener'])('a question to %s that never answers ends with no', async (kind) => {
  const options = kind === 'a callback' ? { onPermission: () => new Promise<never>(() => undefined) } : {};
  const { agent, paid, lastRequest } = createPayer({ ...options, questionTimeoutMs: 20 });
  if (kind === 'a listener') agent.subscribe(() => undefined, { answers: true });
  expect((await agent.prompt('pay')).reason).toBe('completed');
  expect(paid).toEqual([]);
  expect(lastRequest()).toContain('no answer within 0.02 s');
  expect(agent.state().pendingPermissions).toEqual([]);
});

test('a question ends with no when the last listener that could answer leaves', async () => {
  const { agent, paid } = createPayer();
  const leave = agent.subscribe(
    (event) => {
      if (event.type === 'permission_request') leave();
    },
    { answers: true },
  );
  expect((await agent.prompt('pay')).reason).toBe('completed');
  expect(paid).toEqual([]);
});

test('a call that does not require approval runs, and a read-only tool that does is not read-only', async () => {
  const { agent, paid } = createPayer({}, () => false);
  await agent.prompt('pay');
  expect(paid).toEqual([7]);
  const tool = buildApplicationTool({
    name: 'See',
    input: {},
    prompt: '',
    isReadOnly: true,
    requiresApproval: true,
    call: () => '',
  });
  expect(tool.prepare({})).toMatchObject({ call: { isReadOnly: false } });
});

test('a question of a tool goes to the listener, and is undefined without one', async () => {
  const answers: unknown[] = [];
  const ask = buildApplicationTool({
    name: 'Ask',
    prompt: 'Asks.',
    isReadOnly: true,
    input: z.object({}),
    call: async (_input, context) => {
      answers.push(await context.ask({ kind: 'plan', plan: 'p' }));
      return '';
    },
  });
  const run = async (options: AgentOptions) => {
    const { model } = scripted([calls('Ask'), says('done')]);
    await createAgent({ model, tools: [ask], ...options }).prompt('go');
  };
  await run({});
  await run({ onQuestion: async () => ({ kind: 'plan', verdict: 'accept' }) });
  await run({ onQuestion: () => new Promise<never>(() => undefined), questionTimeoutMs: 20 });
  expect(answers).toEqual([undefined, { kind: 'plan', verdict: 'accept' }, undefined]);
});

test('a tool that says nothing about itself asks, and does not run if nobody can answer', async () => {
  const runs: string[] = [];
  const run = async (parts: object, options: AgentOptions) => {
    const { model, requests } = scripted([calls('Refund'), says('done')]);
    const tool = { name: 'Refund', call: () => void runs.push('refund'), ...parts };
    await createAgent({ model, tools: [tool], ...options }).prompt('go');
    const results = JSON.stringify(requests()[1]?.messages.at(-1)?.blocks);
    return [runs.splice(0).length, results.includes('Refund was not run')];
  };
  const reasons: (readonly string[])[] = [];
  const onPermission: AgentOptions['onPermission'] = async (request) => {
    reasons.push(request.reasons);
    return { behavior: 'allow' };
  };
  expect(await run({}, {})).toEqual([0, true]);
  expect(await run({ isReadOnly: false }, {})).toEqual([0, true]);
  expect(await run({}, { onPermission })).toEqual([1, false]);
  expect(reasons).toEqual([[expect.stringContaining('Refund says neither isReadOnly nor requiresApproval')]]);
  expect(await run({ requiresApproval: false }, {})).toEqual([1, false]);
  expect(await run({ isReadOnly: true }, {})).toEqual([1, false]);
  expect(await run({}, { beforeToolCall: () => undefined })).toEqual([1, false]);
});
