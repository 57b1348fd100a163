import { expect, test } from 'vitest';
import type { AgentCapsule } from '../../../src/sdk/agent/capsule.ts';
import { createAgent, resumeAgent } from '../../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../../src/sdk/agent/options.ts';
import { openSession, readMessages } from '../../../src/sdk/session.ts';
import { buildApplicationTool } from '../../../src/tools/definition/application-tool.ts';
import { calls, type ScriptedReply, says, scripted } from '../../support/loop/scripted.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

/** The options of an agent that looks freely and pays only with approval, and what it did. */
function createPayer(replies: readonly ScriptedReply[], more: AgentOptions = {}) {
  const log: string[] = [];
  const tool = (name: string, requiresApproval: boolean) =>
    buildApplicationTool({
      name,
      prompt: `${name}s.`,
      input: { type: 'object', properties: { sum: { type: 'number' } } },
      requiresApproval,
      call({ sum }) {
        log.push(`${name} ${sum}`);
        return `${name} ${sum} done`;
      },
      undo: () => void log.push(`undo ${name}`),
    });
  const script = scripted(replies);
  const options: AgentOptions = { model: script.model, tools: [tool('Look', false), tool('Pay', true)], ...more };
  const lastRequest = () => JSON.stringify(script.requests().at(-1)?.messages);
  return { options, log, lastRequest, requests: script.requests };
}

const payment = () => calls({ name: 'Look', input: { sum: 1 } }, { name: 'Pay', input: { sum: 7 } });

/** Suspends an agent at its question, and returns the capsule as it would be read from a disk. */
async function suspendAtQuestion(more: AgentOptions = {}): Promise<{ capsule: AgentCapsule; log: readonly string[] }> {
  const { options, log } = createPayer([payment()], more);
  const agent = createAgent(options);
  const asked = new Promise<void>((resolve) => {
    agent.subscribe((event) => void (event.type === 'permission_request' && resolve()), { answers: true });
  });
  const run = agent.prompt('pay');
  await asked;
  const capsule: AgentCapsule = JSON.parse(JSON.stringify(await agent.suspend()));
  expect((await run).reason).toBe('aborted_tools');
  return { capsule, log };
}

test.each([
  ['yes', true, ['Pay 7'], 'Pay 7 done'],
  ['no', false, [], 'refused this call'],
  ['no, with a reason', { behavior: 'deny', message: 'Too much.' }, [], 'Too much.'],
  ['yes, with another input', { behavior: 'allow', updatedInput: { sum: 5 } }, ['Pay 5'], 'Pay 5 done'],
] as const)('a suspended run continues elsewhere with the answer %s', async (_, answer, done, words) => {
  const { capsule, log } = await suspendAtQuestion();
  // Nothing was undone: the run has not ended.
  expect(log).toEqual(['Look 1']);
  const later = createPayer([says('All done.')]);
  const { agent, end } = resumeAgent(JSON.stringify(capsule), { ...later.options, answer });
  expect(await end).toMatchObject({ reason: 'completed', text: 'All done.' });
  expect(later.log).toEqual(done);
  expect(later.requests()).toHaveLength(1);
  expect(later.lastRequest()).toContain('Look 1 done');
  expect(later.lastRequest()).toContain(words);
  expect(agent.state().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(agent.sessionId).toBe(capsule.sessionId);
});

test('the capsule is saved before the question is asked', async () => {
  const order: string[] = [];
  let saved: AgentCapsule | undefined;
  const { options, log } = createPayer([payment(), says('done')], {
    async saveCapsule(capsule) {
      saved = structuredClone(capsule);
      order.push('saved');
    },
    onPermission: async () => {
      order.push('asked');
      return { behavior: 'allow' };
    },
  });
  await createAgent(options).prompt('pay');
  expect([order, log]).toEqual([
    ['saved', 'asked'],
    ['Look 1', 'Pay 7'],
  ]);
  // The process may have died at the question: another one continues from the file.
  const later = createPayer([says('done')]);
  await resumeAgent(JSON.stringify(saved), { ...later.options, answer: true }).end;
  expect(later.log).toEqual(['Pay 7']);
});

test('a suspended run continues in its session, which holds each message once', async () => {
  const dir = createTempFolder();
  const first = await openSession({ dir, sessionId: 'one' });
  const { capsule } = await suspendAtQuestion({ sessionId: 'one', listeners: [first.record] });
  await first.close();
  const second = await openSession({ dir, sessionId: 'one' });
  const later = createPayer([says('All done.')], { listeners: [second.record] });
  const { agent, end } = resumeAgent(capsule, { ...later.options, answer: true });
  await end;
  await second.close();
  const texts = (messages: unknown) => JSON.stringify(messages).match(/Look 1 done|Pay 7 done|All done|pay/g);
  expect(texts(await readMessages({ dir, sessionId: 'one' }))).toEqual(texts(agent.state().messages));
});

test('an agent without an open question cannot be suspended', async () => {
  const agent = createAgent(createPayer([says('hi')]).options);
  await expect(agent.suspend()).rejects.toThrow('suspend: no permission prompt is open.');
  await agent.prompt('hi');
  await expect(agent.suspend()).rejects.toThrow('suspend: no permission prompt is open.');
});

test.each([
  [{}, 'version: is not known here'],
  [{ version: 2 }, 'version: is not known here'],
  [{ version: 1, sessionId: 'x' }, 'messages: must be a list'],
  ['{', 'JSON'],
])('the capsule %j is refused', (capsule, words) => {
  expect(() => Reflect.apply(resumeAgent, undefined, [capsule, { answer: true }])).toThrow(words);
});

test('an invalid answer is refused', async () => {
  const { capsule } = await suspendAtQuestion();
  expect(() => Reflect.apply(resumeAgent, undefined, [capsule, {}])).toThrow('answer must be true, false');
});
