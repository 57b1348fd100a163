import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/contracts/json.ts';
import type { QueryDeps } from '../../../src/contracts/query.ts';
import { ToolFailure, type ToolOutcome } from '../../../src/contracts/tool.ts';
import { query } from '../../../src/engine/query.ts';
import { drain } from '../../support/loop/drain.ts';
import { findInvariantViolations } from '../../support/loop/invariants.ts';
import {
  echoTool,
  listTransitionReasons,
  type Overrides,
  queuedMessage,
  type ScriptedReply,
  scripted,
  unlimitedContext,
  userSays,
} from '../../support/loop/scripted.ts';
import { findUnbalancedEvents } from '../../support/loop/unbalanced-events.ts';
import { someOf } from '../../support/runs.ts';

type Step = { readonly input: JsonObject; readonly more?: readonly JsonObject[]; readonly text?: string };

const MAX_REPLIES = 60;
/** For repetitions of which five count once. */
const MANY_REPLIES = 130;

/** Runs a model that makes these steps for ever; `outcome` answers its calls. */
async function repeat(
  steps: (index: number) => Step,
  outcome: (input: JsonObject, index: number, callId: string) => ToolOutcome,
  overrides: Overrides = {},
  maxReplies = MAX_REPLIES,
) {
  let results = 0;
  const replies = Array.from({ length: maxReplies }, (_, index): ScriptedReply => {
    const { input: first, more = [], text } = steps(index);
    const calls = [first, ...more].map((input, at) => {
      const id = at === 0 ? `t${index}` : `t${index}-${at}`;
      return { type: 'tool_use', id, name: 'Echo', input } as const;
    });
    return { blocks: [...(text === undefined ? [] : [{ type: 'text', text } as const]), ...calls], stop: 'tool_use' };
  });
  const tool = echoTool({
    call: async (input, { callId }) => {
      results += 1;
      return outcome(input, results - 1, callId);
    },
  });
  const deps = scripted(replies, { tools: () => [tool], ...overrides });
  const { events, result } = await drain(query([userSays('do it')], deps, new AbortController().signal));
  expect(findUnbalancedEvents(events)).toEqual([]);
  expect(deps.requests().flatMap(findInvariantViolations)).toEqual([]);
  const reminders = deps
    .requests()
    .map(({ messages }) => JSON.stringify(messages.at(-1)).includes('You repeat yourself'));
  return { result, reasons: listTransitionReasons(events), requests: deps.calls(), reminders };
}

const same = () => ({ content: 'same' });
const LONG_RESULT = 'the same line of a long result\n'.repeat(20);
const ORDERS = ['abc', 'bca', 'acb', 'cab', 'bac', 'cba'].join('');
const names = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf'];
const newName = (index: number): string =>
  [index % 7, Math.floor(index / 7) % 7, Math.floor(index / 49)].map((at) => names[at]).join('-');
const diff = (removed: string, added: string): ToolOutcome => ({
  content: 'edited',
  display: {
    kind: 'diff',
    path: 'a.ts',
    created: false,
    added: 1,
    removed: 1,
    hunks: [
      {
        oldStart: 1,
        oldLines: 1,
        newStart: 1,
        newLines: 1,
        lines: [
          { kind: 'del', text: removed },
          { kind: 'add', text: added },
        ],
      },
    ],
  },
});

const LOOPS: readonly (readonly [
  string,
  (index: number) => Step,
  (input: JsonObject, index: number, callId: string) => ToolOutcome,
  number,
])[] = [
  ['the same call', () => ({ input: { a: 1 } }), same, 8],
  [
    'the same call whose result differs only in times',
    () => ({ input: { command: 'npm test' } }),
    (_, index) => ({ content: `5 pass in ${index * 1.5} s at 12:0${index % 10}:13` }),
    8,
  ],
  [
    'the same failing call, worded differently each time',
    () => ({ input: { a: 1 } }),
    (_, index) => ({ content: `failed, try ${index}`, isError: true }),
    8,
  ],
  [
    'the same failing call, slightly varied each time',
    (index) => ({ input: { command: `make${' '.repeat(index)} 2>&1 | tail -${index}`, description: `Try ${index}` } }),
    () => ({ content: 'no rule', isError: true }),
    8,
  ],
  [
    'the same call under other labels',
    (index) => ({ input: { command: 'ls', description: `Look ${index}` } }),
    same,
    8,
  ],
  ['two steps in turn', (index) => ({ input: { step: index % 2 } }), same, 11],
  ['four steps in turn', (index) => ({ input: { step: index % 4 } }), same, 17],
  ['seven steps in turn', (index) => ({ input: { step: index % 7 } }), same, 27],
  ['twelve steps in turn', (index) => ({ input: { step: index % 12 } }), same, 42],
  [
    'the same call under another time limit and comment',
    (index) => ({ input: { command: `ls # try ${index}`, timeout: 1000 * index } }),
    same,
    8,
  ],
  [
    'the same call whose long result is stored in another file each time',
    () => ({ input: { command: 'ls' } }),
    (_input, _index, callId) => ({ content: `the whole is in results/${callId}.txt` }),
    8,
  ],
  [
    'the same calls in any order and number',
    (index) => ({
      input: { step: index % 3 },
      more: [1, 2, ...(index % 5 === 0 ? [0] : [])].map((step) => ({ step: (step + index) % 3 })),
    }),
    same,
    8,
  ],
  [
    'the same sub-agent under another id',
    () => ({ input: { prompt: 'find it' } }),
    (_, index) => ({
      content: `nothing (agent_${index})`,
      display: { kind: 'agent', agentType: 'Explore', summary: 'nothing', calls: 1 },
    }),
    8,
  ],
  [
    'the same call whose result differs only in process ids and addresses',
    () => ({ input: { command: 'run' } }),
    (_, index) => ({ content: `pid ${4000 + 7 * index} at 0x${(index * 977).toString(16)}` }),
    40,
  ],
  [
    'a failing call with one number after the other',
    (index) => ({ input: { command: `cat page-${index}.md`, page: index } }),
    (_, index) => ({ content: `page-${index}.md: not found`, isError: true }),
    40,
  ],
  [
    'the same words',
    (index) => ({ input: { index }, text: 'Let me look.' }),
    (_, index) => ({ content: `${index}` }),
    40,
  ],
  [
    'the same long text',
    (index) => ({ input: { index }, text: 'I am going to look at the file again. '.repeat(8) }),
    (_, index) => ({ content: `${index}` }),
    16,
  ],
  [
    'a change done and undone, with another call between',
    (index) => ({ input: { index: index % 2 === 1 ? 1 : index } }),
    (_, index) => (index % 2 === 1 ? { content: 'failed' } : index % 4 === 0 ? diff('a', 'b') : diff('b', 'a')),
    20,
  ],
  [
    'a change done and undone, with another new call between',
    (index) => ({ input: { index } }),
    (_, index) => (index % 2 === 1 ? { content: `${index}` } : index % 4 === 0 ? diff('a', 'b') : diff('b', 'a')),
    85,
  ],
  ['three steps in changing order', (index) => ({ input: { step: ORDERS[index % 18] ?? '' } }), same, 20],
  ['thirty steps in turn', (index) => ({ input: { step: newName(index % 30) } }), same, 96],
  ['the same arguments in another order', (index) => ({ input: index % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 } }), same, 8],
  [
    'the same command under another comment or label',
    (index) => ({
      input: {
        command: [`# try ${index}\nls`, `echo "try ${newName(index)}" && ls`, `: try ${index}; ls`][index % 3] ?? '',
      },
    }),
    ({ command }) => ({
      content: `${/try [a-z-]+/.exec(String(command).startsWith('echo') ? String(command) : '')?.[0] ?? ''}a.ts`,
    }),
    8,
  ],
  [
    'the same command at other times, on other processes and with other temporary files',
    (index) => ({
      input: {
        command: `kill -9 ${4000 + index}; curl localhost/?t=${1_700_000_000 + index} > /tmp/${newName(index)}`,
      },
    }),
    same,
    40,
  ],
  [
    'a background shell that is started, read and ended',
    (index) => ({
      input: index % 3 === 0 ? { command: 'serve' } : { shell_id: `bash_${Math.floor(index / 3)}`, step: index % 3 },
    }),
    (_, index) => ({ content: `bash_${Math.floor(index / 3)}: port in use` }),
    120,
  ],
  [
    'other calls with the same long result',
    (index) => ({ input: { command: `node ${newName(index)}` } }),
    () => ({ content: LONG_RESULT }),
    40,
  ],
];

test.each(someOf(LOOPS, 4))(
  'a run that repeats %s is reminded, then ended with its own reason',
  async (_, steps, outcome, most) => {
    const { result, reasons, requests, reminders } = await repeat(steps, outcome, {}, MANY_REPLIES);
    expect(result.reason).toBe('loop_detected');
    expect(requests).toBeLessThanOrEqual(most);
    expect(reasons).toContain('loop_reminder');
    expect(reminders.filter(Boolean)).toHaveLength(reasons.filter((reason) => reason === 'loop_reminder').length);
    expect(result.words).toContain('the model repeated itself');
  },
);

const WORK: readonly (readonly [string, (index: number) => Step, (input: JsonObject, index: number) => ToolOutcome])[] =
  [
    [
      'the same call with other results',
      () => ({ input: {} }),
      (_, index) => ({ content: `${'x'.repeat(index)} lines` }),
    ],
    ['other calls with the same result', (index) => ({ input: { index } }), same],
    [
      'failing commands that differ',
      (index) => ({ input: { command: `cat ${'x'.repeat(index)}` } }),
      () => ({ content: 'no', isError: true }),
    ],
    [
      'a failing command after changes that differ only in a number',
      (index) => ({ input: index % 2 === 0 ? { command: 'npm test' } : { content: `limit = ${index}` } }),
      (_, index) => (index % 2 === 0 ? { content: 'failed', isError: true } : { content: 'written' }),
    ],
    [
      'a status between commits',
      (index) => ({ input: { command: index % 2 === 0 ? 'git status' : `git commit -m ${index}` } }),
      (_, index) => ({ content: index % 2 === 0 ? 'clean' : 'committed' }),
    ],
    [
      'files that are read under the same words',
      (index) => ({ input: { path: newName(index) }, text: 'Next file.' }),
      (_, index) => ({ content: `about ${newName(index)}` }),
    ],
    [
      'files that are changed by a command under the same words',
      (index) => ({ input: { command: `sed -i s/a/b/ ${newName(index)}` }, text: 'Next file.' }),
      () => ({ content: '' }),
    ],
    [
      'changes under the same words',
      (index) => ({ input: { index }, text: 'Next file.' }),
      (_, index) => diff(`${index}`, `${index + 1}`),
    ],
    [
      'a switch that is set for each of several tests',
      (index) => ({ input: index % 2 === 1 ? { command: `test ${newName(index)}` } : { e: index % 4 } }),
      (input, index) =>
        index > 26
          ? { content: `${newName(index)} ${index}` }
          : index % 2 === 1
            ? { content: `failed: ${input.command}` }
            : index % 4 === 0
              ? diff('a', 'b')
              : diff('b', 'a'),
    ],
    [
      'changes with the same long answer',
      (index) => ({ input: { content: newName(index) } }),
      (_, index) => ({ ...diff(newName(index), newName(index + 1)), content: LONG_RESULT }),
    ],
    [
      'pages of numbers',
      (index) => ({ input: { command: `sed -n ${index}00,${index}99p data.csv` } }),
      (_, index) => ({ content: `${index},${index * 7}\n`.repeat(100) }),
    ],
    [
      'files that are read again every twenty turns',
      (index) => ({ input: { command: index % 20 < 6 ? `cat ${names[index % 20]}` : `do ${newName(index)}` } }),
      (input) => ({ content: String(input.command) }),
    ],
    ['a longer and longer cycle', (index) => ({ input: { step: Math.floor(Math.sqrt(index)) % 3, index } }), same],
    ['changes that go on', (index) => ({ input: { index } }), (_, index) => diff(`${index}`, `${index + 1}`)],
  ];

test.each(someOf(WORK, 3))('%s is no repetition', async (_, steps, outcome) => {
  const { reasons, requests } = await repeat(steps, outcome);
  expect(requests).toBe(MAX_REPLIES + 1);
  expect(reasons).not.toContain('loop_reminder');
});

test.each([
  ['calls of unknown tools', (index: number) => ({ name: newName(index), input: {} }), 8],
  ['calls with an invalid input', (index: number) => ({ name: 'Echo', input: { invalid: newName(index) } }), 8],
  ['calls that cannot succeed', (index: number) => ({ name: 'Echo', input: { path: newName(index) } }), 40],
  [
    'calls that cannot succeed between reads of the same file',
    (index: number) => ({ name: 'Echo', input: index % 2 === 0 ? { read: true } : { path: newName(index) } }),
    81,
  ],
])('a run that makes only %s is reminded, then ended', async (_, call, most) => {
  const replies = Array.from({ length: MANY_REPLIES }, (_unused, index): ScriptedReply => {
    const { name, input } = call(index);
    return { blocks: [{ type: 'tool_use', id: `t${index}`, name, input }], stop: 'tool_use' };
  });
  const echo = echoTool({
    call: async (input) => {
      if (input.read === true) return { content: 'the file' };
      throw new ToolFailure(`${String(input.path)} does not fit.`);
    },
  });
  const prepare: typeof echo.prepare = (input) => {
    const text = JSON.stringify(input);
    return text.includes('invalid') ? { ok: false, problem: `${text} is no input.` } : echo.prepare(input);
  };
  const deps = scripted(replies, { tools: () => [{ ...echo, prepare }] });
  const { events, result } = await drain(query([userSays('do it')], deps, new AbortController().signal));
  expect([result.reason, deps.calls() <= most]).toEqual(['loop_detected', true]);
  expect(listTransitionReasons(events)).toContain('loop_reminder');
});

test('a command that fails for other numbers is tried at least fourteen times', async () => {
  const { reasons } = await repeat(
    (index) => ({ input: index < 14 ? { command: `git checkout HEAD~${index} && npm test` } : { index } }),
    (_, index) => (index < 14 ? { content: '1 test failed', isError: true } : { content: 'fine' }),
  );
  expect(reasons).not.toContain('loop_reminder');
});

test('a call that waits may be repeated five times as often', async () => {
  let now = 0;
  const clock = () => {
    now += 5000;
    return now;
  };
  const { result, requests, reasons } = await repeat(() => ({ input: { command: 'sleep 5; check' } }), same, {
    now: clock,
  });
  expect([result.reason, requests]).toEqual(['loop_detected', 40]);
  expect(result.words).toContain('40 times in a row');
  expect(reasons.flatMap((reason, index) => (reason === 'loop_reminder' ? [index + 1] : []))).toEqual([
    15, 20, 25, 30, 35,
  ]);
});

test('a call whose command sleeps, or that is still pending, waits', async () => {
  const sleeping = await repeat(() => ({ input: { command: 'sleep 1; check' } }), same);
  expect([sleeping.result.reason, sleeping.requests]).toEqual(['loop_detected', 40]);
  const pending = await repeat(
    () => ({ input: { shell_id: 'bash_1' } }),
    () => ({ content: 'nothing new', isPending: true }),
  );
  expect([pending.result.reason, pending.requests]).toEqual(['loop_detected', 40]);
});

test('the count survives a compaction', async () => {
  let prepared = 0;
  const context: QueryDeps['context'] = {
    ...unlimitedContext,
    prepare: async (messages) => {
      prepared += 1;
      return { messages, view: messages, tokens: prepared % 4 === 0 ? 1_500 : 0, freedTokens: 0 };
    },
  };
  const { result, requests } = await repeat(() => ({ input: {} }), same, { context });
  expect(prepared).toBeGreaterThan(8);
  expect([result.reason, requests]).toEqual(['loop_detected', 8]);
});

test('the guard can be configured and disabled', async () => {
  const step = () => ({ input: {} });
  const soon = await repeat(step, same, { config: { loopGuard: { remindAfter: 2, stopAfter: 3 } } });
  expect([soon.requests, soon.reasons]).toEqual([3, ['next_turn', 'loop_reminder']]);
  const off = await repeat(step, same, { config: { loopGuard: undefined } });
  expect(off.requests).toBe(MAX_REPLIES + 1);
});

const answers = (...labels: readonly string[]): { ask: QueryDeps['ask']; asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    ask: async (callId, question) => {
      asked.push(`${callId} ${question.kind === 'questions' ? question.questions[0]?.question : ''}`);
      return { kind: 'questions', answers: [labels[asked.length - 1] ?? 'Stop'] };
    },
  };
};

test('the user is asked before the end, and may continue or give instructions', async () => {
  const { ask, asked } = answers('Go on', 'Use the other file.');
  const { result, requests, reasons } = await repeat(() => ({ input: {} }), same, { ask });
  expect(result.reason).toBe('loop_detected');
  expect(asked).toHaveLength(3);
  expect(asked[0]).toBe(
    't7 The model repeats itself: the same call with the same result 8 times in a row (Echo). Go on?',
  );
  expect(requests).toBe(24);
  expect(reasons.filter((reason) => reason === 'loop_reminder')).toHaveLength(15);
});

test('a question that fails or is refused ends the run', async () => {
  const broken = await repeat(() => ({ input: {} }), same, { ask: async () => Promise.reject(new Error('broken')) });
  expect(broken.result.reason).toBe('loop_detected');
  const refused = await repeat(() => ({ input: {} }), same, { ask: async () => ({ kind: 'refused', by: 'user' }) });
  expect(refused.result.reason).toBe('loop_detected');
});

test.each([
  ['a user message resets the count', 'steer', 5 + 8],
  ['the notice of a background command does not reset the count', 'background', 8],
] as const)('%s', async (_, origin, count) => {
  let polls = 0;
  const takeSteering = () => {
    polls += 1;
    const item = queuedMessage('next', 'Go on anyway.');
    return polls === 6 ? [{ ...item, message: { ...item.message, origin } }] : [];
  };
  const queues = { takeSteering, takeFollowUps: () => [], hasSteering: () => false };
  const { requests } = await repeat(() => ({ input: {} }), same, { queues });
  expect(requests).toBe(count);
});

test('an interrupt during the question is an interrupt', async () => {
  const stop = new AbortController();
  const call = { type: 'tool_use', name: 'Echo', input: {} } as const;
  const replies = Array.from(
    { length: 20 },
    (_, index): ScriptedReply => ({
      blocks: [{ ...call, id: `t${index}` }],
      stop: 'tool_use',
    }),
  );
  const deps = scripted(replies, {
    ask: async () => {
      stop.abort();
      return undefined;
    },
  });
  const { result } = await drain(query([userSays('do it')], deps, stop.signal));
  expect(result.reason).toBe('aborted_streaming');
});
