import { expect, test } from 'vitest';
import type { OutputOptions } from '../../../../src/cli/args/invocation.ts';
import { runAndPrintPrompt } from '../../../../src/cli/modes/print/run-print.ts';
import { runCommandOrExpandPrompt } from '../../../../src/cli/modes/resolve-user-input.ts';
import { denyUnattendedRequests } from '../../../../src/cli/modes/unattended-answers.ts';
import type { AbortReason } from '../../../../src/contracts/agent.ts';
import type { Conversation } from '../../../../src/contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../../src/contracts/json.ts';
import { fakeConversation } from '../../../support/loop/fake-conversation.ts';
import { calls, contextTooLong, fails, refusalReply, says, truncatedReply } from '../../../support/loop/scripted.ts';

const QUIET: OutputOptions = {
  format: 'text',
  detail: 'result',
  partialMessages: false,
  hookEvents: false,
  replayUserMessages: false,
  onUsageLimit: 'stop',
};

async function printed(
  conversation: Conversation,
  output: Partial<OutputOptions> = {},
  how: { readonly prompt?: string; readonly abortedBy?: AbortReason; readonly answerSchema?: JsonObject } = {},
) {
  let stdout = '';
  const warnings: string[] = [];
  let ids = 0;
  const said = await runCommandOrExpandPrompt(conversation, how.prompt ?? 'hello');
  const code = await runAndPrintPrompt(
    conversation,
    said,
    { ...QUIET, ...output },
    {
      write: (text) => {
        stdout += text;
      },
      warn: (text) => warnings.push(text),
      newId: () => `line-${ids++}`,
      now: () => 0,
      answerSchema: how.answerSchema,
      abortedBy: () => how.abortedBy,
      ending: how.abortedBy === undefined ? new Promise(() => undefined) : Promise.resolve(),
    },
  );
  return { code, stdout, warnings };
}

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a signal ends the wait for a background sub-agent', async () => {
  const fake = fakeConversation({ replies: [says('Ann is at it.')] });
  const subscribe: typeof fake.agent.subscribe = (listener) => {
    const about = { id: 'agent_1', callId: 'call', title: 'Ann', kind: 'agent', state: 'started' } as const;
    void listener({ type: 'background', ...about });
    return fake.agent.subscribe(listener);
  };
  const end = await printed({ ...fake, agent: { ...fake.agent, subscribe } }, {}, { abortedBy: 'sigint' });
  expect(end).toMatchObject({ code: 130, stdout: '' });
});

test('text output announces a retry that takes time on stderr', async () => {
  const fake = fakeConversation({ replies: [says('fine')] });
  const failure = { kind: 'network', message: 'No connection.' } as const;
  const subscribe: typeof fake.agent.subscribe = (listener) => {
    void listener({ type: 'retry', attempt: 1, limit: 10, delayMs: 500, failure });
    void listener({ type: 'retry', attempt: 4, limit: 10, delayMs: 4000, failure });
    return fake.agent.subscribe(listener);
  };
  const { warnings } = await printed({ ...fake, agent: { ...fake.agent, subscribe } });
  expect(warnings).toEqual(['No connection. Attempt 5 of 11 in 4s.']);
});

test('text output is the last reply and a newline, and nothing else', async () => {
  expect(await printed(fakeConversation({ replies: [calls('Echo'), says('forty-two')] }))).toEqual({
    code: 0,
    stdout: 'forty-two\n',
    warnings: [],
  });
});

test('a failed run leaves stdout empty and reports the reason on stderr', async () => {
  expect(await printed(fakeConversation({ replies: [fails('auth')] }))).toEqual({
    code: 1,
    stdout: '',
    warnings: ['scripted auth'],
  });
});

test('verbose text output names each call on stderr', async () => {
  const conversation = fakeConversation({ replies: [calls('Echo'), says('forty-two')] });
  expect(await printed(conversation, { detail: 'all' })).toEqual({
    code: 0,
    stdout: 'forty-two\n',
    warnings: ['Echo'],
  });
});

test('verbose text output prints intermediate text on stderr, the answer on stdout', async () => {
  const look = { ...calls('Echo'), blocks: [{ type: 'text' as const, text: 'I look.' }, ...calls('Echo').blocks] };
  expect(await printed(fakeConversation({ replies: [look, says('forty-two')] }), { detail: 'all' })).toEqual({
    code: 0,
    stdout: 'forty-two\n',
    warnings: ['I look.', 'Echo'],
  });
});

/** The first cut reply is asked for again with a higher limit. */
const pieces = [truncatedReply('void'), truncatedReply('PART-ONE, '), says('PART-TWO')];

test.each([
  ['text', pieces, 'PART-ONE, PART-TWO'],
  ['with three pieces', [truncatedReply('void'), truncatedReply('a'), truncatedReply('b'), says('c')], 'abc'],
  [
    'behind calls, whose words are no part of it',
    [{ ...calls('Echo'), blocks: [{ type: 'text' as const, text: 'I look.' }, ...calls('Echo').blocks] }, ...pieces],
    'PART-ONE, PART-TWO',
  ],
  ['behind a failure that was survived', [contextTooLong(), ...pieces], 'PART-ONE, PART-TWO'],
])('an answer in several parts is printed in full: %s', async (_how, replies, whole) => {
  expect(await printed(fakeConversation({ replies }))).toMatchObject({ code: 0, stdout: `${whole}\n` });
  const json = await printed(fakeConversation({ replies }), { format: 'json' });
  expect(JSON.parse(json.stdout)).toMatchObject({ is_error: false, result: whole });
  const stream = await printed(fakeConversation({ replies }), { format: 'stream-json', detail: 'all' });
  expect(linesOf(stream.stdout).at(-1)).toMatchObject({ type: 'result', result: whole });
});

test('an incomplete answer is printed, and stderr reports that it was cut off', async () => {
  const replies = [truncatedReply('void'), ...['a', 'b', 'c', 'd'].map((words) => truncatedReply(words))];
  expect(await printed(fakeConversation({ replies }))).toEqual({
    code: 1,
    stdout: 'abcd\n',
    warnings: [expect.stringMatching(/^The answer is incomplete/)],
  });
  const json = await printed(fakeConversation({ replies }), { format: 'json' });
  expect(JSON.parse(json.stdout)).toMatchObject({
    is_error: true,
    result: 'abcd',
    terminal_reason: 'max_output_tokens',
  });
});

const half = { ...fails('network'), blocks: [{ type: 'text' as const, text: 'half of it' }] };
const look = { ...calls('Echo'), blocks: [{ type: 'text' as const, text: 'I look.' }, ...calls('Echo').blocks] };

test.each([
  ['the words that came', [half], ['scripted network', 'The answer is incomplete.'], 'half of it\n'],
  ['not what was said before a call', [look, fails('network')], ['scripted network'], ''],
  ['only the words behind a call', [look, half], expect.anything(), 'half of it\n'],
])('of an answer whose connection is lost for good it prints %s', async (_what, replies, warnings, stdout) => {
  expect(await printed(fakeConversation({ replies }))).toEqual({ code: 1, stdout, warnings });
});

test.each([
  [
    'after the answer',
    [says('done')],
    { onStop: async () => ({ kind: 'prevent' as const, words: 'Enough for today.' }) },
    'done\n',
  ],
  ['at a call', [calls('Echo')], { beforeCall: async () => ({ stop: 'Enough for today.' }) }, 'Enough for today.\n'],
])('a run ended by a hook %s reports it on stderr', async (_when, replies, deps, stdout) => {
  const end = await printed(fakeConversation({ replies, deps }));
  expect(end).toEqual({ code: 0, stdout, warnings: ['A hook ended the run: Enough for today.'] });
});

test('num_turns counts answers, not attempts', async () => {
  const json = await printed(fakeConversation({ replies: [calls('Echo'), truncatedReply('void'), says('b')] }), {
    format: 'json',
  });
  expect(JSON.parse(json.stdout)).toMatchObject({ num_turns: 2 });
});

test('json output is the result object alone', async () => {
  const { stdout } = await printed(fakeConversation({ replies: [says('yes')] }), { format: 'json' });
  expect(JSON.parse(stdout)).toEqual({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'yes',
    duration_ms: 0,
    duration_api_ms: 0,
    ttft_ms: 0,
    num_turns: 1,
    stop_reason: 'end_turn',
    total_cost_usd: 0.25,
    usage: {
      input_tokens: 10,
      output_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      server_tool_use: { web_search_requests: 0 },
    },
    modelUsage: {
      'model-a': {
        inputTokens: 10,
        outputTokens: 20,
        cacheReadInputTokens: 0,
        cacheCreationInputTokens: 0,
        webSearchRequests: 0,
        costUSD: 0.25,
        contextWindow: 200_000,
        maxOutputTokens: 64_000,
      },
    },
    permission_denials: [],
    terminal_reason: 'completed',
    session_id: 'session-1',
    uuid: expect.any(String),
  });
});

test('verbose json output is an array of all lines, the result last', async () => {
  const { stdout } = await printed(fakeConversation({ replies: [says('yes')] }), { format: 'json', detail: 'all' });
  const lines: readonly { type: string; subtype?: string }[] = JSON.parse(stdout);
  expect(lines.map(({ type, subtype }) => subtype ?? type)).toEqual([
    'init',
    'status',
    'assistant',
    'spend',
    'transition',
    'success',
  ]);
});

test('stream-json reports the whole run in order', async () => {
  const conversation = fakeConversation({
    replies: [calls({ name: 'Echo', input: { a: 1 }, id: 'call-1' }), says('done')],
  });
  const { stdout, code } = await printed(conversation, { format: 'stream-json', detail: 'all' });
  const lines = linesOf(stdout);
  expect(code).toBe(0);
  expect(lines.map(({ type, subtype }) => subtype ?? type)).toEqual([
    'init',
    'status',
    'assistant',
    'spend',
    'user',
    'transition',
    'status',
    'assistant',
    'spend',
    'transition',
    'success',
  ]);
  expect(lines.every((line) => line.session_id === 'session-1' && typeof line.uuid === 'string')).toBe(true);
  expect(lines[0]).toEqual({
    type: 'system',
    subtype: 'init',
    cwd: '/project',
    session_id: 'session-1',
    tools: ['Echo'],
    mcp_servers: [{ name: 'files', status: 'connected' }],
    model: 'model-a',
    permissionMode: 'default',
    slash_commands: [],
    agents: ['Explore'],
    skills: [],
    plugins: [],
    apiKeySource: 'none',
    output_style: 'default',
    claude_code_version: expect.any(String),
    ouro_version: '0.0.0',
    uuid: 'line-0',
  });
  expect(lines[2]).toMatchObject({
    message: { role: 'assistant', content: [{ type: 'tool_use', id: 'call-1', name: 'Echo', input: { a: 1 } }] },
    parent_tool_use_id: null,
    request_id: 'req_1',
  });
  expect(lines[4]).toMatchObject({
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call-1', content: 'echo {"a":1}' }] },
    tool_use_result: 'echo {"a":1}',
  });
});

test('an API failure is reported once, not repeated on stderr, and the result is an error', async () => {
  const conversation = fakeConversation({ replies: [fails('not_found', { status: 404 })] });
  const { stdout, code } = await printed(conversation, { format: 'stream-json', detail: 'all' });
  const lines = linesOf(stdout);
  expect(code).toBe(1);
  expect(lines.filter(({ type }) => type === 'assistant')).toMatchObject([
    { message: { model: '<synthetic>' }, error: 'model_not_found' },
  ]);
  expect(lines.at(-1)).toMatchObject({
    subtype: 'success',
    is_error: true,
    result: 'scripted not_found',
    api_error_status: 404,
    terminal_reason: 'api_error',
  });
});

test.each([
  ['completed', fakeConversation({ replies: [says('x')] }), { code: 0, subtype: 'success', is_error: false }],
  ['refusal', fakeConversation({ replies: [refusalReply()] }), { code: 1, subtype: 'success', is_error: true }],
  ['api_error', fakeConversation({ replies: [fails('server')] }), { code: 1, subtype: 'success', is_error: true }],
  [
    'prompt_too_long',
    fakeConversation({
      replies: [],
      deps: { after: fails('too_long') },
    }),
    { code: 1, subtype: 'success', is_error: true },
  ],
  [
    'max_turns',
    fakeConversation({ deps: { after: calls('Echo'), config: { maxTurns: 2 } } }),
    { code: 1, subtype: 'error_max_turns', is_error: true },
  ],
  [
    'budget_exhausted',
    fakeConversation({ deps: { after: calls('Echo'), config: { maxBudgetUsd: 1 }, costUsd: () => 2 } }),
    { code: 1, subtype: 'error_max_budget_usd', is_error: true },
  ],
  [
    'model_error',
    fakeConversation({ replies: [{ blocks: [], throws: 'boom' }] }),
    { code: 1, subtype: 'error_during_execution', is_error: true },
  ],
  [
    'stop_hook_prevented',
    fakeConversation({ replies: [says('x')], deps: { onStop: async () => ({ kind: 'prevent', words: 'not now' }) } }),
    { code: 0, subtype: 'success', is_error: false },
  ],
])('%s: exit code, subtype and is_error agree', async (reason, conversation, story) => {
  const { stdout, code } = await printed(conversation, { format: 'json' });
  const { subtype, is_error, terminal_reason } = JSON.parse(stdout);
  expect({ code, subtype, is_error, terminal_reason }).toEqual({ ...story, terminal_reason: reason });
});

test.each([
  ['sigint', 130],
  ['sigterm', 143],
  ['sighup', 129],
] as const)('a run ended by %s leaves with %d', async (reason, expected) => {
  const hold = Promise.withResolvers<void>();
  const conversation = fakeConversation({ replies: [{ ...says('half'), hold: hold.promise }] });
  conversation.agent.subscribe((event) => {
    if (event.type === 'block_end') conversation.agent.abort(reason);
  });
  const { stdout, code } = await printed(conversation, { format: 'json' }, { abortedBy: reason });
  expect(code).toBe(expected);
  expect(JSON.parse(stdout)).toMatchObject({ subtype: 'error_during_execution', is_error: true });
});

test('a question without a listener is denied as unattended', async () => {
  const conversation = fakeConversation({ replies: [calls({ name: 'Echo', id: 'c' }), says('ok')], gate: 'asks' });
  const answers: unknown[] = [];
  conversation.agent.subscribe((event) => void (event.type === 'permission_answer' && answers.push(event.answer)));
  denyUnattendedRequests(conversation.agent, 'declined');
  const { stdout, code } = await printed(conversation, { format: 'stream-json', detail: 'all' });
  expect(code).toBe(0);
  expect(answers).toEqual([{ behavior: 'deny', by: 'unattended' }]);
  expect(linesOf(stdout).find(({ type }) => type === 'user').tool_use_result).toContain('Error: ');
});

test('a slash command is run without the model', async () => {
  const conversation = fakeConversation({
    more: {
      commands: () => [{ name: 'cost', description: 'what it cost', source: 'builtin' }],
      runCommand: async (line) => ({ kind: 'show', markdown: `ran ${line}` }),
    },
  });
  expect(await printed(conversation, {}, { prompt: '/cost now' })).toMatchObject({ code: 0, stdout: 'ran cost now\n' });
});

test('a single word after a slash is a command; with more after it, it may be a path', async () => {
  const alone = await printed(fakeConversation(), {}, { prompt: '/reveiw\n' });
  expect(alone).toEqual({ code: 1, stdout: '', warnings: ['no commands here'] });
  const path = await printed(
    fakeConversation({ replies: [says('half full')] }),
    {},
    { prompt: '/tmp: how full is it?' },
  );
  expect(path).toMatchObject({ code: 0, stdout: 'half full\n' });
});

test('startup warnings go to stderr', async () => {
  const conversation = fakeConversation({ replies: [says('x')], info: { warnings: ['a dead rule'] } });
  expect(await printed(conversation)).toEqual({ code: 0, stdout: 'x\n', warnings: ['a dead rule'] });
});

test('plain text is no valid answer where a schema was requested', async () => {
  const conversation = fakeConversation({ replies: [says('forty-two')] });
  expect(await printed(conversation, {}, { answerSchema: { type: 'object' } })).toEqual({
    code: 1,
    stdout: '',
    warnings: ['The model answered in plain text instead of the required JSON schema.'],
  });
});
