import { expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { Message } from '../../../src/contracts/message.ts';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../../src/sdk/agent/options.ts';
import { buildTool } from '../../../src/tools/definition/build-tool.ts';
import { says as apiSays } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { longTest } from '../../support/long-test.ts';
import { calls, fails, type ScriptedReply, says, scripted } from '../../support/loop/scripted.ts';

declare module '../../../src/contracts/message.ts' {
  interface CustomMessages {
    ticket: { readonly number: number };
  }
}

/** An agent around a scripted model, and what it was asked. */
function agentOf(replies: readonly ScriptedReply[], options: AgentOptions = {}) {
  const script = scripted(replies);
  const events: AgentEvent[] = [];
  const agent = createAgent({ model: script.model, ...options });
  agent.subscribe((event) => {
    events.push(event);
  });
  return { agent, events, requests: script.requests };
}

const lookUp = buildTool({
  name: 'LookUp',
  prompt: 'Looks a customer up.',
  input: z.object({ id: z.string().optional() }),
  call: async () => ({ content: 'Ada, card 4111 1111 1111 1111' }),
});

const textOf = (message: Message | undefined) => JSON.stringify(message);

test('without options there is an agent; without a key its answer says what to set', async () => {
  const agent = createAgent({ apiKey: '' });
  expect(agent.state()).toMatchObject({
    status: 'idle',
    messages: [],
    tools: [],
    systemPrompt: [],
    lastError: undefined,
  });
  expect(createAgent().state().model).toMatch(/sonnet/);
});

test.each([
  ['throws', () => raise()],
  ['answers with a promise that breaks', async () => raise()],
])('a logger that %s has no effect on the run', async (_, logger) => {
  const { agent } = agentOf([says('hello')], { logger, listeners: [raise] });
  expect((await agent.prompt('hi')).reason).toBe('completed');
  await agent.waitForIdle();
});

function raise(): never {
  throw new Error('boom');
}

test('a model is known by its name: its window, its output limit, its prices', async () => {
  await using api = await startApiServer({ turns: [apiSays('hello')] });
  const agent = createAgent({ apiKey: 'key', baseUrl: api.url });
  await agent.prompt('hi');
  expect(api.requests()[0]?.body.max_tokens).toBeGreaterThan(4_096);
});

test('the key is requested before each request', async () => {
  await using api = await startApiServer({ turns: [apiSays('one'), apiSays('two')] });
  let asked = 0;
  const agent = createAgent({
    baseUrl: api.url,
    apiKey: () => {
      asked += 1;
      return `key-${asked}`;
    },
  });
  await agent.prompt('hi');
  await agent.prompt('again');
  expect(api.requests().map(({ headers }) => headers['x-api-key'])).toEqual(['key-1', 'key-2']);
});

test('messages during a run are delivered once, and it ends', async () => {
  const { agent, requests } = agentOf([calls('LookUp'), says('heard')], { tools: [lookUp] });
  const run = agent.prompt('go');
  agent.steer('and be quick');
  agent.followUp('then this');
  await run;
  await agent.waitForIdle();
  expect(requests()).toHaveLength(3);
  expect(agent.state().queue).toEqual([]);
});

test('a chain of ports: when one fails the next one answers, each with its own retries', async () => {
  const broken = scripted([], { after: fails('overloaded') });
  const other = scripted([says('I am the other')]);
  const agent = createAgent({
    model: [
      { model: 'first', port: broken.model, maxRetries: 0 },
      { model: 'second', port: other.model },
    ],
  });
  const end = await agent.prompt('hi');
  expect(end.reason).toBe('completed');
  expect(agent.state().messages.at(-1)).toMatchObject({ role: 'assistant', model: 'second' });
  expect(other.requests()[0]?.model).toBe('second');
});

test('a result can be changed or extended, and end the run', async () => {
  const { agent, requests, events } = agentOf([calls('LookUp'), calls('LookUp')], {
    tools: [lookUp],
    afterToolCall: (_call, outcome) => ({
      outcome: { ...outcome, content: String(outcome.content).replace(/[\d ]{12,}/, ' [card]') },
      add: 'Cards are never shown.',
      ...(requests().length === 2 ? { endRun: 'enough' } : {}),
    }),
  });
  const end = await agent.prompt('who is it?');
  expect(end).toMatchObject({ reason: 'hook_stopped', words: 'enough' });
  expect(JSON.stringify([requests(), events, agent.state()])).not.toContain('4111 1111');
  expect(textOf(agent.state().messages[2])).toContain('Ada, card [card]');
  expect(textOf(agent.state().messages[2])).toContain('Cards are never shown.');
});

test('a result whose inspection failed is not passed on', async () => {
  const { agent, requests, events } = agentOf([calls('LookUp'), says('done')], {
    tools: [lookUp],
    afterToolCall: () => {
      throw new Error('the filter is broken');
    },
  });
  expect(await agent.prompt('who is it?')).toMatchObject({ reason: 'completed' });
  expect(JSON.stringify([requests(), events, agent.state()])).not.toContain('4111 1111');
  expect(events).toContainEqual(expect.objectContaining({ type: 'notice', level: 'error' }));
});

test('a call can be denied, changed, and asked about', async () => {
  const seen: unknown[] = [];
  const tool = buildTool({
    name: 'Pay',
    prompt: 'Pays.',
    input: z.object({ sum: z.number() }),
    call: async ({ sum }) => {
      seen.push(sum);
      return { content: 'paid' };
    },
  });
  const pay = (sum: number) => calls({ name: 'Pay', input: { sum } });
  const { agent, requests } = agentOf([pay(1), pay(2), pay(3), pay(4), says('done')], {
    tools: [tool],
    beforeToolCall({ input }) {
      if (input.sum === 1) return { block: 'No small sums.' };
      if (input.sum === 2) return { input: { sum: 20 } };
      return { ask: 'Is this meant?' };
    },
    onPermission: async ({ reasons, facts }) => {
      expect(reasons).toEqual(['Is this meant?']);
      return facts.input.sum === 3 ? { behavior: 'deny', message: 'Not three.' } : { behavior: 'allow' };
    },
  });
  await agent.prompt('pay');
  expect(seen).toEqual([20, 4]);
  const said = JSON.stringify(requests().at(-1)?.messages);
  expect(said).toContain('No small sums.');
  expect(said).toContain('Not three.');
});

test('a question without a listener is answered no', async () => {
  const script = scripted([calls('LookUp'), says('so be it')]);
  const agent = createAgent({ model: script.model, tools: [lookUp], beforeToolCall: () => ({ ask: 'May it?' }) });
  await agent.prompt('go');
  expect(JSON.stringify(script.requests().at(-1)?.messages)).toContain('this run cannot ask for approval');
});

test('custom messages are part of the conversation; the model sees their converted form', async () => {
  const ticket = { role: 'custom', id: 't1', kind: 'ticket', data: { number: 7 } } as const;
  const plain = agentOf([says('one'), says('two')]);
  await plain.agent.prompt([ticket, 'What is it about?']);
  expect(JSON.stringify(plain.requests()[0]?.messages)).not.toContain('ticket');
  expect(plain.agent.state().messages[0]).toEqual(ticket);

  const { agent, requests, events } = agentOf([says('one'), says('two')], {
    convertToLlm: (messages) =>
      messages.map((message) =>
        message.role === 'custom' && message.kind === 'ticket'
          ? {
              role: 'user',
              id: message.id,
              origin: 'attachment',
              blocks: [{ type: 'text', text: `Ticket ${message.data.number}` }],
            }
          : message,
      ),
  });
  await agent.append(ticket);
  await agent.prompt('What is it about?');
  expect(JSON.stringify(requests()[0]?.messages)).toContain('Ticket 7');
  expect(events.filter((event) => event.type === 'message_end').map((event) => event.message.role)).toEqual([
    'custom',
    'user',
    'assistant',
  ]);
  await agent.prompt('And now?');
  expect(requests()).toHaveLength(2);
});

test('one message is a prompt', async () => {
  const { agent, requests } = agentOf([says('yes')]);
  await agent.prompt({ role: 'user', id: 'u1', origin: 'prompt', blocks: [{ type: 'text', text: 'hello' }] });
  expect(requests()).toHaveLength(1);
  await expect(agent.prompt('')).rejects.toThrow('prompt: the prompt is empty. Pass a text, or call continue().');
});

test('the stop condition is checked after every turn, and is final', async () => {
  let asked = 0;
  const { agent, requests } = agentOf([calls('LookUp'), says('one'), says('two')], {
    tools: [lookUp],
    shouldStopAfterTurn: () => {
      asked += 1;
      return asked === 2;
    },
  });
  const run = agent.prompt('go');
  agent.followUp('and then this');
  await run;
  await agent.waitForIdle();
  expect([asked, requests().length]).toEqual([2, 2]);
  expect(agent.state().queue).toHaveLength(1);
});

test('the state is a frozen snapshot with everything a late listener needs', async () => {
  let inside: ReturnType<typeof agentOf>['agent'] | undefined;
  let during: unknown;
  const watching = buildTool({
    name: 'Watch',
    prompt: 'Watches.',
    input: z.object({}),
    call: async (_input, { report }) => {
      report({ kind: 'note', text: 'half way' });
      await expect.poll(() => inside?.state().running[0]?.progress).toBeDefined();
      during = inside?.state();
      return { content: 'seen' };
    },
  });
  const { agent } = agentOf([calls('Watch'), says('done')], {
    systemPrompt: 'Be kind.',
    thinking: 'low',
    tools: [watching],
  });
  inside = agent;
  await agent.prompt('go');
  expect(during).toMatchObject({
    status: 'running_tools',
    systemPrompt: [{ name: 'base', text: 'Be kind.' }],
    thinking: 'low',
    model: 'scripted',
    tools: [{ name: 'Watch', description: 'Watches.' }],
    running: [{ tool: 'Watch', progress: { kind: 'note', text: 'half way' } }],
  });
  const state = agent.state();
  expect(Object.isFrozen(state.messages[0])).toBe(true);
  expect(() => Object.assign(state, { status: 'broken' })).toThrow();
});

test('the state has the streaming reply and the last error', async () => {
  const { agent, events } = agentOf([{ ...says('half'), hold: new Promise(() => undefined) }]);
  const run = agent.prompt('go');
  await expect.poll(() => events.some(({ type }) => type === 'block_end')).toBe(true);
  expect(agent.state().partial?.blocks).toEqual([{ type: 'text', text: 'half' }]);
  agent.abort();
  await run;
  expect(agent.state()).toMatchObject({ partial: undefined, lastError: { reason: 'aborted_streaming' } });
});

test('arguments are copied, and a change applies from the next turn', async () => {
  const messages: Message[] = [];
  const tools = [lookUp];
  const { agent, requests } = agentOf([calls('LookUp'), says('one'), says('two')], {
    messages,
    tools,
    afterToolCall: () => {
      tools.length = 0;
      agent.change({ systemPrompt: 'Now be brief.' });
      return undefined;
    },
  });
  messages.push({ role: 'user', id: 'late', origin: 'prompt', blocks: [{ type: 'text', text: 'late' }] });
  await agent.prompt('go');
  expect(requests().map(({ system, tools: offered }) => [system.map(({ text }) => text), offered.length])).toEqual([
    [[], 1],
    [['Now be brief.'], 1],
  ]);
  expect(JSON.stringify(requests())).not.toContain('late');
});

test('transforming the conversation may be asynchronous', async () => {
  const { agent, requests } = agentOf([says('one')], {
    transformContext: async (messages) => {
      await Promise.resolve();
      return messages.slice(-1);
    },
    messages: [{ role: 'user', id: 'a', origin: 'prompt', blocks: [{ type: 'text', text: 'old' }] }],
  });
  await agent.prompt('new');
  expect(JSON.stringify(requests()[0]?.messages)).not.toContain('old');
  expect(agent.state().messages).toHaveLength(3);
});

const breaks = () => {
  throw new Error('broken');
};
test.each<[string, object, string]>([
  ['throws', { transformContext: breaks }, 'transformContext failed, so nothing was sent: broken'],
  ['rejects', { transformContext: async () => breaks() }, 'transformContext failed, so nothing was sent: broken'],
  ['returns no list', { transformContext: () => null }, 'it must return the list of messages to send'],
  ['throws with the request', { onPayload: breaks }, 'onPayload failed, so nothing was sent: broken'],
])('nothing is sent when a transformation %s', async (_, callbacks, words) => {
  const { model, requests } = scripted([says('one')]);
  const end = await createAgent({ model, ...callbacks }).prompt('new');
  expect([end.reason, end.words, requests()]).toEqual(['api_error', expect.stringContaining(words), []]);
});

test('the signal of a tool does not fire after it has ended, and a silent tool has no progress', async () => {
  const signals: AbortSignal[] = [];
  const silent = buildTool({
    name: 'Silent',
    prompt: 'Says nothing.',
    input: z.object({}),
    call: async (_input, { signal }) => {
      signals.push(signal);
      return { content: '' };
    },
  });
  const { agent, requests } = agentOf([calls('Silent'), { ...says('more'), hold: new Promise(() => undefined) }], {
    tools: [silent],
  });
  const run = agent.prompt('go');
  await expect.poll(() => requests().length).toBe(2);
  agent.abort();
  await run;
  expect(signals[0]?.aborted).toBe(false);
  expect(JSON.stringify(requests()[1]?.messages)).not.toMatch(/interrupt/i);
});

test('a listener of the idle event may send the next prompt', async () => {
  const { agent, requests } = agentOf([says('one'), says('two')]);
  let next: Promise<unknown> | undefined;
  agent.subscribe((event) => {
    if (event.type === 'agent_end' && next === undefined) next = agent.prompt('and on');
  });
  await agent.prompt('go');
  await next;
  expect(requests()).toHaveLength(2);
});

test('turns are numbered in order', async () => {
  const { agent, events } = agentOf([says('one'), says('two'), says('three')]);
  const run = agent.prompt('go');
  agent.followUp('more');
  agent.followUp('and more');
  await run;
  const numbers = events.flatMap((event) => (event.type === 'turn_start' ? [event.turn] : []));
  expect(numbers).toEqual([1, 2, 3]);
});

longTest('an agent without a limit ends after 200 requests, one that repeats itself long before', async () => {
  const different = Array.from({ length: 201 }, (_, at) => calls({ name: 'LookUp', input: { id: String(at) } }));
  const script = scripted(different);
  expect(await createAgent({ model: script.model, tools: [lookUp] }).prompt('go')).toMatchObject({
    reason: 'max_turns',
  });
  expect(script.calls()).toBe(200);
  const same = scripted([], { after: calls('LookUp') });
  expect(await createAgent({ model: same.model, tools: [lookUp] }).prompt('go')).toMatchObject({
    reason: 'loop_detected',
  });
  expect(same.calls()).toBeLessThan(20);
});

test('another model and other thinking apply from the next turn', async () => {
  const other = scripted([calls('LookUp'), says('done')]);
  const { agent, requests } = agentOf([calls('LookUp')], {
    tools: [lookUp],
    thinkingBudgets: { low: 1_000, high: 5_000 },
    thinking: 'low',
    afterToolCall: () => {
      agent.change({ model: { model: 'other', port: other.model }, thinking: 'high' });
      return undefined;
    },
  });
  await agent.prompt('go');
  const facts = [...requests(), ...other.requests()].map(({ model, effort, thinkingBudgetTokens }) => [
    model,
    effort,
    thinkingBudgetTokens,
  ]);
  expect(facts).toEqual([
    ['scripted', 'low', 1_000],
    ['other', 'high', 5_000],
    ['other', 'high', 5_000],
  ]);
  expect(agent.state()).toMatchObject({ model: 'other', thinking: 'high' });
});

test('a fallback model stays until another chain is set', async () => {
  const broken = scripted([], { after: fails('overloaded') });
  const second = scripted([calls('LookUp'), calls('LookUp')]);
  const third = scripted([says('done')]);
  let changes = 0;
  const agent = createAgent({
    model: [
      { model: 'first', port: broken.model, maxRetries: 0 },
      { model: 'second', port: second.model },
    ],
    tools: [lookUp],
    afterToolCall: () => {
      changes += 1;
      if (changes === 2) agent.change({ model: { model: 'third', port: third.model } });
      return undefined;
    },
  });
  await agent.prompt('go');
  expect([broken.calls(), second.calls(), third.calls()]).toEqual([1, 2, 1]);
});

test('every message end has a message start', async () => {
  const ticket = { role: 'custom', id: 't1', kind: 'ticket', data: { number: 7 } } as const;
  const { agent, events } = agentOf([calls('LookUp'), says('one'), says('two')], { tools: [lookUp] });
  await agent.append(ticket);
  const run = agent.prompt('go');
  agent.followUp('more');
  await run;
  const reported = events.flatMap((event) => {
    if (event.type === 'message_start') return [`${event.role} ${event.messageId}`];
    return event.type === 'message_end' ? [`${event.message.role} ${event.message.id}`] : [];
  });
  expect(reported).toHaveLength(14);
  for (let at = 0; at < reported.length; at += 2) expect(reported[at]).toBe(reported[at + 1]);
});

test.each([
  [{ model: 'sonnet', apiKey: '' }, 'No API key. Set ANTHROPIC_API_KEY, or choose another model'],
  [{ model: 'groq/some-model' }, 'Groq needs an API key. Set GROQ_API_KEY.'],
  [{ model: 'sonnett', apiKey: '' }, 'No API key.'],
])('without a key, the end of a run says what to set, in terms of the API', async (options, words) => {
  const end = await createAgent(options).prompt('hi');
  expect(end).toMatchObject({ reason: 'api_error', failure: { kind: 'auth' }, words: expect.stringContaining(words) });
  expect(end.words).not.toMatch(/--model|\/model|ouro login/);
});

test('a model of an unknown provider is refused before anything is sent, by a change as well', async () => {
  let asked = 0;
  const fetch = async () => {
    asked += 1;
    return new Response('{}');
  };
  const agent = createAgent({ model: 'sonnet', apiKey: 'sk-ant-test', fetch });
  agent.change({ model: 'opanai/gpt-5' });
  const end = await agent.prompt('hi');
  expect(end).toMatchObject({ reason: 'api_error', failure: { kind: 'not_found' } });
  expect(end.words).toContain('Unknown provider "opanai". Did you mean openai/gpt-5? Known providers: anthropic, ');
  expect([end.words?.includes('settings'), asked]).toEqual([false, 0]);
});

test('the key and the address of a model with a prefix are those of its provider', async () => {
  const seen: (string | null)[] = [];
  const send = async (url: string | URL | Request, init?: RequestInit) => {
    seen.push(new URL(String(url)).host, new Headers(init?.headers).get('authorization'));
    return new Response('{}', { status: 401 });
  };
  const fetchReply = Object.assign(send, { preconnect: () => undefined });
  const options = { model: 'groq/llama', apiKey: 'groq-key', baseUrl: 'http://127.0.0.1:9/v1', fetch: fetchReply };
  await createAgent(options).prompt('hi');
  expect(seen.slice(0, 2)).toEqual(['127.0.0.1:9', 'Bearer groq-key']);
});
