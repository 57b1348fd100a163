import { expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { Message } from '../../../src/contracts/message.ts';
import type { ModelRequest } from '../../../src/contracts/model.ts';
import type { ContextPort } from '../../../src/contracts/query.ts';
import { passthroughContext } from '../../../src/engine/default-deps.ts';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../../src/sdk/agent/options.ts';
import { openSession } from '../../../src/sdk/session.ts';
import { buildTool } from '../../../src/tools/definition/build-tool.ts';
import { calls, type ScriptedReply, says, scripted } from '../../support/loop/scripted.ts';
import { createTempProject } from '../../support/temp-project.ts';

/** A window so small that four long replies fill it. */
const SMALL = { contextWindow: 8_000, maxOutputTokens: 2_000, defaultOutputTokens: 500 };
const LONG = 'word '.repeat(1_400);

function agentOf(replies: readonly ScriptedReply[], options: AgentOptions = {}) {
  const script = scripted(replies.map((reply) => ({ usage: NO_USAGE, ...reply })));
  const events: AgentEvent[] = [];
  const agent = createAgent({
    model: { model: 'small', port: script.model, info: SMALL },
    listeners: [(event) => void events.push(event)],
    ...options,
  });
  return { agent, events, requests: script.requests };
}

/** Nothing is counted, so that the sizes are those of the texts. */
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const textOf = (thing: readonly Message[] | ModelRequest | undefined) => JSON.stringify(thing);

test('a conversation that no longer fits is summarized by its own model and continues', async () => {
  const { agent, events, requests } = agentOf([
    says(LONG),
    says(LONG),
    says(LONG),
    says('<summary>They talked a lot.</summary>'),
    says('And on.'),
  ]);
  for (const words of ['one', 'two', 'three', 'four']) expect((await agent.prompt(words)).reason).toBe('completed');
  expect(events.flatMap((event) => (event.type === 'compacted' ? [event.boundary.trigger] : []))).toEqual(['auto']);
  expect(requests()).toHaveLength(5);
  expect(textOf(requests()[4])).toContain('They talked a lot.');
  expect(textOf(requests()[4])).not.toContain(LONG);
  expect(agent.state().messages.at(-1)).toMatchObject({ blocks: [{ type: 'text', text: 'And on.' }] });
});

test('a compacted session is opened in its compacted form', async () => {
  await using project = await createTempProject();
  const session = await openSession({ dir: project.dir });
  const replies = [says(LONG), says('Yes.'), says('<summary>They talked.</summary>'), says('And on.')];
  const { agent } = agentOf(replies, { listeners: [session.record] });
  await agent.prompt('one');
  await agent.prompt('is it?');
  expect(await agent.compact()).toMatchObject({ ok: true });
  await agent.prompt('and on');
  await session.close();
  const again = await openSession({ dir: project.dir, sessionId: session.sessionId });
  const { requests, agent: later } = agentOf([says('Yes.')], { messages: again.messages });
  await later.prompt('still there?');
  await again.close();
  expect(textOf(requests()[0])).toContain('They talked.');
  expect(textOf(requests()[0])).toContain('And on.');
  expect(textOf(requests()[0])).not.toContain(LONG);
});

test('disabled, everything is sent', async () => {
  const { agent, requests } = agentOf([says(LONG), says(LONG), says(LONG), says('And on.')], { context: 'off' });
  for (const words of ['one', 'two', 'three', 'four']) await agent.prompt(words);
  expect(requests()).toHaveLength(4);
  expect(textOf(requests()[3])?.split(LONG)).toHaveLength(4);
});

test('a custom context is used instead, also as a class', async () => {
  class Last implements ContextPort {
    asked = 0;
    compact = passthroughContext.compact;
    drain = passthroughContext.drain;
    limits = passthroughContext.limits;
    calibrate = passthroughContext.calibrate;
    async prepare(messages: readonly Message[]) {
      this.asked += 1;
      return { messages, view: messages.slice(-1), tokens: 0, freedTokens: 0 };
    }
  }
  const context = new Last();
  const { agent, requests } = agentOf([says('one'), says('two')], { context, transformContext: (view) => view });
  await agent.prompt('first');
  await agent.prompt('second');
  expect([context.asked, requests()[1]?.messages.length]).toEqual([2, 1]);
});

test('old results that can be read again are omitted before anything is summarized', async () => {
  const look = buildTool({
    name: 'Look',
    prompt: 'Looks.',
    input: z.object({ path: z.string() }),
    isReadOnly: () => true,
    result: 'repeatable',
    call: async () => ({ content: LONG }),
  });
  const again = () => calls({ name: 'Look', input: { path: '/a' } });
  const replies = [again(), again(), again(), again(), says('Seen.')];
  const { agent, events, requests } = agentOf(replies, { tools: [look], compactAtPercent: 90 });
  await agent.prompt('look');
  expect(events.some(({ type }) => type === 'compacted')).toBe(false);
  expect(textOf(requests()[4])?.split(LONG).length).toBeLessThan(5);
  expect(agent.state().messages.at(-1)).toMatchObject({ blocks: [{ type: 'text', text: 'Seen.' }] });
});

test('content hidden from the model is hidden from it in a summary too', async () => {
  const hide = (text: string | undefined) => JSON.parse((text ?? '').replaceAll('4111', '[card]'));
  const { agent, requests } = agentOf([says(LONG), says('Yes.'), says('<summary>They talked.</summary>')], {
    transformContext: (messages) => hide(JSON.stringify(messages)),
  });
  await agent.prompt('my card is 4111');
  await agent.prompt('is it?');
  expect((await agent.compact()).ok).toBe(true);
  expect(requests()).toHaveLength(3);
  expect(textOf(requests()[2])).toContain('my card is [card]');
  expect(JSON.stringify(requests())).not.toContain('4111');
});

test('a compaction on request works when idle, and not during a run', async () => {
  const { agent, events, requests } = agentOf([
    says(LONG),
    says('Yes.'),
    says('<summary>They talked.</summary>'),
    { ...says('slow'), hold: new Promise(() => undefined) },
  ]);
  await agent.prompt('one');
  await agent.prompt('is it?');
  expect(await agent.compact()).toMatchObject({ ok: true });
  expect(events.flatMap((event) => (event.type === 'compacted' ? [event.boundary.trigger] : []))).toEqual(['manual']);
  const run = agent.prompt('two');
  await expect.poll(() => requests().length).toBe(4);
  await expect(agent.compact()).rejects.toThrow('abort it first');
  agent.abort();
  await run;
});
