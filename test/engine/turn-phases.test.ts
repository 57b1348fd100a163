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
  listTransitionReasons,
  type Overrides,
  overloaded,
  pausedReply,
  queuedMessage,
  refusalReply,
  type ScriptedReply,
  says,
  scripted,
  truncatedReply,
  unlimitedContext,
  userSays,
} from '../support/loop/scripted.ts';
import { findUnbalancedEvents } from '../support/loop/unbalanced-events.ts';

const PROMPT = [userSays('do it')];
const TWO_MODELS = { chain: [{ model: 'model-a' }, { model: 'model-b' }] };
const objectsOnce = (): QueryDeps['onStop'] => {
  let asked = 0;
  return async () => {
    asked += 1;
    return asked === 1 ? { kind: 'reject', words: 'not yet' } : { kind: 'pass' };
  };
};
const drainsOnce = (): QueryDeps['context'] => {
  let staged = true;
  return {
    ...unlimitedContext,
    drain: async () => {
      const was = staged;
      staged = false;
      return was;
    },
  };
};

async function run(replies: readonly ScriptedReply[], overrides: Overrides = {}) {
  const deps = scripted(replies, overrides);
  const { events, result } = await drain(query(PROMPT, deps, new AbortController().signal));
  expect(findUnbalancedEvents(events)).toEqual([]);
  const trace = [...listTransitionReasons(events), result.reason];
  return { deps, events, result, trace, history: buildHistory(PROMPT, events) };
}

const TRACES: readonly (readonly [string, readonly ScriptedReply[], Overrides, readonly string[]])[] = [
  ['says and is done', [says('hi')], {}, ['completed']],
  ['calls twice', [calls('Echo'), calls('Echo')], {}, ['next_turn', 'next_turn', 'completed']],
  ['is overloaded', [overloaded()], { config: TWO_MODELS }, ['fallback_retry', 'completed']],
  ['is not there', [fails('not_found')], { config: TWO_MODELS }, ['fallback_retry', 'completed']],
  ['does not fit, folds', [contextTooLong()], { context: drainsOnce() }, ['collapse_drain_retry', 'completed']],
  [
    'does not fit even folded',
    [contextTooLong(), contextTooLong()],
    { context: drainsOnce() },
    ['collapse_drain_retry', 'reactive_compact_retry', 'completed'],
  ],
  [
    'never fits',
    [contextTooLong(), contextTooLong(), contextTooLong()],
    { context: drainsOnce() },
    ['collapse_drain_retry', 'reactive_compact_retry', 'prompt_too_long'],
  ],
  ['is cut off once', [truncatedReply()], {}, ['max_output_tokens_escalate', 'completed']],
  [
    'is cut off twice',
    [truncatedReply(), truncatedReply()],
    {},
    ['max_output_tokens_escalate', 'max_output_tokens_recovery', 'completed'],
  ],
  ['is objected to', [says('x')], { onStop: objectsOnce() }, ['stop_hook_blocking', 'completed']],
  [
    'has a budget left',
    [],
    { config: { tokenBudget: 10_000 } },
    [...Array(3).fill('token_budget_continuation'), 'completed'],
  ],
  ['pauses', [pausedReply()], {}, ['pause_turn_resume', 'completed']],
  ['is empty', [empty()], {}, ['empty_response_nudge', 'completed']],
  ['has a follow-up', [says('x')], { followUps: [queuedMessage('after', 'more')] }, ['follow_up', 'completed']],
  ['refuses', [refusalReply()], {}, ['refusal']],
  ['refuses, another answers', [fails('refused')], { config: TWO_MODELS }, ['fallback_retry', 'completed']],
  ['may not', [fails('auth')], { config: TWO_MODELS }, ['api_error']],
  ['has a limit of turns', [calls('Echo')], { config: { maxTurns: 1 } }, ['max_turns']],
  ['is spent', [], { config: { maxBudgetUsd: 1 }, costUsd: () => 1 }, ['budget_exhausted']],
  ['is stopped by its owner', [calls('Echo')], { shouldStopAfterTurn: () => true }, ['completed']],
  [
    'has everything go wrong at once',
    [
      overloaded(),
      contextTooLong(),
      truncatedReply(),
      truncatedReply(),
      calls('Echo'),
      empty(),
      pausedReply(),
      says('x'),
    ],
    { config: TWO_MODELS, onStop: objectsOnce(), followUps: [queuedMessage('after', 'more')] },
    [
      'fallback_retry',
      'reactive_compact_retry',
      'max_output_tokens_escalate',
      'max_output_tokens_recovery',
      'next_turn',
      'empty_response_nudge',
      'pause_turn_resume',
      'stop_hook_blocking',
      'follow_up',
      'completed',
    ],
  ],
];

test.each(TRACES)('transitions of a conversation that %s', async (_what, replies, overrides, wanted) => {
  expect((await run(replies, overrides)).trace).toEqual(wanted);
});

test('only successful results reset the recovery budget: then a second compaction is tried', async () => {
  expect((await run([contextTooLong(), calls('Echo'), contextTooLong()])).trace).toEqual([
    'reactive_compact_retry',
    'next_turn',
    'reactive_compact_retry',
    'completed',
  ]);
  for (const between of [truncatedReply(), pausedReply(), empty()]) {
    const { trace } = await run([contextTooLong(), between, contextTooLong()]);
    expect(trace.filter((reason) => reason === 'reactive_compact_retry')).toHaveLength(1);
    expect(trace.at(-1)).toBe('prompt_too_long');
  }
});

test('a follow-up resets the guards: an empty reply is nudged again', async () => {
  const { trace } = await run([empty(), says('x'), empty()], { followUps: [queuedMessage('after', 'more')] });
  expect(trace).toEqual(['empty_response_nudge', 'follow_up', 'empty_response_nudge', 'completed']);
});

test('the higher output limit and the fallback model last for the following turns', async () => {
  const { deps } = await run([overloaded(), truncatedReply(), calls('Echo'), calls('Echo')], { config: TWO_MODELS });
  expect(deps.requests().map((request) => `${request.model} ${request.maxOutputTokens}`)).toEqual([
    'model-a 8000',
    'model-b 8000',
    'model-b 64000',
    'model-b 64000',
    'model-b 64000',
  ]);
});

test('a chain is tried once: the last model has no successor', async () => {
  const { trace, deps } = await run([overloaded(), overloaded()], { config: TWO_MODELS });
  expect(trace).toEqual(['fallback_retry', 'api_error']);
  expect(deps.requests().map((request) => request.model)).toEqual(['model-a', 'model-b']);
});

test('a fallback aborts running calls, discards shown text, and is reported before the switch', async () => {
  const never = echoTool({ call: () => new Promise(() => undefined) });
  const reply = { ...calls({ name: 'Echo', id: 'a' }), failure: { kind: 'not_found' as const, message: 'gone' } };
  const { events, history } = await run([reply, says('b')], { config: TWO_MODELS, tools: () => [never] });
  const reported = events.flatMap((event) => {
    if (event.type === 'tool_end') return [`${event.type} ${event.status}`];
    return event.type === 'tombstone' || event.type === 'notice' ? [event.type] : [];
  });
  expect(reported).toEqual(['tool_end discarded', 'tombstone', 'notice']);
  expect(history.map((message) => message.role)).toEqual(['user', 'assistant']);
});

const THREE_MODELS = { chain: [...TWO_MODELS.chain, { model: 'model-c' }] };

test.each([
  ['answers', [overloaded(), says('b')], ['start', 'recovered', 'answer']],
  ['fails too', [overloaded(), fails('auth')], ['start', 'released']],
  [
    'gives way to a third',
    [overloaded(), overloaded(), says('c')],
    ['start', 'released', 'start', 'recovered', 'answer'],
  ],
])('a fallback is reported as successful once the new model has answered: it %s', async (_how, replies, expected) => {
  const { events } = await run(replies, { config: THREE_MODELS });
  const reported = events.flatMap((event) => {
    if (event.type === 'recovery_start') return ['start'];
    if (event.type === 'recovery_end') return [event.outcome];
    return event.type === 'message_end' && event.message.role === 'assistant' ? ['answer'] : [];
  });
  expect(reported).toEqual(expected);
});

test.each([
  ['a fallback', [overloaded()], { config: TWO_MODELS }],
  ['a higher output cap', [truncatedReply()], {}],
])(
  '%s repeats the failed request byte for byte, whatever the context would now contain',
  async (_what, replies, more) => {
    let looks = 0;
    const context: QueryDeps['context'] = {
      ...unlimitedContext,
      prepare: async (messages) => {
        looks += 1;
        return { messages, view: [...messages, userSays(`look ${looks}`)], tokens: 0, freedTokens: 0 };
      },
    };
    const { deps } = await run(replies, { ...more, context, steering: [] });
    const [first, second] = deps.requests();
    expect(second?.messages).toEqual(first?.messages);
    expect(looks).toBe(1);
  },
);

test('a cut-off reply keeps its text, but neither trailing thinking nor an incomplete call', async () => {
  const cut: ScriptedReply = {
    blocks: [
      { type: 'text', text: 'half' },
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'tool_use', id: 'x', name: 'Echo', input: '{"a', unparsed: '{"a' },
    ],
    stop: 'max_tokens',
  };
  const { deps, trace } = await run([truncatedReply(), cut]);
  expect(trace).toContain('max_output_tokens_recovery');
  expect(deps.requests()[2]?.messages.slice(1)).toMatchObject([
    { role: 'assistant', blocks: [{ type: 'text', text: 'half' }] },
    { role: 'user', blocks: [{ type: 'text', text: expect.stringContaining('exactly where it stopped') }] },
  ]);
});

test('steering typed during a stop hook follows the text of the hook', async () => {
  const steering: ReturnType<typeof queuedMessage>[] = [];
  const { deps } = await run([says('x')], {
    steering,
    onStop: async ({ stopHookActive }) => {
      if (stopHookActive) return { kind: 'pass' };
      steering.push(queuedMessage('next', 'and hurry'));
      return { kind: 'reject', words: 'tests fail' };
    },
  });
  expect(deps.requests()[1]?.messages.at(-1)).toMatchObject({
    blocks: [{ text: 'tests fail' }, { text: 'and hurry' }],
  });
});

test('steering is delivered one at a time, after the results of a batch too', async () => {
  const steering = [queuedMessage('next', 'one'), queuedMessage('next', 'two')];
  const { deps } = await run([calls('Echo')], { steering });
  const words = deps.requests().map((request) => JSON.stringify(request.messages).match(/one|two/g) ?? []);
  expect(words).toEqual([['one'], ['one', 'two']]);
});

test('a token budget counts turns with calls too, and states the used share', async () => {
  const { trace, history } = await run([calls('Echo'), says('x')], { config: { tokenBudget: 50 } });
  expect(trace).toEqual(['next_turn', 'token_budget_continuation', 'completed']);
  expect(JSON.stringify(history)).toContain('80 % of the token budget is used');
});

test('a withheld error that is recovered is neither shown nor stored', async () => {
  const { events, history } = await run([contextTooLong(), truncatedReply(), truncatedReply(), overloaded()], {
    config: TWO_MODELS,
  });
  expect(events.filter((event) => event.type === 'notice' && event.level === 'error')).toEqual([]);
  expect(JSON.stringify(history)).not.toContain('scripted');
});

test('a withheld error that cannot be recovered is reported once, and never sent to the model', async () => {
  const context: QueryDeps['context'] = {
    ...unlimitedContext,
    compact: async () => ({ ok: false, why: 'no summary' }),
  };
  const { events, history, result } = await run([contextTooLong()], { context });
  expect(events.filter((event) => event.type === 'recovery_end')).toMatchObject([
    { recovery: 'reactive_compact_retry', outcome: 'released', detail: 'no summary' },
  ]);
  expect(events.filter((event) => event.type === 'notice' && event.level === 'error')).toHaveLength(1);
  expect(result).toMatchObject({ reason: 'prompt_too_long', words: 'scripted too_long' });
  expect(history).toEqual(PROMPT);
});

test('a full context is compacted before it is sent, and the messages start anew', async () => {
  const context: QueryDeps['context'] = {
    ...unlimitedContext,
    prepare: async (messages) => ({
      messages,
      view: messages,
      tokens: messages.some((message) => message.role === 'boundary') ? 10 : 1_500,
      freedTokens: 0,
    }),
  };
  const { deps, events, trace } = await run([says('x')], { context });
  expect(trace).toEqual(['completed']);
  expect(events.filter((event) => event.type === 'recovery_end')).toMatchObject([
    { recovery: 'auto_compact', outcome: 'recovered' },
  ]);
  expect(JSON.stringify(deps.requests()[0]?.messages)).toContain('what was said so far');
});

test('a reply that broke off before its first complete block leaves nothing on the screen', async () => {
  const opened: ScriptedReply = { blocks: [], stop: 'end_turn', failure: { kind: 'cut', message: 'cut' } };
  const { events } = await run([opened]);
  expect(events.filter((event: AgentEvent) => event.type === 'tombstone')).toHaveLength(1);
});

test('reply ids are made unique when a server repeats them', async () => {
  const deps = scripted([calls('Echo'), says('x')]);
  const model: QueryDeps['model'] = {
    name: 'same',
    async *stream(request, options, signal) {
      const stream = deps.model.stream(request, options, signal);
      for (;;) {
        const step = await stream.next();
        if (step.done === true) return step.value;
        yield step.value.type === 'message_start' ? { ...step.value, messageId: 'msg' } : step.value;
      }
    },
  };
  const { events } = await drain(query(PROMPT, { ...deps, model }, new AbortController().signal));
  const ids = buildHistory(PROMPT, events).map((message) => message.id);
  expect(new Set(ids).size).toBe(ids.length);
});
