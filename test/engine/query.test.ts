import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { QueryDeps } from '../../src/contracts/query.ts';
import { query } from '../../src/engine/query.ts';
import { drain } from '../support/loop/drain.ts';
import {
  buildHistory,
  calls,
  contextTooLong,
  echoTool,
  empty,
  fails,
  INFO,
  listTransitionReasons,
  overloaded,
  pausedReply,
  queuedMessage,
  refusalReply,
  type ScriptedDeps,
  says,
  scripted,
  truncatedReply,
  unlimitedContext,
  userSays,
} from '../support/loop/scripted.ts';
import { findUnbalancedEvents } from '../support/loop/unbalanced-events.ts';

const PROMPT = [userSays('do it')];

async function run(deps: ScriptedDeps, messages = PROMPT) {
  const { events, result } = await drain(query(messages, deps, new AbortController().signal));
  return { events, result, reasons: listTransitionReasons(events), history: buildHistory(PROMPT, events) };
}

const listWarnings = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' && event.level === 'warn' ? [event.text] : []));

test('a plain reply completes the query in one request', async () => {
  const deps = scripted([says('hello')]);
  const { result, reasons, history } = await run(deps);
  expect({ result, reasons, calls: deps.calls() }).toEqual({ result: { reason: 'completed' }, reasons: [], calls: 1 });
  expect(history.map((message) => message.role)).toEqual(['user', 'assistant']);
});

test('a reply with calls is followed by one message with all results in call order, then attachments', async () => {
  const deps = scripted(
    [calls({ name: 'Echo', id: 'a', input: { n: 1 } }, { name: 'Echo', id: 'b', input: { n: 2 } }), says('done')],
    {
      attachments: async () => ['a file changed'],
    },
  );
  const { result, reasons, history } = await run(deps);
  expect(result).toEqual({ reason: 'completed' });
  expect(reasons).toEqual(['next_turn']);
  expect(history[2]).toMatchObject({
    role: 'user',
    origin: 'results',
    blocks: [
      { type: 'tool_result', tool_use_id: 'a', content: 'echo {"n":1}' },
      { type: 'tool_result', tool_use_id: 'b', content: 'echo {"n":2}' },
      { type: 'text', text: 'a file changed' },
    ],
  });
});

test('a call continues the loop, whatever the stop reason', async () => {
  const deps = scripted([{ ...calls('Echo'), stop: 'end_turn' }, says('done')]);
  const { reasons } = await run(deps);
  expect(reasons).toEqual(['next_turn']);
});

test('an overloaded model is replaced by the fallback, and its thinking is omitted from the next request', async () => {
  const thinking = { type: 'thinking' as const, thinking: 'hm', signature: 'sig' };
  const first = { ...calls('Echo'), blocks: [thinking, ...calls('Echo').blocks] };
  const deps = scripted([first, overloaded(), says('from b')], {
    config: { chain: [{ model: 'model-a' }, { model: 'model-b' }] },
  });
  const { result, reasons, events, history } = await run(deps);
  expect(result.reason).toBe('completed');
  expect(reasons).toEqual(['next_turn', 'fallback_retry']);
  expect(events).toContainEqual({
    type: 'notice',
    level: 'warn',
    topic: 'fallback',
    text: 'Switched to model-b: scripted overloaded',
  });
  const third = deps.requests()[2];
  expect(third?.model).toBe('model-b');
  expect(JSON.stringify(third?.messages)).not.toContain('thinking');
  expect(JSON.stringify(history)).toContain('"thinking":"hm"');
});

test('a failure without a fallback ends the query and is reported once', async () => {
  const deps = scripted([fails('auth', { status: 401 })]);
  const { result, events } = await run(deps);
  expect(result).toMatchObject({ reason: 'api_error', failure: { kind: 'auth' } });
  expect(events.filter((event) => event.type === 'notice' && event.level === 'error')).toHaveLength(1);
});

test('staged collapses are applied before a compaction', async () => {
  let staged = true;
  const drainOnce: QueryDeps['context']['drain'] = async () => {
    const was = staged;
    staged = false;
    return was;
  };
  const deps = scripted([contextTooLong(), says('fits')], { context: { ...unlimitedContext, drain: drainOnce } });
  const { reasons, result } = await run(deps);
  expect(reasons).toEqual(['collapse_drain_retry']);
  expect(result).toEqual({ reason: 'completed' });
});

test('a context that is too long is compacted once and sent again', async () => {
  const deps = scripted([contextTooLong(), says('fits')]);
  const { reasons, events, history } = await run(deps);
  expect(reasons).toEqual(['reactive_compact_retry']);
  expect(events.some((event) => event.type === 'compacted')).toBe(true);
  expect(history.map((message) => message.role)).toEqual(['boundary', 'user', 'assistant']);
});

test('the compaction is for the model in use now, not for the skipped one', async () => {
  const asked: (string | undefined)[] = [];
  const deps = scripted([overloaded(), contextTooLong(), says('fits')], {
    config: { chain: [{ model: 'model-a' }, { model: 'model-b' }] },
    context: {
      ...unlimitedContext,
      compact: (messages, trigger, signal, model) => {
        asked.push(model);
        return unlimitedContext.compact(messages, trigger, signal);
      },
    },
  });
  expect((await run(deps)).result).toEqual({ reason: 'completed' });
  expect(asked).toEqual(['model-b']);
});

test('a context that stays full after compaction is reported, not retried for ever', async () => {
  const deps = scripted([], { after: contextTooLong() });
  const { result } = await run(deps);
  expect(result.reason).toBe('prompt_too_long');
  expect(deps.calls()).toBe(2);
});

test('a reply that reached the end of the window is compacted too', async () => {
  const deps = scripted([says('and then', 'model_context_window_exceeded'), says('fits')]);
  const { reasons, events } = await run(deps);
  expect(reasons).toEqual(['reactive_compact_retry']);
  expect(events.some((event) => event.type === 'tombstone')).toBe(true);
});

test('media that is too large is removed once, then compacted, then reported as an image error', async () => {
  const deps = scripted([], { after: fails('media_too_large') });
  const { result, reasons } = await run(deps);
  expect(result.reason).toBe('image_error');
  expect(reasons).toEqual(['reactive_compact_retry']);
  expect(deps.calls()).toBe(3);
});

test.each([
  ...(['overloaded', 'rate_limited', 'not_found', 'invalid', 'server', 'stalled', 'cut', 'refused'] as const).map(
    (kind) => [kind, ['fallback_retry']] as const,
  ),
  // Another model would have the same key, and the same lack of a network.
  ...(['auth', 'network'] as const).map((kind) => [kind, []] as const),
])('when the first model fails with %s, the next of the chain is used: %j', async (kind, wanted) => {
  const chain = [{ model: 'model-a' }, { model: 'model-b' }];
  expect((await run(scripted([fails(kind), says('from b')], { config: { chain } }))).reasons).toEqual(wanted);
});

test('a cut-off reply is repeated with the full output limit, then continued at most three times', async () => {
  const deps = scripted([], { after: truncatedReply('piece') });
  const { result, reasons, history } = await run(deps);
  expect(result.reason).toBe('max_output_tokens');
  expect(reasons).toEqual([
    'max_output_tokens_escalate',
    'max_output_tokens_recovery',
    'max_output_tokens_recovery',
    'max_output_tokens_recovery',
  ]);
  expect(deps.requests().map((request) => request.maxOutputTokens)).toEqual([8_000, 64_000, 64_000, 64_000, 64_000]);
  expect(deps.requests()[1]?.messages).toEqual(deps.requests()[0]?.messages);
  expect(history.filter((message) => message.role === 'assistant')).toHaveLength(4);
});

test('a model at its highest output limit is continued at once', async () => {
  const deps = scripted([truncatedReply(), says('rest')], {
    modelInfo: (id) => ({ ...INFO, id, defaultOutputTokens: 64_000 }),
  });
  expect((await run(deps)).reasons).toEqual(['max_output_tokens_recovery']);
});

test.each([
  ['raised to what the window has left', 150_000, [8_000, 49_000]],
  ['left as it is in a window that is nearly full', 195_000, [8_000, 8_000]],
])('an output limit is %s', async (_what, inputTokens, caps) => {
  const usage = { inputTokens, outputTokens: 8_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const deps = scripted([{ ...truncatedReply(), usage }, says('rest')]);
  expect((await run(deps)).result.reason).toBe('completed');
  expect(deps.requests().map((request) => request.maxOutputTokens)).toEqual(caps);
});

test.each([
  ['raised', [truncatedReply(), fails('output_limit'), says('fine')], {}, [8_000, 64_000, 8_000]],
  ['usual', [fails('output_limit'), says('fine')], {}, [8_000, 4_096]],
  [
    'large',
    [fails('output_limit'), fails('output_limit'), says('fine')],
    { defaultOutputTokens: 128_000, maxOutputTokens: 128_000 },
    [128_000, 64_000, 32_000],
  ],
  ['least', [fails('output_limit')], { defaultOutputTokens: 4_000 }, [4_000]],
])(
  'a provider that refuses the %s output limit is sent a lower one, as long as there is one',
  async (_which, replies, info, caps) => {
    const deps = scripted(replies, { modelInfo: (id) => ({ ...INFO, id, ...info }) });
    const { result } = await run(deps);
    expect(deps.requests().map((request) => request.maxOutputTokens)).toEqual(caps);
    expect(result.reason).toBe(caps.length > 1 ? 'completed' : 'max_output_tokens');
  },
);

test('a call with incomplete input is never run', async () => {
  const cut = {
    blocks: [{ type: 'tool_use' as const, id: 'x', name: 'Echo', input: '{"a', unparsed: '{"a' }],
    stop: 'max_tokens',
  };
  const deps = scripted([cut, says('whole')]);
  const { events, reasons } = await run(deps);
  expect(reasons).toEqual(['max_output_tokens_escalate']);
  expect(events.some((event) => event.type === 'tool_start')).toBe(false);
});

test('a stop hook blocks with text for the model, at most eight times, and does not reset the compaction budget', async () => {
  const deps = scripted([contextTooLong()], {
    onStop: async () => ({ kind: 'reject', words: 'tests fail' }),
    after: says('done now'),
  });
  const { result, reasons, history, events } = await run(deps);
  expect(result).toEqual({ reason: 'completed' });
  expect(reasons).toEqual(['reactive_compact_retry', ...Array(8).fill('stop_hook_blocking')]);
  expect(history.filter((message) => message.role === 'user' && message.origin === 'hook')).toHaveLength(8);
  expect(events.some((event) => event.type === 'notice' && event.level === 'warn' && event.topic === 'stop_hook')).toBe(
    true,
  );
});

test('compaction after a blocking stop hook is not repeated: no endless loop', async () => {
  let asked = 0;
  const onStop = async () => {
    asked += 1;
    return { kind: 'reject', words: 'again' } as const;
  };
  const deps = scripted([contextTooLong(), says('a'), contextTooLong()], { onStop, after: contextTooLong() });
  const { result } = await run(deps);
  expect(result.reason).toBe('prompt_too_long');
  expect(asked).toBe(1);
});

test('a hook may end the run instead of continuing', async () => {
  const deps = scripted([says('x')], { onStop: async () => ({ kind: 'prevent', words: 'enough' }) });
  expect((await run(deps)).result).toEqual({ reason: 'stop_hook_prevented', words: 'enough' });
});

test('stop hooks are not called for an API error', async () => {
  let asked = 0;
  const onStop = async () => {
    asked += 1;
    return { kind: 'pass' } as const;
  };
  await run(scripted([fails('server')], { onStop }));
  expect(asked).toBe(0);
});

test('a token budget continues until gains diminish', async () => {
  const deps = scripted([], { config: { tokenBudget: 100_000 } });
  const { reasons, result } = await run(deps);
  expect(reasons).toEqual(Array(3).fill('token_budget_continuation'));
  expect(result).toEqual({ reason: 'completed' });
});

test('a nearly used token budget stops', async () => {
  expect((await run(scripted([], { config: { tokenBudget: 22 } }))).reasons).toEqual([]);
});

test('a paused turn is continued, at most ten times in a row', async () => {
  const deps = scripted([], { after: pausedReply() });
  const { reasons, result, events } = await run(deps);
  expect(reasons).toEqual(Array(10).fill('pause_turn_resume'));
  expect(listWarnings(events)).toEqual([expect.stringContaining('paused the reply 10 times in a row')]);
  // As it is: nobody says anything behind it.
  expect(deps.requests().map(({ messages }) => messages.map(({ role }) => role))).toEqual([
    ['user'],
    ...Array(10).fill(['user', 'assistant']),
  ]);
  expect(result).toEqual({ reason: 'completed' });
});

test('an empty reply is nudged once, and no empty message is ever sent', async () => {
  const deps = scripted([], { after: empty() });
  const { reasons, result, history, events } = await run(deps);
  expect(reasons).toEqual(['empty_response_nudge']);
  expect(listWarnings(events)).toEqual([expect.stringContaining('The model said nothing')]);
  expect(result).toEqual({ reason: 'completed' });
  expect(history.some((message) => message.role === 'assistant')).toBe(false);
});

test('a queued follow-up starts when everything else is done', async () => {
  const deps = scripted([says('one'), says('two')], { followUps: [queuedMessage('after', 'and then')] });
  const { reasons, history } = await run(deps);
  expect(reasons).toEqual(['follow_up']);
  expect(history.map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

test('steering typed while the last reply streamed is delivered before the stop hooks run', async () => {
  const order: string[] = [];
  const steering: ReturnType<typeof queuedMessage>[] = [];
  const deps = scripted([says('one'), says('two')], {
    steering,
    transformRequest: (request) => {
      order.push('request');
      if (order.length === 1) steering.push(queuedMessage('next', 'wait'));
      return request;
    },
    onStop: async () => {
      order.push('hook');
      return { kind: 'pass' };
    },
  });
  const { reasons } = await run(deps);
  expect(reasons).toEqual(['next_turn']);
  expect(order).toEqual(['request', 'request', 'hook']);
});

test('a refusal ends the query and is not sent again', async () => {
  const { result, history } = await run(scripted([{ ...refusalReply(), blocks: [{ type: 'text', text: 'I' }] }]));
  expect(result.reason).toBe('refusal');
  expect(history).toEqual(PROMPT);
});

test('the turn limit ends the query after the results are stored', async () => {
  const { result, history } = await run(scripted([], { config: { maxTurns: 2 }, after: calls('Echo') }));
  expect(result.reason).toBe('max_turns');
  expect(history.at(-1)).toMatchObject({ role: 'user', origin: 'results' });
});

test('a spent budget ends the query before the next request', async () => {
  let cost = 0;
  const deps = scripted([calls('Echo')], {
    config: { maxBudgetUsd: 1 },
    costUsd: () => cost,
    transformRequest: (request) => {
      cost = 2;
      return request;
    },
  });
  expect((await run(deps)).result.reason).toBe('budget_exhausted');
  expect(deps.calls()).toBe(1);
});

test('a full context with no recovery left is blocked before the request', async () => {
  const full = {
    ...unlimitedContext,
    prepare: async (messages: readonly never[]) => ({ messages, view: messages, tokens: 5_000, freedTokens: 0 }),
  };
  const deps = scripted([says('never')], {
    config: { autoCompact: false },
    context: { ...unlimitedContext, prepare: full.prepare },
  });
  const { result } = await run(deps);
  expect(result).toMatchObject({
    reason: 'blocking_limit',
    words: expect.stringContaining('Compact it, or start a new one.'),
  });
  const { result: alone } = await run(deps, [userSays('word '.repeat(5_000))]);
  expect(alone).toMatchObject({ reason: 'blocking_limit', words: expect.stringContaining('Shorten it') });
  expect(deps.calls()).toBe(0);
});

test('three failed compactions in a row are not followed by a fourth', async () => {
  let tried = 0;
  const context: QueryDeps['context'] = {
    ...unlimitedContext,
    prepare: async (messages) => ({ messages, view: messages, tokens: 1_500, freedTokens: 0 }),
    compact: async () => {
      tried += 1;
      return { ok: false, why: 'no summary came' };
    },
  };
  await run(scripted([calls('Echo'), calls('Echo'), calls('Echo'), calls('Echo'), calls('Echo')], { context }));
  expect(tried).toBe(3);
});

test('a refused signature is recovered once by omitting all thinking', async () => {
  const deps = scripted([fails('invalid', { refusedPart: 'signature' }), says('ok')]);
  const { result, reasons, events } = await run(deps);
  expect(result.reason).toBe('completed');
  expect(reasons).toEqual([]);
  expect(events).toContainEqual({ type: 'recovery_end', recovery: 'healed', outcome: 'recovered', detail: 'thinking' });
  expect(deps.calls()).toBe(2);
});

test('a refused image removes the newest images of its request, and no earlier or later ones', async () => {
  const image = (data: string) =>
    ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }) as const;
  const shows = echoTool({ name: 'Show', call: async ({ data }) => ({ content: [image(String(data))] }) });
  const show = (data: string) => calls({ name: 'Show', input: { data } });
  const refused = fails('invalid', { refusedPart: 'image' });
  const deps = scripted([show('AAAA'), refused, show('BBBB'), show('CCCC'), refused, show('DDDD'), says('ok')], {
    tools: () => [shows],
  });
  const { result, events } = await run(deps);
  expect(result.reason).toBe('completed');
  const pictures = deps
    .requests()
    .map(({ messages }) =>
      ['AAAA', 'BBBB', 'CCCC', 'DDDD']
        .filter((data) => JSON.stringify(messages).includes(`"media_type":"image/png","data":"${data}"`))
        .join(' '),
    );
  expect(pictures).toEqual(['', 'AAAA', '', 'BBBB', 'BBBB CCCC', 'BBBB', 'BBBB DDDD']);
  expect(events.filter(({ type }) => type === 'recovery_end')).toHaveLength(2);
});

test('a refusal during a reply also drops the calls it started', async () => {
  const failure = { kind: 'invalid' as const, message: 'no pictures', refusedPart: 'image' as const };
  let stopped = false;
  const { promise: hold, resolve: began } = Promise.withResolvers<void>();
  const slow = echoTool({
    call: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        began();
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(new Error('stopped'));
        });
      }),
  });
  const deps = scripted([{ ...calls('Echo'), failure, hold }, says('ok')], { tools: () => [slow] });
  const { result, events } = await run(deps);
  expect(result.reason).toBe('completed');
  expect(stopped).toBe(true);
  expect(findUnbalancedEvents(events)).toEqual([]);
});

test('a model port that throws ends the query as a model error', async () => {
  expect((await run(scripted([{ blocks: [], throws: 'boom' }]))).result.reason).toBe('model_error');
});

test('a stream that breaks after a call has run keeps the result and continues', async () => {
  const broken = { ...calls('Echo'), failure: { kind: 'cut' as const, message: 'cut' } };
  const { reasons, result } = await run(scripted([broken, says('done')]));
  expect(reasons).toEqual(['next_turn']);
  expect(result).toEqual({ reason: 'completed' });
});
