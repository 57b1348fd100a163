import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { AssistantBlock } from '../../../src/contracts/message.ts';
import type { QueryDeps } from '../../../src/contracts/query.ts';
import type { Terminal } from '../../../src/contracts/terminal-reason.ts';
import { query } from '../../../src/engine/query.ts';
import { createQueryState } from '../../../src/engine/query-state.ts';
import { buildModelRequest } from '../../../src/engine/request/build-model-request.ts';
import { longTest } from '../../support/long-test.ts';
import { findInvariantViolations } from '../../support/loop/invariants.ts';
import {
  buildHistory,
  calls,
  contextTooLong,
  echoTool,
  fails,
  type ScriptedDeps,
  type ScriptedReply,
  says,
  scripted,
  unlimitedContext,
  userSays,
} from '../../support/loop/scripted.ts';
import { findUnbalancedEvents } from '../../support/loop/unbalanced-events.ts';

const PROMPT = [userSays('do it')];
const FOR_EVER = new Promise<void>(() => undefined);

/** Tells that it runs, and never ends. */
const forEver: NonNullable<NonNullable<Parameters<typeof echoTool>[0]>['call']> = (_input, { report }) => {
  report({ kind: 'note', text: 'running' });
  return new Promise(() => undefined);
};

/** Runs a query and aborts as soon as an event fits. */
async function abortedAt(deps: ScriptedDeps, fits: (event: AgentEvent) => boolean, controller = new AbortController()) {
  const events: AgentEvent[] = [];
  const run = query(PROMPT, deps, controller.signal);
  let result: Terminal | undefined;
  while (result === undefined) {
    const step = await run.next();
    if (step.done === true) {
      result = step.value;
    } else {
      events.push(step.value);
      if (fits(step.value)) controller.abort();
    }
  }
  const history = buildHistory(PROMPT, events);
  const next = buildModelRequest([...history, userSays('again')], createQueryState([]), deps);
  expect(findInvariantViolations(next)).toEqual([]);
  expect(findUnbalancedEvents(events)).toEqual([]);
  return { events, result, history };
}

const running = (event: AgentEvent) => event.type === 'tool_update';

const held = (reply: ScriptedReply): ScriptedReply => ({ ...reply, hold: FOR_EVER });

test('ESC while text streams keeps the completed blocks, followed by the note', async () => {
  const deps = scripted([held(says('half an answer'))]);
  const { result, history } = await abortedAt(deps, (event) => event.type === 'block_end');
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history.slice(1)).toMatchObject([
    { role: 'assistant', blocks: [{ type: 'text', text: 'half an answer' }] },
    { role: 'user', origin: 'interrupt', blocks: [{ type: 'text', text: '[Request interrupted by user]' }] },
  ]);
});

const thought: AssistantBlock = { type: 'thinking', thinking: 'hm', signature: 's' };
const unsigned: AssistantBlock = { type: 'thinking', thinking: 'hm', signature: '' };
const whole: AssistantBlock = { type: 'text', text: 'First this.' };
const call: AssistantBlock = { type: 'tool_use', id: 'a', name: 'Echo', input: {} };

test.each([
  ['alone', []],
  ['behind thinking', [thought]],
  ['behind thinking that was not signed', [unsigned]],
  ['behind a whole block', [thought, whole]],
  ['behind a call', [whole, call]],
] satisfies [string, AssistantBlock[]][])(
  'ESC in the middle of words, %s, keeps them as they were shown, marked as cut',
  async (_where, before) => {
    const reply = held({ blocks: before, unfinished: 'The answer is forty' });
    const deps = scripted([reply]);
    const { history, events } = await abortedAt(
      deps,
      (event) => event.type === 'message_update' && event.delta === ' forty',
    );
    const said = history.filter((message) => message.role === 'assistant');
    expect(said).toMatchObject([{ blocks: [...before, { type: 'text', text: 'The answer is forty', cut: true }] }]);
    expect(JSON.stringify(history.at(-1))).toContain('[Request interrupted by user');
    const ends = events.map(({ type }) => type);
    expect(ends.lastIndexOf('block_end')).toBeLessThan(ends.lastIndexOf('turn_end'));
  },
);

test('ESC before any visible text keeps nothing', async () => {
  const deps = scripted([held({ blocks: [], unfinished: ' \n' })]);
  const { history } = await abortedAt(deps, (event) => event.type === 'message_update');
  expect(history.map((message) => message.role)).toEqual(['user', 'user']);
});

test.each([
  ['broke off', fails('cut')],
  ['lost its connection', fails('network')],
] satisfies [string, ScriptedReply][])(
  'a reply that %s and is not asked for again stays as it was shown',
  async (_how, reply) => {
    const deps = scripted([{ ...reply, unfinished: 'The answer is forty' }]);
    const { history, result } = await abortedAt(deps, () => false);
    expect(result).toMatchObject({ reason: 'api_error' });
    expect(history.slice(1)).toMatchObject([
      { role: 'assistant', blocks: [{ type: 'text', text: 'The answer is forty', cut: true }] },
      { role: 'user', origin: 'interrupt', blocks: [{ text: expect.stringContaining('broke off here') }] },
    ]);
  },
);

test('text of a model is dropped when another took over', async () => {
  const broken: ScriptedReply = { ...fails('cut'), unfinished: 'The answer is forty' };
  const deps = scripted([broken, says('Forty-two.')], {
    config: { chain: [{ model: 'model-a' }, { model: 'model-b' }] },
  });
  const { history } = await abortedAt(deps, () => false);
  expect(history.slice(1)).toMatchObject([{ role: 'assistant', blocks: [{ text: 'Forty-two.' }] }]);
});

test('ESC after thinking only keeps nothing of the reply', async () => {
  const reply = held({ blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }] });
  const { history } = await abortedAt(scripted([reply]), (event) => event.type === 'block_end');
  expect(history.map((message) => message.role)).toEqual(['user', 'user']);
});

test('ESC before the first byte leaves one note', async () => {
  const { history, result } = await abortedAt(
    scripted([held({ blocks: [] })]),
    (event) => event.type === 'request_sent',
  );
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history).toMatchObject([{ role: 'user' }, { origin: 'interrupt' }]);
});

test('ESC after calls started gives each complete call a result: the real one if it had finished', async () => {
  const slow = echoTool({ name: 'Slow', call: forEver });
  const reply = held(calls({ name: 'Echo', id: 'a' }, { name: 'Slow', id: 'b' }));
  const deps = scripted([reply], { tools: () => [echoTool(), slow] });
  const { result, history } = await abortedAt(deps, running);
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history.at(-1)).toMatchObject({
    origin: 'results',
    blocks: [
      { type: 'tool_result', tool_use_id: 'a', content: 'echo {}' },
      { type: 'tool_result', tool_use_id: 'b', is_error: true },
      { type: 'text', text: '[Request interrupted by user for tool use]' },
    ],
  });
});

test('ESC while tools run does not start queued ones, and the note follows the results', async () => {
  const started: string[] = [];
  const alone = echoTool({
    name: 'Alone',
    safe: 'alone',
    call: (_input, context) => {
      started.push(context.callId);
      return forEver(_input, context);
    },
  });
  const deps = scripted([calls({ name: 'Alone', id: 'a' }, { name: 'Alone', id: 'b' })], { tools: () => [alone] });
  const { result, history, events } = await abortedAt(deps, running);
  expect(result).toEqual({ reason: 'aborted_tools' });
  expect(started).toEqual(['a']);
  expect(events.filter((event) => event.type === 'tool_end')).toHaveLength(2);
  expect(history.at(-1)?.role === 'user' && history.at(-1)).toMatchObject({
    blocks: [
      { is_error: true, content: expect.stringContaining('may or may not') },
      { is_error: true, content: expect.stringContaining('was not started') },
      { type: 'text' },
    ],
  });
});

test('a tool that returns its partial result in the grace period keeps it', async () => {
  const tool = echoTool({
    call: (input, context) =>
      new Promise((resolve) => {
        void forEver(input, context);
        context.signal.addEventListener('abort', () => resolve({ content: 'tick 3', isError: true }));
      }),
  });
  const deps = scripted([calls('Echo')], { tools: () => [tool] });
  const { history } = await abortedAt(deps, running);
  expect(history.at(-1)).toMatchObject({ blocks: [{ content: 'tick 3', is_error: true }, { type: 'text' }] });
});

test.each([
  ['a permission question', { gate: () => new Promise<never>(() => undefined) }],
  ['a hook before it', { beforeCall: () => new Promise<never>(() => undefined) }],
])('ESC at %s interrupts without running the call, and reports it', async (_where, waits) => {
  let ran = false;
  const tool = echoTool({
    call: async () => {
      ran = true;
      return { content: 'x' };
    },
  });
  const deps = scripted([calls('Echo')], { tools: () => [tool], ...waits });
  const { result, history } = await abortedAt(deps, (event) => event.type === 'turn_end');
  expect(result).toEqual({ reason: 'aborted_tools' });
  expect(ran).toBe(false);
  expect(JSON.stringify(history.at(-1))).toContain('was not started');
});

test.each([
  ['of a request that did not fit', contextTooLong()],
  ['of a reply that ran into the end of the window', says('and then', 'model_context_window_exceeded')],
])('ESC during the compaction %s drops its result and keeps the messages', async (_of, reply) => {
  const context = { ...unlimitedContext, compact: () => new Promise<never>(() => undefined) };
  const deps = scripted([reply], { context });
  const { result, history } = await abortedAt(
    deps,
    (event) => event.type === 'status' && event.status === 'compacting',
  );
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history).toEqual(PROMPT);
});

test.each([
  ['Esc', 'user', 'completed'],
  ['a signal of the process', 'sigterm', 'aborted_tools'],
  ['the end of the session', 'shutdown', 'aborted_tools'],
])('%s during a stop hook ends the query and keeps the reply', async (_, by, reason) => {
  const controller = new AbortController();
  const deps = scripted([says('done')], {
    onStop: () => {
      queueMicrotask(() => controller.abort(by));
      return new Promise(() => undefined);
    },
  });
  const { result, history } = await abortedAt(deps, () => false, controller);
  expect(result).toEqual({ reason });
  expect(history.at(-1)).toMatchObject({ role: 'assistant' });
});

test('an abort before the first request sends none', async () => {
  const controller = new AbortController();
  controller.abort();
  const deps = scripted([says('never')]);
  const { result } = await abortedAt(deps, () => false, controller);
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(deps.calls()).toBe(0);
});

test.each([
  ['while the reply streams', held(calls('Echo'))],
  ['while the calls run', calls('Echo')],
])('a consumer that stops %s ends the stream and the calls', async (_when, reply) => {
  let stopped = false;
  const tool = echoTool({
    call: (input, context) =>
      new Promise((resolve) => {
        context.signal.addEventListener('abort', () => {
          stopped = true;
          resolve({ content: 'stopped' });
        });
        setImmediate(() => void forEver(input, context));
      }),
  });
  const run = query(PROMPT, scripted([reply], { tools: () => [tool] }), new AbortController().signal);
  for (;;) {
    const step = await run.next();
    if (step.done === true || running(step.value)) break;
  }
  await run.return({ reason: 'completed' });
  expect(stopped).toBe(true);
});

test.each([
  ['before the first request', [says('never')], 0],
  ['after a turn with calls', [calls('Echo')], 1],
])('ESC while the context is prepared %s keeps the messages', async (_when, replies, requests) => {
  const controller = new AbortController();
  let looks = 0;
  const prepare: QueryDeps['context']['prepare'] = async (messages) => {
    looks += 1;
    if (looks <= requests) return { messages, view: messages, tokens: 0, freedTokens: 0 };
    queueMicrotask(() => controller.abort());
    return new Promise(() => undefined);
  };
  const deps = scripted(replies, { context: { ...unlimitedContext, prepare } });
  const { result, history } = await abortedAt(deps, () => false, controller);
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(deps.calls()).toBe(requests);
  expect(history.map((message) => message.role)).toEqual(requests === 0 ? ['user'] : ['user', 'assistant', 'user']);
});

test('ESC during auto-compaction drops its result, and nothing is sent', async () => {
  const context: QueryDeps['context'] = {
    ...unlimitedContext,
    prepare: async (messages) => ({ messages, view: messages, tokens: 1_500, freedTokens: 0 }),
    compact: () => new Promise(() => undefined),
  };
  const deps = scripted([says('never')], { context });
  const { result, history, events } = await abortedAt(
    deps,
    (event) => event.type === 'status' && event.status === 'compacting',
  );
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history).toEqual(PROMPT);
  expect(deps.calls()).toBe(0);
  expect(events.at(-1)).toMatchObject({ type: 'recovery_end', outcome: 'released' });
});

test('ESC during the retry delay ends it at once and leaves one note', async () => {
  const deps = scripted([]);
  const model: QueryDeps['model'] = {
    name: 'waits',
    async *stream(_request, _options, signal) {
      const failure = { kind: 'overloaded', message: 'busy' } as const;
      yield { type: 'request_sent', attempt: 1 };
      yield { type: 'retry', attempt: 1, limit: 10, delayMs: 60_000, failure };
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { ok: false, failure: { kind: 'aborted', message: 'aborted' } };
    },
  };
  const { result, history } = await abortedAt({ ...deps, model }, (event) => event.type === 'retry');
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history).toMatchObject([{ role: 'user' }, { origin: 'interrupt' }]);
});

test('ESC during a call removes it, and keeps what was complete before', async () => {
  const deps = scripted([]);
  const model: QueryDeps['model'] = {
    name: 'half a call',
    async *stream(_request, _options, signal) {
      const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
      yield { type: 'message_start', messageId: 'm1', model: 'x', usage };
      yield { type: 'block_end', index: 0, block: { type: 'text', text: 'I will look.' } };
      yield { type: 'block_start', index: 1, kind: 'tool_use', name: 'Echo' };
      yield { type: 'input_delta', index: 1, json: '{"half' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { ok: false, failure: { kind: 'aborted', message: 'aborted' } };
    },
  };
  const half = (event: AgentEvent) => event.type === 'message_update' && event.kind === 'input';
  const { history, events } = await abortedAt({ ...deps, model }, half);
  expect(history.slice(1)).toMatchObject([
    { role: 'assistant', blocks: [{ type: 'text', text: 'I will look.' }] },
    { origin: 'interrupt', blocks: [{ text: '[Request interrupted by user]' }] },
  ]);
  expect(events.some((event) => event.type === 'tool_start')).toBe(false);
});

test('ESC while changes are detected keeps the results and sends nothing more', async () => {
  const controller = new AbortController();
  const deps = scripted([calls('Echo')], {
    attachments: () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => undefined);
    },
  });
  const { result, history } = await abortedAt(deps, () => false, controller);
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history.at(-1)).toMatchObject({ origin: 'results', blocks: [{ content: 'echo {}' }] });
  expect(deps.calls()).toBe(1);
});

test('ESC while a result is stored keeps its head', async () => {
  const controller = new AbortController();
  const tool = echoTool({ call: async () => ({ content: 'x'.repeat(5_000) }) });
  const deps = scripted([calls('Echo')], {
    tools: () => [tool],
    capResult: () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => undefined);
    },
  });
  const { history } = await abortedAt(deps, () => false, controller);
  const kept = `${'x'.repeat(1_000)}\n[Cut here; the rest was not kept: interrupted]`;
  expect(history.at(-1)).toMatchObject({ blocks: [{ content: kept }, { type: 'text' }] });
});

test('ESC while thousands of calls wait has few of them to answer; the rest of the reply is dropped', async () => {
  const controller = new AbortController();
  const begun = Promise.withResolvers<void>();
  const { model, ...deps } = scripted([calls(...Array.from({ length: 5_000 }, () => 'Echo'))], {
    tools: () => [echoTool({ call: forEver })],
  });
  const abortedAtEnd: ScriptedDeps['model'] = {
    ...model,
    async *stream(...request) {
      const outcome = yield* model.stream(...request);
      await begun.promise;
      controller.abort();
      return outcome;
    },
  };
  const isBegun = (event: AgentEvent) => {
    if (running(event)) begun.resolve();
    return false;
  };
  const { events, history } = await abortedAt({ ...deps, model: abortedAtEnd }, isBegun, controller);
  const [, reply, results] = history;
  const blocks = reply?.role === 'assistant' ? reply.blocks.length : 0;
  expect(blocks).toBeLessThan(300);
  expect(events.length).toBeLessThan(3_000);
  // A result for each call, and the note.
  expect(results?.role === 'user' && results.blocks).toHaveLength(blocks + 1);
});

longTest('thousands of calls are all run, in order, although only some wait at a time', async () => {
  const ids = Array.from({ length: 3_000 }, (_, index) => `toolu_${index}`);
  const deps = scripted([calls(...ids.map((id) => ({ name: 'Echo', input: {}, id })))]);
  const events: AgentEvent[] = [];
  for await (const event of query(PROMPT, deps, new AbortController().signal)) events.push(event);
  const results = buildHistory(PROMPT, events)[2];
  expect(
    results?.role === 'user' && results.blocks.map((block) => block.type === 'tool_result' && block.tool_use_id),
  ).toEqual(ids);
});
