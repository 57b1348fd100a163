import { expect, test } from 'vitest';
import type { AgentPort } from '../../src/agent/agent-deps.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';
import { listMessageBlocks, type Message } from '../../src/contracts/message.ts';
import type { QueryDeps } from '../../src/contracts/query.ts';
import { calls, echoTool, empty, fails, says, unlimitedContext, userSays } from '../support/loop/scripted.ts';
import { type ScriptedAgent, scriptedAgent } from '../support/loop/scripted-agent.ts';
import { findUnbalancedEvents } from '../support/loop/unbalanced-events.ts';

const FOR_EVER = new Promise<void>(() => undefined);
const held = { ...says('thinking about it'), hold: FOR_EVER };

const wordsOf = (messages: readonly Message[]) =>
  messages.flatMap((message) =>
    listMessageBlocks(message).flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
const queueOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'queue' ? [`${wordsOf([event.item.message]).join()} ${event.state}`] : []));
const streaming = ({ seen }: ScriptedAgent) => seen((event) => event.type === 'block_end');

test('a prompt accepts text, blocks, or a list of either; each becomes a message before the first request', async () => {
  const { agent, deps } = scriptedAgent([]);
  await agent.prompt('one');
  await agent.prompt([{ type: 'text', text: 'two' }]);
  await agent.prompt(['three', [{ type: 'text', text: 'four' }]]);
  expect(wordsOf(agent.state().messages)).toEqual(['one', 'done', 'two', 'done', 'three', 'four', 'done']);
  expect(deps.calls()).toBe(3);
});

test('prompt, continue, reset and replaceMessages are refused while a query runs and accepted afterwards', async () => {
  const made = scriptedAgent([held]);
  const { agent } = made;
  const running = agent.prompt('go');
  await streaming(made);
  await expect(agent.prompt('again')).rejects.toThrow('steer or followUp');
  await expect(agent.continue()).rejects.toThrow('running');
  expect(() => agent.reset()).toThrow('abort it first');
  expect(() => agent.replaceMessages([])).toThrow('abort it first');
  agent.abort();
  expect(await running).toEqual({ reason: 'aborted_streaming' });
  await agent.waitForIdle();
  expect((await agent.prompt('again')).reason).toBe('completed');
});

test('an abort affects one prompt only: the next one has its own controller', async () => {
  const made = scriptedAgent([held, says('fresh')]);
  const running = made.agent.prompt('go');
  await streaming(made);
  made.agent.abort();
  made.agent.abort();
  await running;
  expect(await made.agent.prompt('next')).toEqual({ reason: 'completed' });
  expect(wordsOf(made.agent.state().messages).at(-1)).toBe('fresh');
});

test('the compaction breaker stays open across queries until space is freed', async () => {
  let tries = 0;
  const full: QueryDeps['context'] = {
    ...unlimitedContext,
    prepare: async (messages) => ({ messages, view: messages, tokens: 1_500, freedTokens: 0 }),
    compact: async () => {
      tries += 1;
      return { ok: false, why: 'no summary' };
    },
  };
  const made = scriptedAgent([], { context: full });
  for (let at = 0; at < 6; at += 1) await made.agent.prompt('go');
  expect(tries).toBe(3);
  const reported = made.events.filter((event) => event.type === 'notice' && event.text.includes('is disabled now'));
  expect(reported).toHaveLength(1);
  const boundary = { role: 'boundary', id: 'b', trigger: 'manual', preTokens: 100 } as const;
  await made.port().emit({ type: 'compacted', boundary, messages: [boundary], postTokens: 0 });
  await made.agent.prompt('go');
  expect(tries).toBe(4);
});

test('a compaction that frees no space counts as failed', async () => {
  let tries = 0;
  const stuck: QueryDeps['context'] = {
    ...unlimitedContext,
    prepare: async (messages) => ({ messages, view: messages, tokens: 1_500, freedTokens: 0 }),
    compact: async (messages) => {
      tries += 1;
      return { ok: true, messages, preTokens: 100, postTokens: 100 };
    },
  };
  const made = scriptedAgent([], { context: stuck });
  for (let at = 0; at < 5; at += 1) await made.agent.prompt('go');
  expect(tries).toBe(3);
});

test('an abort does nothing when nothing runs', async () => {
  const { agent } = scriptedAgent([]);
  agent.abort();
  expect(await agent.prompt('go')).toEqual({ reason: 'completed' });
});

test('a queued message is reported as queued, delivered and completed', async () => {
  const made = scriptedAgent([{ ...says('one'), hold: Promise.resolve() }]);
  const running = made.agent.prompt('go');
  made.agent.steer('hurry');
  made.agent.followUp('and then');
  expect(made.agent.state().queue.map((item) => item.lane)).toEqual(['next', 'after']);
  await running;
  await made.agent.waitForIdle();
  expect(queueOf(made.events)).toEqual([
    'hurry queued',
    'and then queued',
    'hurry delivered',
    'and then delivered',
    'hurry completed',
    'and then completed',
  ]);
  expect(made.agent.state().queue).toEqual([]);
});

test('a queued message can be removed until it is delivered', async () => {
  const made = scriptedAgent([held]);
  const running = made.agent.prompt('go');
  await streaming(made);
  const item = made.agent.steer('never mind');
  expect(made.agent.unqueue(item.id)).toEqual(item);
  expect(made.agent.unqueue(item.id)).toBeUndefined();
  made.agent.abort();
  await running;
  await made.agent.waitForIdle();
  expect(queueOf(made.events)).toEqual(['never mind queued', 'never mind removed']);
  expect(wordsOf(made.agent.state().messages)).not.toContain('never mind');
});

test.each([
  ['one-at-a-time', [['a'], ['a', 'b'], ['a', 'b', 'c']]],
  ['all', [['a', 'b', 'c']]],
] as const)('steering in the mode %s joins the requests so', async (mode, wanted) => {
  const { agent, deps } = scriptedAgent([calls('Echo'), calls('Echo')]);
  agent.setQueueMode('next', mode);
  for (const words of ['a', 'b', 'c']) agent.steer(words);
  await agent.prompt('go');
  const received = deps
    .requests()
    .map((request) => JSON.stringify(request.messages).match(/"text":"[abc]"/g)?.length ?? 0);
  expect(received.slice(0, wanted.length)).toEqual(wanted.map((words) => words.length));
});

test.each([
  ['one-at-a-time', 4],
  ['all', 2],
] as const)('follow-ups in the mode %s take so many requests', async (mode, requests) => {
  const { agent, deps } = scriptedAgent([]);
  agent.setQueueMode('after', mode);
  for (const words of ['a', 'b', 'c']) agent.followUp(words);
  await agent.prompt('go');
  expect(deps.calls()).toBe(requests);
  expect(wordsOf(agent.state().messages).filter((words) => words.length === 1)).toEqual(['a', 'b', 'c']);
});

test('steering that arrives after the last check starts the loop again', async () => {
  const made = scriptedAgent([]);
  let said = false;
  made.agent.subscribe((event) => {
    if (event.type !== 'message_end' || event.message.role !== 'assistant' || said) return;
    said = true;
    made.agent.steer('one more thing');
  });
  expect(await made.agent.prompt('go')).toEqual({ reason: 'completed' });
  expect(wordsOf(made.agent.state().messages)).toEqual(['go', 'done', 'one more thing', 'done']);
});

test('a message sent while a run reports its end is handled by a new run', async () => {
  const made = scriptedAgent([{ ...says('one'), hold: Promise.resolve() }, says('two')]);
  made.agent.subscribe((event) => {
    if (queueOf([event])[0] === 'hurry completed') made.agent.steer('late');
  });
  const running = made.agent.prompt('go');
  made.agent.steer('hurry');
  await running;
  await made.seen((event) => queueOf([event])[0] === 'late completed');
  await made.agent.waitForIdle();
  expect(made.agent.state().queue).toEqual([]);
  expect(wordsOf(made.agent.state().messages).slice(-2)).toEqual(['late', 'two']);
});

test('a follow-up that arrives after the last check is handled, as is one that arrives with the end event', async () => {
  const made = scriptedAgent([]);
  let said = 0;
  made.agent.subscribe((event) => {
    if (said === 0 && event.type === 'message_end' && event.message.role === 'assistant') {
      said = 1;
      made.agent.followUp('and then');
    }
    if (said === 1 && event.type === 'queue' && event.state === 'completed') {
      said = 2;
      made.agent.steer('one more thing');
    }
  });
  expect(await made.agent.prompt('go')).toEqual({ reason: 'completed' });
  expect(wordsOf(made.agent.state().messages)).toEqual(['go', 'done', 'and then', 'done', 'one more thing', 'done']);
  expect(made.events.filter(({ type }) => type === 'agent_end')).toHaveLength(1);
  expect(made.agent.state().queue).toEqual([]);
});

test('continue runs without a new message when the last message is the user’s', async () => {
  const { agent, deps } = scriptedAgent([], {}, { messages: [userSays('left off here')] });
  expect(await agent.continue()).toEqual({ reason: 'completed' });
  expect(deps.requests()[0]?.messages).toEqual([{ role: 'user', blocks: [{ type: 'text', text: 'left off here' }] }]);
});

test('continue after a reply delivers one steering message, else a follow-up, else it is refused', async () => {
  const { agent, deps } = scriptedAgent([]);
  await agent.prompt('go');
  await expect(agent.continue()).rejects.toThrow('nothing to continue');
  agent.followUp('later');
  agent.steer('first');
  agent.steer('second');
  await agent.continue();
  expect(JSON.stringify(deps.requests()[1]?.messages)).not.toContain('second');
  expect(wordsOf(agent.state().messages)).toEqual(['go', 'done', 'first', 'done', 'second', 'done', 'later', 'done']);
});

test('reset clears the conversation and the queues, and returns the dropped messages', async () => {
  const made = scriptedAgent([]);
  await made.agent.prompt('go');
  made.agent.followUp('lost');
  made.agent.reset();
  await made.agent.waitForIdle();
  expect(made.agent.state()).toMatchObject({ messages: [], queue: [], status: 'idle' });
  expect(queueOf(made.events)).toEqual(['lost queued', 'lost removed']);
});

test('the agent returns copies of its state and copies what is passed in', async () => {
  const mine = [userSays('mine')];
  const { agent } = scriptedAgent([]);
  agent.replaceMessages(mine);
  mine.push(userSays('later'));
  const state = agent.state();
  await agent.prompt('go');
  expect(wordsOf(state.messages)).toEqual(['mine']);
  expect(wordsOf(agent.state().messages)).toEqual(['mine', 'go', 'done']);
});

test('listeners are called in order and awaited, the transcript first; state read inside a listener includes the event', async () => {
  const order: string[] = [];
  const made = scriptedAgent(
    [],
    {},
    {
      listeners: [
        async (event) => {
          if (event.type !== 'message_end') return;
          await new Promise((resolve) => setImmediate(resolve));
          order.push(`transcript ${event.message.role}`);
        },
      ],
    },
  );
  const leave = made.agent.subscribe((event) => {
    if (event.type === 'message_end')
      order.push(`screen ${event.message.role} of ${made.agent.state().messages.length}`);
  });
  await made.agent.prompt('go');
  leave();
  await made.agent.prompt('again');
  expect(order).toEqual([
    'transcript user',
    'screen user of 1',
    'transcript assistant',
    'screen assistant of 2',
    'transcript user',
    'transcript assistant',
  ]);
});

test('the transcript has stored the prompt before the first byte is sent', async () => {
  const order: string[] = [];
  const { agent } = scriptedAgent(
    [],
    {
      transformRequest: (request) => {
        order.push('request');
        return request;
      },
    },
    {
      listeners: [
        async (event) => {
          if (event.type !== 'message_end') return;
          await new Promise((resolve) => setImmediate(resolve));
          order.push(event.message.role);
        },
      ],
    },
  );
  await agent.prompt('go');
  expect(order).toEqual(['user', 'request', 'assistant']);
});

test('a listener that throws or rejects is reported and affects neither the run nor other listeners', async () => {
  const made = scriptedAgent(
    [calls('Echo')],
    {},
    {
      listeners: [
        () => {
          throw new Error('loud');
        },
        async () => Promise.reject(new Error('quiet')),
      ],
    },
  );
  expect(await made.agent.prompt('go')).toEqual({ reason: 'completed' });
  expect(findUnbalancedEvents(made.events)).toEqual([]);
  expect(made.listenerFaults).toHaveLength(2 * made.events.length);
});

test('waitForIdle resolves after the last listener has settled', async () => {
  let settled = false;
  const { agent } = scriptedAgent(
    [],
    {},
    {
      listeners: [
        async (event) => {
          if (event.type !== 'agent_end') return;
          await new Promise((resolve) => setImmediate(resolve));
          settled = true;
        },
      ],
    },
  );
  void agent.prompt('go');
  await agent.waitForIdle();
  expect(settled).toBe(true);
  expect(agent.state().status).toBe('idle');
});

test('every prompt starts with agent_start and ends with agent_end, even when a part fails', async () => {
  const made = scriptedAgent(
    [],
    {},
    {
      deps: () => {
        throw new Error('no model');
      },
    },
  );
  expect(await made.agent.prompt('go')).toEqual({ reason: 'model_error', words: 'no model' });
  expect([made.events[0]?.type, made.events.at(-1)?.type]).toEqual(['agent_start', 'agent_end']);
  expect(made.agent.state().status).toBe('idle');
});

test('a prompt hook may add context, refuse, or fail; then nothing is sent', async () => {
  const onPrompt = async (words: string) => {
    if (words === 'bad') return { kind: 'block' as const, words: 'not that' };
    if (words === 'worse') throw new Error('oops');
    return { kind: 'go' as const, context: 'it is Monday' };
  };
  const { agent, deps } = scriptedAgent([], {}, { onPrompt });
  expect(await agent.prompt('bad')).toEqual({ reason: 'hook_stopped', words: 'not that' });
  expect((await agent.prompt('worse')).reason).toBe('hook_stopped');
  expect(deps.calls()).toBe(0);
  await agent.prompt('good');
  expect(wordsOf(agent.state().messages)).toEqual(['good', 'it is Monday', 'done']);
});

test('the status follows the run, is "stopping" after an abort, and ends idle', async () => {
  const made = scriptedAgent([held]);
  const states: string[] = [];
  made.agent.subscribe(() => {
    const { status } = made.agent.state();
    if (states.at(-1) !== status) states.push(status);
  });
  const running = made.agent.prompt('go');
  await streaming(made);
  made.agent.abort();
  await running;
  await made.agent.waitForIdle();
  expect(states).toEqual(['preparing', 'requesting', 'writing', 'stopping', 'idle']);
});

test('content that the API refused once is omitted from later prompts too', async () => {
  const thinking = { type: 'thinking' as const, thinking: 'hm', signature: 'sig' };
  const { agent, deps } = scriptedAgent([
    { blocks: [thinking, { type: 'text', text: 'so' }] },
    fails('invalid', { refusedPart: 'signature' }),
    says('fine'),
  ]);
  for (const words of ['one', 'two', 'three']) await agent.prompt(words);
  expect(deps.requests().map((request) => JSON.stringify(request.messages).includes('thinking'))).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

test('a message can be added without a model request', async () => {
  const { agent, deps } = scriptedAgent([]);
  await agent.append(userSays('! ls'));
  await agent.prompt('what was that?');
  expect(deps.requests()[0]?.messages[0]?.blocks).toHaveLength(2);
});

test('requests to the user have an id that is answered once, and an abort answers open ones', async () => {
  const ask = echoTool({
    call: async (_input, context) => {
      const answer = await context.ask({ kind: 'plan', plan: 'do it' });
      return { content: JSON.stringify(answer ?? 'nobody answered') };
    },
  });
  const made = scriptedAgent([calls('Echo'), says('x'), calls('Echo')], { tools: () => [ask] });
  const isQuestion = (event: AgentEvent) => event.type === 'question';
  const first = made.agent.prompt('go');
  await made.seen(isQuestion);
  const id = made.agent.state().pendingQuestions[0]?.id ?? '';
  expect(made.agent.answerQuestion(id, { kind: 'plan', verdict: 'accept' })).toBe(true);
  expect(made.agent.answerQuestion(id, undefined)).toBe(false);
  await first;
  expect(JSON.stringify(made.agent.state().messages)).toContain('accept');
  made.events.length = 0;
  const second = made.agent.prompt('again');
  await made.seen(isQuestion);
  made.agent.abort();
  expect(await second).toEqual({ reason: 'aborted_tools' });
  expect(made.agent.state().pendingQuestions).toEqual([]);
});

test('a request from background work starts no run: the agent stays idle', async () => {
  let port: AgentPort | undefined;
  const attach = (attached: AgentPort) => {
    port = attached;
  };
  const { agent } = scriptedAgent([], {}, { attach });
  await agent.prompt('go');
  await agent.waitForIdle();
  const answer = port?.ask('call-1', { kind: 'plan', plan: 'do it' }, new AbortController().signal);
  await agent.waitForIdle();
  expect(agent.state()).toMatchObject({ status: 'idle', pendingQuestions: [{ callId: 'call-1' }] });
  agent.answerQuestion(agent.state().pendingQuestions[0]?.id ?? '', undefined);
  expect(await answer).toBeUndefined();
  expect(agent.state()).toMatchObject({ status: 'idle', pendingQuestions: [] });
  expect((await agent.prompt('on')).reason).toBe('completed');
});

test('continue is refused in an empty conversation', async () => {
  await expect(scriptedAgent([empty()]).agent.continue()).rejects.toThrow('nothing to continue');
});

test('pinned messages are added at once when idle and like steering during a query; both are marked', async () => {
  const made = scriptedAgent([calls('Echo')]);
  await made.agent.pin('never touch vendor');
  made.agent.subscribe((event) => {
    if (event.type === 'tool_start') void made.agent.pin('nor dist');
  });
  await made.agent.prompt('go');
  const pins = made.agent.state().messages.filter((message) => message.role === 'user' && message.pinned === true);
  expect(wordsOf(pins)).toEqual(['never touch vendor', 'nor dist']);
  expect(wordsOf(made.agent.state().messages)).toEqual(['never touch vendor', 'go', 'nor dist', 'done']);
});

test('a listener that waits for the agent, or for a message it adds itself, causes no deadlock', async () => {
  const made = scriptedAgent([], {}, {});
  made.agent.subscribe(async (event) => {
    if (event.type === 'agent_start') await made.agent.append(userSays('from the listener'));
    if (event.type === 'agent_end') await made.agent.waitForIdle();
  });
  expect(await made.agent.prompt('go')).toEqual({ reason: 'completed' });
  await made.agent.waitForIdle();
  expect(wordsOf(made.agent.state().messages)).toContain('from the listener');
  expect(made.listenerFaults).toMatchObject([{ message: expect.stringContaining('must not call waitForIdle') }]);
});

test('an abort after the end event affects neither that run nor the next', async () => {
  const made = scriptedAgent([]);
  const leave = made.agent.subscribe((event) => {
    if (event.type === 'agent_end') made.agent.abort();
  });
  expect(await made.agent.prompt('go')).toEqual({ reason: 'completed' });
  await made.agent.waitForIdle();
  leave();
  expect(made.events.at(-1)?.type).toBe('agent_end');
  expect(made.agent.state().status).toBe('idle');
});

test('a message sent beside a running query is added after it, not between a call and its result', async () => {
  const made = scriptedAgent([calls('Echo')]);
  made.agent.subscribe((event) => {
    if (event.type === 'tool_start') void made.agent.append(userSays('! ls'));
  });
  await made.agent.prompt('go');
  await made.agent.waitForIdle();
  expect(wordsOf(made.agent.state().messages)).toEqual(['go', 'done', '! ls']);
  expect(made.events.at(-1)?.type).toBe('agent_end');
});

test('work between two queries can be aborted and blocks prompts; messages typed meanwhile are delivered afterwards', async () => {
  const made = scriptedAgent([]);
  const work = made.agent.runExclusive(
    'compacting',
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
  );
  expect(made.agent.state().status).toBe('compacting');
  await expect(made.agent.prompt('now')).rejects.toThrow('running');
  await expect(made.agent.runExclusive('compacting', async () => undefined)).rejects.toThrow('running');
  await made.agent.pin('never touch vendor');
  made.agent.followUp('later');
  await made.agent.append(userSays('! ls'));
  made.agent.abort();
  expect(await work).toBe('stopped');
  await made.seen((event) => event.type === 'agent_end');
  await made.agent.waitForIdle();
  expect(wordsOf(made.agent.state().messages)).toEqual(['never touch vendor', '! ls', 'later', 'done']);
  expect(made.agent.state()).toMatchObject({ status: 'idle', queue: [] });
});

test('unanswered messages can be removed and are not sent again', async () => {
  const { agent, deps, events } = scriptedAgent([fails('auth')]);
  await agent.prompt('wrng');
  const [refused] = agent.state().messages;
  await agent.withdraw(refused?.id ?? '');
  await agent.prompt('right');
  expect(wordsOf(agent.state().messages)).toEqual(['right', 'done']);
  expect(JSON.stringify(deps.requests()[1]?.messages)).not.toContain('wrng');
  expect(events.filter(({ type }) => type === 'tombstone')).toMatchObject([{ messageId: refused?.id }]);
});
