import { expect, test } from 'vitest';
import type { Conversation } from '../../../../src/contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../../src/contracts/json.ts';
import { longTest } from '../../../support/long-test.ts';
import { fakeConversation } from '../../../support/loop/fake-conversation.ts';
import { calls, fails, says } from '../../../support/loop/scripted.ts';
import { hostBench } from './host-bench.ts';

const success = (id: string, response: JsonObject) => ({ subtype: 'success', request_id: id, response });
const names = (lines: readonly JsonObject[]) => lines.map(({ type, subtype }) => String(subtype ?? type));

test('initialize and the first user line may arrive together', async () => {
  const bench = hostBench(fakeConversation({ replies: [says('hi')] }));
  const result = bench.nextResult();
  bench.send(
    `${JSON.stringify({ type: 'control_request', request_id: 'a', request: { subtype: 'initialize' } })}\n` +
      `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'hello' } })}\n`,
  );
  expect(await result).toMatchObject({ subtype: 'success', result: 'hi', session_id: 'session-1' });
  bench.end();
  expect(await bench.code).toBe(0);
  expect(names(bench.lines)).toEqual([
    'control_response',
    'init',
    'session_state_changed',
    'status',
    'assistant',
    'spend',
    'transition',
    'success',
    'session_state_changed',
  ]);
  expect(bench.lines[0]).toMatchObject({
    response: success('a', {
      commands: [],
      agents: [{ name: 'Explore', description: '' }],
      models: [{ value: 'default' }, { value: 'model-a', displayName: 'Model A' }],
      output_style: 'default',
      available_output_styles: ['default'],
      account: { apiKeySource: 'none' },
      pid: 7,
    }),
  });
});

test('the fields of initialize reach the options of the run', async () => {
  const bench = hostBench(fakeConversation());
  await bench.ask({
    subtype: 'initialize',
    systemPrompt: [''],
    appendSystemPrompt: 'be brief',
    agents: { a: { description: 'd', prompt: 'p' } },
    jsonSchema: { type: 'object' },
    sdkMcpServers: ['calc'],
    hooks: { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['hook_0'], timeout: 5 }], NoSuchEvent: [] },
  });
  const [options] = bench.opened;
  expect(options).toMatchObject({
    systemPrompt: '',
    appendSystemPrompt: 'be brief',
    agents: { a: { description: 'd', prompt: 'p' } },
    jsonSchema: { type: 'object' },
    host: {
      hooks: [{ event: 'PreToolUse', matcher: 'Bash', source: 'host', timeout: 5 }],
      mcpServers: [{ name: 'calc' }],
    },
  });
});

test('initialize may set the session id, and is refused with an unsupported schema', async () => {
  const named: string[] = [];
  const conversation = fakeConversation({ more: { rename: async (title) => void named.push(title) } });
  await hostBench(conversation).ask({ subtype: 'initialize', title: 'Release' });
  expect(named).toEqual(['Release']);
  const refused = await hostBench(conversation).ask({ subtype: 'initialize', jsonSchema: { type: 'nope' } });
  expect(refused).toMatchObject({ subtype: 'error', error: expect.stringContaining('cannot be validated') });
});

test('hooks and in-process servers are called over the wire', async () => {
  const bench = hostBench(fakeConversation());
  await bench.ask({
    subtype: 'initialize',
    sdkMcpServers: ['calc'],
    hooks: { PreToolUse: [{ hookCallbackIds: ['hook_0'] }] },
  });
  const host = bench.opened[0]?.host;
  const { signal } = new AbortController();

  const hookAsked = bench.nextQuestion();
  const verdict = host?.hooks[0]?.callback?.({ hook_event_name: 'PreToolUse', tool_use_id: 'call-1' }, signal);
  const hook = await hookAsked;
  expect(hook.request).toEqual({
    subtype: 'hook_callback',
    callback_id: 'hook_0',
    input: { hook_event_name: 'PreToolUse', tool_use_id: 'call-1' },
    tool_use_id: 'call-1',
  });
  bench.respond(hook, { decision: 'block' });
  expect(await verdict).toEqual({ decision: 'block' });

  const mcpAsked = bench.nextQuestion();
  const reply = host?.mcpServers[0]?.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const message = await mcpAsked;
  expect(message.request).toEqual({
    subtype: 'mcp_message',
    server_name: 'calc',
    message: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  });
  bench.respond(message, { mcp_response: { jsonrpc: '2.0', id: 1, result: { tools: [] } } });
  expect(await reply).toEqual({ jsonrpc: '2.0', id: 1, result: { tools: [] } });

  const received: JsonObject[] = [];
  host?.mcpServers[0]?.onMessage((one) => received.push(one));
  const note = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  await bench.ask({ subtype: 'mcp_message', server_name: 'calc', message: note });
  expect(received).toEqual([note]);
});

test('a permission request goes to the host, and its answer decides', async () => {
  const replies = [calls({ name: 'Echo', input: { a: 1 }, id: 'call-1' }), says('ok')];
  const bench = hostBench(fakeConversation({ replies, gate: 'asks' }));
  const asked = bench.nextQuestion();
  const result = bench.nextResult();
  bench.say('go');
  const question = await asked;
  expect(question.request).toEqual({
    subtype: 'can_use_tool',
    tool_name: 'Echo',
    display_name: 'Echo',
    input: { a: 1 },
    tool_use_id: 'call-1',
    description: 'Echo',
    permission_suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'Echo', ruleContent: 'echo *' }],
        behavior: 'allow',
        destination: 'session',
      },
    ],
    decision_reason: 'no rule allows it',
  });
  bench.respond(question, { behavior: 'allow', updatedInput: { a: 2 }, toolUseID: 'call-1' });
  await result;
  expect(bench.lines.find(({ type }) => type === 'user')).toMatchObject({ tool_use_result: 'echo {"a":2}' });
});

test('permission updates of the host are applied with its answer', async () => {
  const updates: unknown[] = [];
  const conversation = fakeConversation({
    replies: [calls('Echo'), says('ok')],
    gate: 'asks',
    more: {
      control: {
        updatePermissions: async (all) => {
          updates.push(...all);
          return { ok: true };
        },
      },
    },
  });
  const answers: unknown[] = [];
  conversation.agent.subscribe((event) => {
    if (event.type === 'permission_answer') answers.push(event.answer);
  });
  const bench = hostBench(conversation);
  const asked = bench.nextQuestion();
  const result = bench.nextResult();
  bench.say('go');
  bench.respond(await asked, {
    behavior: 'allow',
    updatedInput: {},
    updatedPermissions: [
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      { type: 'addRules', rules: [{ toolName: 'Read' }], behavior: 'allow', destination: 'localSettings' },
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'rm *' }],
        behavior: 'deny',
        destination: 'session',
      },
    ],
  });
  await result;
  expect(answers).toEqual([
    {
      behavior: 'allow',
      updatedInput: {},
      mode: 'acceptEdits',
      remember: { rules: ['Read'], destination: 'local' },
    },
  ]);
  expect(updates).toEqual([{ type: 'addRules', rules: ['Bash(rm *)'], behavior: 'deny', destination: 'session' }]);
});

test.each([
  ['an unreadable answer', { behavior: 'perhaps' }],
  ['a denial', { behavior: 'deny', message: 'not this' }],
])('%s is a denial', async (_, response) => {
  const bench = hostBench(fakeConversation({ replies: [calls('Echo'), says('ok')], gate: 'asks' }));
  const asked = bench.nextQuestion();
  const result = bench.nextResult();
  bench.say('go');
  bench.respond(await asked, response);
  expect(await result).toMatchObject({ subtype: 'success', result: 'ok' });
  expect(bench.lines.find(({ type }) => type === 'user')).toMatchObject({
    message: { content: [{ is_error: true }] },
  });
});

test('an interrupt withdraws the open request, is answered, and ends in a result', async () => {
  const bench = hostBench(fakeConversation({ replies: [calls({ name: 'Echo', id: 'c1' })], gate: 'asks' }));
  const asked = bench.nextQuestion();
  const result = bench.nextResult();
  bench.say('go');
  const question = await asked;
  const before = bench.lines.length;
  await bench.ask({ subtype: 'interrupt' }, 'stop');
  expect(await result).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  // The cost of the reply may be reported before or after the question.
  const after = bench.lines.slice(before).filter(({ subtype }) => subtype !== 'status' && subtype !== 'spend');
  expect(after[0]).toEqual({ type: 'control_cancel_request', request_id: question.request_id });
  const reported = names(after).filter((name) => ['control_response', 'user', 'error_during_execution'].includes(name));
  expect(reported).toEqual(['user', 'control_response', 'user', 'error_during_execution']);
  expect(after.findLast(({ type }) => type === 'user')).toMatchObject({
    message: { content: [{ type: 'text', text: '[Request interrupted by user for tool use]' }] },
  });

  const next = bench.nextResult();
  bench.say('and now?');
  expect(await next).toMatchObject({ subtype: 'success' });
});

test('an interrupt reaches a command that runs between two turns', async () => {
  const started = Promise.withResolvers<void>();
  const conversation: Conversation = fakeConversation({
    replies: [says('hi')],
    more: {
      commands: () => [{ name: 'compact', description: '', source: 'builtin' }],
      async runCommand() {
        await conversation.agent.runExclusive('compacting', (signal) => {
          started.resolve();
          return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        });
        return { kind: 'failed', message: 'Stopped.' };
      },
    },
  });
  const bench = hostBench(conversation);
  const first = bench.nextResult();
  bench.say('hello');
  await first;
  const second = bench.nextResult();
  bench.say('/compact');
  await started.promise;
  expect(await bench.ask({ subtype: 'interrupt' }, 'stop')).toEqual(success('stop', { still_queued: [] }));
  expect(await second).toMatchObject({ is_error: true });
});

test('an interrupt when idle is answered at once', async () => {
  const bench = hostBench(fakeConversation());
  expect(await bench.ask({ subtype: 'interrupt' }, 'stop')).toEqual(success('stop', { still_queued: [] }));
});

/** A run whose first reply hangs, with a second message waiting behind it. */
async function waitingBench() {
  const hold = Promise.withResolvers<void>();
  const conversation = fakeConversation({ replies: [{ ...calls('Echo'), hold: hold.promise }, says('second answer')] });
  const bench = hostBench(conversation);
  const called = bench.waitFor(({ type }) => type === 'assistant');
  bench.say('first');
  await called;
  const queued = Promise.withResolvers<void>();
  conversation.agent.subscribe((event) => {
    if (event.type === 'queue' && event.state === 'queued') queued.resolve();
  });
  bench.say('the other thing', { uuid: 'uuid-2' });
  await queued.promise;
  return { bench, release: hold.resolve, said: () => JSON.stringify(conversation.agent.state().messages) };
}

test('a queued message survives an interrupt and is delivered next', async () => {
  const { bench, release } = await waitingBench();
  const answered = bench.waitFor(({ type, subtype }) => type === 'result' && subtype === 'success');
  const receipt = bench.ask({ subtype: 'interrupt' }, 'stop');
  release();
  expect(await receipt).toEqual(success('stop', { still_queued: ['uuid-2'] }));
  expect(await answered).toMatchObject({ result: 'second answer' });
  expect(bench.lines.flatMap((line) => (line.type === 'result' ? [line.subtype] : []))).toEqual([
    'error_during_execution',
    'success',
  ]);
});

test('an interrupt with that flag drops queued messages', async () => {
  const { bench, release } = await waitingBench();
  const receipt = bench.ask({ subtype: 'interrupt', cancel_queued: true }, 'stop');
  release();
  expect(await receipt).toEqual(success('stop', { still_queued: [], cancelled: ['uuid-2'] }));
  bench.end();
  expect(await bench.code).toBe(0);
  expect(bench.lines.filter(({ type }) => type === 'result')).toHaveLength(1);
});

test('a queued message is cancelled by its id', async () => {
  const { bench, release, said } = await waitingBench();
  const cancel = (uuid: string) => bench.ask({ subtype: 'cancel_async_message', message_uuid: uuid }, uuid);
  expect(await cancel('uuid-2')).toEqual(success('uuid-2', { cancelled: true }));
  expect(await cancel('uuid-3')).toEqual(success('uuid-3', { cancelled: false }));
  release();
  bench.end();
  await bench.code;
  expect(said()).not.toContain('the other thing');
});

test('messages during a run are steered into it and share its result', async () => {
  const hold = Promise.withResolvers<void>();
  const conversation = fakeConversation({
    replies: [{ ...calls('Echo'), hold: hold.promise }, says('both')],
  });
  const bench = hostBench(conversation);
  const called = bench.waitFor(({ type }) => type === 'assistant');
  const result = bench.nextResult();
  bench.say('first');
  await called;
  const queued = Promise.withResolvers<void>();
  conversation.agent.subscribe((event) => {
    if (event.type === 'queue' && event.state === 'queued') queued.resolve();
  });
  bench.say('second');
  await queued.promise;
  hold.resolve();
  expect(await result).toMatchObject({ result: 'both' });
  expect(bench.lines.filter(({ type }) => type === 'result')).toHaveLength(1);
});

test('messages that arrive during the last reply get their own result', async () => {
  const hold = Promise.withResolvers<void>();
  const conversation = fakeConversation({ replies: [{ ...says('one'), hold: hold.promise }, says('two')] });
  const bench = hostBench(conversation);
  const begun = bench.waitFor(({ type }) => type === 'assistant');
  bench.say('first');
  await begun;
  const queued = Promise.withResolvers<void>();
  conversation.agent.subscribe((event) => {
    if (event.type === 'queue' && event.state === 'queued') queued.resolve();
  });
  bench.say('second');
  await queued.promise;
  const second = bench.waitFor(({ type, result }) => type === 'result' && result === 'two');
  hold.resolve();
  await second;
  expect(bench.lines.flatMap((line) => (line.type === 'result' ? [line.result] : []))).toEqual(['one', 'two']);
  expect(bench.lines.filter(({ subtype }) => subtype === 'init')).toHaveLength(2);
});

test('after a failed run the process continues', async () => {
  const bench = hostBench(fakeConversation({ replies: [fails('server'), says('better')] }));
  const first = bench.nextResult();
  bench.say('one');
  expect(await first).toMatchObject({ is_error: true });
  const second = bench.nextResult();
  bench.say('two');
  expect(await second).toMatchObject({ is_error: false, result: 'better' });
  bench.end();
  expect(await bench.code).toBe(0);
});

test('user messages are replayed on request', async () => {
  const bench = hostBench(fakeConversation({ replies: [says('hi')] }), 'replays');
  const result = bench.nextResult();
  bench.say('hello');
  await result;
  expect(bench.lines.filter(({ type }) => type === 'user')).toMatchObject([
    { message: { content: [{ type: 'text', text: 'hello' }] }, isReplay: true },
  ]);
});

test('an invalid first line ends the program, a later one is reported and skipped', async () => {
  const first = hostBench(fakeConversation());
  first.send('nonsense\n');
  expect(await first.code).toBe(1);
  expect(first.warnings).toEqual([expect.stringMatching(/^Line 1 of stdin is not JSON: /)]);

  const later = hostBench(fakeConversation());
  later.send('{"type":"keep_alive"}\n\n{"half":\n{"type":"brand_new"}\n{"type":"user"}');
  later.end();
  expect(await later.code).toBe(0);
  expect(later.warnings).toEqual([
    expect.stringMatching(/^Line 3 of stdin is not JSON: /),
    'Line 5 of stdin is not a valid user line',
  ]);
  expect(later.lines).toMatchObject([
    { subtype: 'input_error', line: 3 },
    { subtype: 'input_error', line: 5 },
    { subtype: 'init' },
    { type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['Line 5 is not a valid user line'] },
    { subtype: 'session_state_changed', state: 'idle' },
  ]);
});

longTest('a line that is nested too deeply is reported as unreadable', async () => {
  const bench = hostBench(fakeConversation());
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  bench.send(`{"type":"control_request","request_id":"deep","request":{"subtype":"dance","how":${deep}}}\n`);
  bench.send({ type: 'control_request', request_id: 'flat', request: { subtype: 'dance' } });
  bench.end();
  expect(await bench.code).toBe(0);
  expect(bench.lines).toMatchObject([
    { response: { subtype: 'error', request_id: 'deep', error: 'Line 1 is nested too deeply' } },
    { response: { subtype: 'error', request_id: 'flat', error: 'unsupported: dance' } },
  ]);
});

test('the end of stdin denies every open request', async () => {
  const bench = hostBench(fakeConversation({ replies: [calls('Echo'), says('without')], gate: 'asks' }));
  const asked = bench.nextQuestion();
  bench.say('go');
  await asked;
  bench.end();
  expect(await bench.code).toBe(0);
  expect(bench.lines.findLast(({ type }) => type === 'result')).toMatchObject({ result: 'without' });
});
