import { expect, test } from 'vitest';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../src/sdk/agent/options.ts';
import { buildApplicationTool } from '../../src/tools/definition/application-tool.ts';
import { calls, type ScriptedReply, says, scripted } from '../support/loop/scripted.ts';

/** An agent with a tool that books and can take it back, and what happened. */
function createBooker(replies: readonly ScriptedReply[], options: AgentOptions = {}) {
  const log: string[] = [];
  const book = buildApplicationTool({
    name: 'Book',
    prompt: 'Books.',
    requiresApproval: false,
    input: { type: 'object', properties: { room: { type: 'string' } } },
    call({ room }) {
      log.push(`book ${room}`);
      if (room === 'full') throw new Error('full');
      return `booked ${room}`;
    },
    undo({ room }, { content }) {
      log.push(`undo ${room}: ${content}`);
      if (room === 'stuck') throw new Error('too late');
    },
  });
  const { model, requests } = scripted(replies);
  return { agent: createAgent({ model, tools: [book], ...options }), log, requests };
}

const books = (...rooms: readonly string[]) => calls(...rooms.map((room) => ({ name: 'Book', input: { room } })));
const waits: ScriptedReply = { ...says('wait'), hold: new Promise(() => undefined) };

test('the calls of an aborted run are undone in reverse order, and the model is told', async () => {
  const { agent, log, requests } = createBooker([books('a', 'b'), books('full', 'stuck'), waits, says('ok')]);
  const run = agent.prompt('book');
  await expect.poll(() => requests().length).toBe(3);
  agent.abort();
  expect((await run).reason).toBe('aborted_streaming');
  expect(log).toEqual([
    ...['book a', 'book b', 'book full', 'book stuck'],
    ...['undo stuck: booked stuck', 'undo b: booked b', 'undo a: booked a'],
  ]);
  await agent.prompt('what now?');
  expect(log).toHaveLength(7);
  const sent = JSON.stringify(requests().at(-1)?.messages);
  expect(sent).toContain('its calls were undone, the last one first');
  expect(sent).toContain('could not be undone: too late');
});

test('a rejected call undoes the calls before it', async () => {
  const { agent, log } = createBooker([books('a', 'b')], {
    beforeToolCall: ({ input }) => (input.room === 'b' ? { ask: 'Really?' } : undefined),
    onPermission: async () => ({ behavior: 'deny', interrupt: true }),
  });
  expect((await agent.prompt('book')).reason).toBe('aborted_tools');
  expect(log).toEqual(['book a', 'undo a: booked a']);
});

test('a run that completes or fails otherwise undoes nothing', async () => {
  const { agent, log } = createBooker([books('a'), says('done'), books('b'), books('c')], { maxTurns: 2 });
  await agent.prompt('book');
  expect((await agent.prompt('more')).reason).toBe('max_turns');
  expect(log).toEqual(['book a', 'book b', 'book c']);
});

test('a call that ends after the abort is undone as well', async () => {
  const log: string[] = [];
  const { promise: aborted, resolve: onAbort } = Promise.withResolvers<void>();
  const slow = buildApplicationTool({
    name: 'Slow',
    prompt: 'Books slowly.',
    requiresApproval: false,
    input: {},
    // It ignores its signal.
    call: async () => {
      log.push('start');
      await aborted;
      log.push('end');
    },
    undo: () => void log.push('undo'),
  });
  const agent = createAgent({ model: scripted([calls('Slow')]).model, tools: [slow] });
  const run = agent.prompt('go');
  await expect.poll(() => log).toEqual(['start']);
  agent.abort();
  onAbort();
  await run;
  expect(log).toEqual(['start', 'end', 'undo']);
});
