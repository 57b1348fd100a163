import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { isJsonObject, type JsonObject } from '../../../src/contracts/json.ts';
import { ToolFailure } from '../../../src/contracts/tool.ts';
import { query } from '../../../src/engine/query.ts';
import { createToolScheduler } from '../../../src/engine/tool-calls/tool-scheduler.ts';
import { longTest } from '../../support/long-test.ts';
import { drain } from '../../support/loop/drain.ts';
import { buildHistory, calls, echoTool, type Overrides, scripted, userSays } from '../../support/loop/scripted.ts';

const PROMPT = [userSays('do it')];

async function results(reply: ReturnType<typeof calls>, overrides: Overrides) {
  const { events } = await drain(query(PROMPT, scripted([reply], overrides), new AbortController().signal));
  const message = buildHistory(PROMPT, events)[2];
  return { events, blocks: message?.role === 'user' ? message.blocks : [] };
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

const order = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'tool_start' || event.type === 'tool_end' ? [`${event.type} ${event.callId}`] : [],
  );

test('a call starts while the reply still streams', async () => {
  let release: () => void = () => undefined;
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tool = echoTool({
    call: async () => {
      release();
      return { content: 'ran' };
    },
  });
  const { events } = await drain(
    query(PROMPT, scripted([{ ...calls('Echo'), hold }], { tools: () => [tool] }), new AbortController().signal),
  );
  const kinds = events.map((event) => event.type);
  expect(kinds.indexOf('tool_start')).toBeLessThan(kinds.indexOf('turn_end'));
});

test('a call is reported as complete before it starts, so it is stored first', async () => {
  const { events } = await results(calls('Echo'), {});
  const kinds = events.map((event) => event.type);
  expect(kinds.indexOf('block_end')).toBeLessThan(kinds.indexOf('tool_start'));
});

test('concurrency-safe calls run in parallel, others alone and in call order; results keep call order', async () => {
  const gates = new Map<string, () => void>();
  const wait = (id: string) => new Promise<void>((resolve) => gates.set(id, resolve));
  const safe = echoTool({
    name: 'Safe',
    call: async (_input, { callId }) => {
      if (callId === 'b') gates.get('a')?.();
      else if (callId === 'a') {
        await wait('a');
        await nextTick();
      }
      return { content: callId };
    },
  });
  const alone = echoTool({ name: 'Alone', safe: 'alone', call: async (_input, { callId }) => ({ content: callId }) });
  const reply = calls(
    { name: 'Safe', id: 'a' },
    { name: 'Safe', id: 'b' },
    { name: 'Alone', id: 'c' },
    { name: 'Safe', id: 'd' },
  );
  const { events, blocks } = await results(reply, { tools: () => [safe, alone] });
  expect(order(events)).toEqual([
    'tool_start a',
    'tool_start b',
    'tool_end b',
    'tool_end a',
    'tool_start c',
    'tool_end c',
    'tool_start d',
    'tool_end d',
  ]);
  expect(blocks.map((block) => block.type === 'tool_result' && block.content)).toEqual(['a', 'b', 'c', 'd']);
});

test('at most the configured number of calls run at once', async () => {
  let running = 0;
  let most = 0;
  const tool = echoTool({
    call: async () => {
      running += 1;
      most = Math.max(most, running);
      await nextTick();
      running -= 1;
      return { content: 'x' };
    },
  });
  await results(calls('Echo', 'Echo', 'Echo', 'Echo', 'Echo'), { tools: () => [tool], config: { parallelCalls: 2 } });
  expect(most).toBe(2);
});

test.each([
  [
    'a tool that cannot do it',
    async () => Promise.reject(new ToolFailure('Try the other file.')),
    'Try the other file.',
  ],
  [
    'a tool with a bug',
    async () => Promise.reject(new TypeError('x is undefined')),
    'Echo failed unexpectedly: x is undefined',
  ],
  ['a tool that says nothing', async () => ({ content: ' ' }), '(no output)'],
])('%s becomes a result, never a crash', async (_name, call, words) => {
  const { blocks } = await results(calls('Echo'), { tools: () => [echoTool({ call })] });
  expect(JSON.stringify(blocks[0])).toContain(words);
});

test('an unknown tool is answered with the names of the known ones', async () => {
  const { blocks } = await results(calls('Nope'), {});
  expect(blocks).toMatchObject([{ content: 'There is no tool called Nope. The tools are: Echo.', is_error: true }]);
});

test('a call runs in the folder it was approved for, even if a parallel call changed the folder', async () => {
  let cwd = '/decided';
  const seen: string[] = [];
  const tool = echoTool({
    call: async (_input, context) => {
      seen.push(context.cwd);
      return { content: 'ran' };
    },
  });
  const gate: Overrides['gate'] = async (request) => {
    cwd = '/elsewhere';
    return { behavior: 'allow', input: request.input };
  };
  await results(calls('Echo'), { tools: () => [tool], cwd: () => cwd, gate });
  expect(seen).toEqual(['/decided']);
});

test('input that is not an object is answered with an error, and sent back wrapped', async () => {
  const deps = scripted([{ blocks: [{ type: 'tool_use', id: 'a', name: 'Echo', input: ['x'] }], stop: 'tool_use' }]);
  await drain(query(PROMPT, deps, new AbortController().signal));
  expect(deps.requests()[1]?.messages.slice(1)).toMatchObject([
    { blocks: [{ type: 'tool_use', input: { input: ['x'] } }] },
    { blocks: [{ type: 'tool_result', content: 'Not an object.', is_error: true }] },
  ]);
});

test('a hook that denies blocks the call, and changed input is used', async () => {
  const denied = await results(calls('Echo'), { beforeCall: async () => ({ deny: 'not here' }) });
  expect(denied.blocks).toMatchObject([
    { content: 'A hook refused this call; nothing was run or changed. It says: not here', is_error: true },
  ]);
  const changed = await results(calls('Echo'), {
    beforeCall: async () => ({ input: { n: 2 }, context: 'mind the gap' }),
  });
  expect(changed.blocks).toMatchObject([{ content: 'echo {"n":2}' }, { type: 'text', text: 'mind the gap' }]);
});

test('the model is told when the user changed the input of a call, and only then', async () => {
  const answered = (input: JsonObject) =>
    results(calls('Echo'), { gate: async () => ({ behavior: 'allow' as const, input }) });
  expect((await answered({ n: 3 })).blocks).toMatchObject([
    { content: 'echo {"n":3}' },
    { type: 'text', text: expect.stringMatching(/changed this call.*\{"n":3\}/s) },
  ]);
  const [asked] = (await results(calls('Echo'), {})).events.flatMap((event) =>
    event.type === 'tool_start' && isJsonObject(event.input) ? [event.input] : [],
  );
  expect((await answered({ ...asked })).blocks).toHaveLength(1);
});

test.each([
  ['pre-hook', { beforeCall: () => Promise.reject(new Error('oops')) }],
  ['gate', { gate: () => Promise.reject(new Error('oops')) }],
] as const)('a %s that throws denies the call and the loop goes on', async (_name, overrides) => {
  const { blocks } = await results(calls('Echo'), overrides);
  expect(blocks).toMatchObject([{ type: 'tool_result', is_error: true }]);
});

test('a hook that stops the run does so before the tool runs', async () => {
  const deps = scripted([calls('Echo')], { beforeCall: async () => ({ stop: 'no more' }) });
  const { result, events } = await drain(query(PROMPT, deps, new AbortController().signal));
  expect(result).toEqual({ reason: 'hook_stopped', words: 'no more' });
  expect(buildHistory(PROMPT, events).at(-1)).toMatchObject({ origin: 'results' });
});

test('a structured answer ends the run with its value', async () => {
  const tool = echoTool({
    call: async () => ({ content: 'ok', endsRun: { reason: 'structured_output', value: { a: 1 } } }),
  });
  const deps = scripted([calls('Echo')], { tools: () => [tool] });
  const { result } = await drain(query(PROMPT, deps, new AbortController().signal));
  expect(result).toEqual({ reason: 'completed', structuredOutput: { a: 1 } });
});

test('a summary of the calls is shown when it arrives, without waiting for it', async () => {
  const deps = scripted([calls('Echo')], { summarizeCalls: async () => 'Said its input' });
  const { events } = await drain(query(PROMPT, deps, new AbortController().signal));
  expect(events).toContainEqual({ type: 'calls_summary', text: 'Said its input' });
  const never = scripted([calls('Echo')], { summarizeCalls: () => new Promise(() => undefined) });
  expect((await drain(query(PROMPT, never, new AbortController().signal))).result).toEqual({ reason: 'completed' });
});

test('calls wait for the end of the reply if configured', async () => {
  const { events } = await results(calls('Echo', 'Echo'), { config: { toolExecution: 'after-reply' } });
  const kinds = events.map((event) => event.type);
  const before = kinds.slice(0, kinds.indexOf('tool_start'));
  expect(before.filter((kind) => kind === 'block_end')).toHaveLength(2);
});

longTest(
  '20,000 calls that fail at once behind a slow one leave the event loop free, and each has its result',
  async () => {
    let release: () => void = () => undefined;
    const slow = echoTool({
      safe: 'alone',
      call: () =>
        new Promise((resolve) => {
          release = () => resolve({ content: 'slow' });
        }),
    });
    const deps = { ...scripted([], { tools: () => [slow] }), now: () => performance.now() };
    const ended: string[] = [];
    const scheduler = createToolScheduler(
      deps,
      (event) => event.type === 'tool_end' && ended.push(event.callId),
      new AbortController().signal,
    );
    const ids = ['slow', ...Array.from({ length: 20_000 }, (_, at) => `call-${at}`)];
    for (const id of ids)
      scheduler.add({ type: 'tool_use', id, name: id === 'slow' ? 'Echo' : 'none', input: {} }, 'm');
    await nextTick();
    release();
    let ticks = 0;
    let isSettled = false;
    const settled = scheduler.whenSettled().then(() => {
      isSettled = true;
    });
    while (!isSettled) {
      ticks += 1;
      await nextTick();
    }
    await settled;
    expect(ticks).toBeGreaterThan(2);
    expect(ended).toEqual(ids);
    expect(scheduler.listCompleted().map(({ result }) => result.tool_use_id)).toEqual(ids);
  },
);
