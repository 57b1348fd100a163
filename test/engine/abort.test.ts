import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { Terminal } from '../../src/contracts/terminal.ts';
import { query } from '../../src/engine/query.ts';
import { buildRequest } from '../../src/engine/request.ts';
import { initialState } from '../../src/engine/state.ts';
import { invariantBreaches } from '../support/invariants.ts';
import {
  calls,
  echoTool,
  historyOf,
  roomyContext,
  type ScriptedDeps,
  type ScriptedReply,
  says,
  scripted,
  tooLong,
  userSays,
} from '../support/scripted.ts';

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
  const history = historyOf(PROMPT, events);
  const next = buildRequest([...history, userSays('again')], initialState([]), deps);
  expect(invariantBreaches(next)).toEqual([]);
  return { events, result, history };
}

const running = (event: AgentEvent) => event.type === 'tool_update';

const held = (reply: ScriptedReply): ScriptedReply => ({ ...reply, hold: FOR_EVER });

test('ESC while text streams keeps the finished blocks and then the note', async () => {
  const deps = scripted([held(says('half an answer'))]);
  const { result, history } = await abortedAt(deps, (event) => event.type === 'block_end');
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history.slice(1)).toMatchObject([
    { role: 'assistant', blocks: [{ type: 'text', text: 'half an answer' }] },
    { role: 'user', origin: 'interrupt', blocks: [{ type: 'text', text: '[Request interrupted by user]' }] },
  ]);
});

test('ESC after thinking alone keeps nothing of the reply', async () => {
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

test('ESC with calls started gives each complete call a result: the real one where it had finished', async () => {
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

test('ESC while tools run does not start the queued ones, and the note follows the results', async () => {
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
    blocks: [{ is_error: true }, { is_error: true }, { type: 'text' }],
  });
});

test('a tool that hands over what it has within its grace keeps its own words', async () => {
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

test('ESC at a permission question interrupts without running the call', async () => {
  let ran = false;
  const tool = echoTool({
    call: async () => {
      ran = true;
      return { content: 'x' };
    },
  });
  const deps = scripted([calls('Echo')], { tools: () => [tool], gate: () => new Promise(() => undefined) });
  const { result } = await abortedAt(deps, (event) => event.type === 'turn_end');
  expect(result).toEqual({ reason: 'aborted_tools' });
  expect(ran).toBe(false);
});

test('ESC during compaction drops its result and leaves the messages as they were', async () => {
  const context = { ...roomyContext, compact: () => new Promise<never>(() => undefined) };
  const deps = scripted([tooLong()], { context });
  const { result, history } = await abortedAt(
    deps,
    (event) => event.type === 'status' && event.status === 'compacting',
  );
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(history).toEqual(PROMPT);
});

test('ESC during a stop hook completes the query', async () => {
  const controller = new AbortController();
  const deps = scripted([says('done')], {
    onStop: () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => undefined);
    },
  });
  const { result, history } = await abortedAt(deps, () => false, controller);
  expect(result).toEqual({ reason: 'completed' });
  expect(history.at(-1)).toMatchObject({ role: 'assistant' });
});

test('an abort before anything was asked sends no request', async () => {
  const controller = new AbortController();
  controller.abort();
  const deps = scripted([says('never')]);
  const { result } = await abortedAt(deps, () => false, controller);
  expect(result).toEqual({ reason: 'aborted_streaming' });
  expect(deps.calls()).toBe(0);
});

test('a consumer that leaves early stops the stream and the calls', async () => {
  let stopped = false;
  const tool = echoTool({
    call: (input, context) =>
      new Promise((resolve) => {
        void forEver(input, context);
        context.signal.addEventListener('abort', () => {
          stopped = true;
          resolve({ content: 'stopped' });
        });
      }),
  });
  const run = query(PROMPT, scripted([held(calls('Echo'))], { tools: () => [tool] }), new AbortController().signal);
  for (;;) {
    const step = await run.next();
    if (step.done === true || running(step.value)) break;
  }
  await run.return({ reason: 'completed' });
  expect(stopped).toBe(true);
});
