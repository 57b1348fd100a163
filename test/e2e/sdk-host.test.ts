import { join } from 'node:path';
import { createSdkMcpServer, query, type SDKMessage, tool } from '@anthropic-ai/claude-agent-sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { gate } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { conversation, createSdkHost, resultsOf, type SdkHost } from '../support/sdk-host.ts';

let host: SdkHost;

beforeEach(async () => {
  host = await createSdkHost();
});

afterEach(() => host.close());

longTest('a prompt is answered', async () => {
  await host.api(says('forty-two'));
  const received: SDKMessage[] = [];
  for await (const message of query({ prompt: 'what is it?', options: host.processOptions() })) received.push(message);
  expect(received.map((message) => ('subtype' in message ? message.subtype : message.type))).toEqual(
    expect.arrayContaining(['init', 'assistant', 'success']),
  );
  expect(resultsOf(received)).toMatchObject([
    { subtype: 'success', is_error: false, result: 'forty-two', num_turns: 1, permission_denials: [] },
  ]);
  expect(
    host
      .server()
      .all()
      .map(({ violation }) => violation),
  ).toEqual([undefined]);
});

test('streaming input: several prompts in one process and session, one result each', async () => {
  await host.api(says('one'), says('two'));
  const person = conversation();
  const results: string[] = [];
  const sessions = new Set<string>();
  person.say('first');
  for await (const message of query({ prompt: person.prompts, options: host.options() })) {
    sessions.add(String(message.session_id));
    if (message.type !== 'result') continue;
    results.push(message.subtype === 'success' ? message.result : message.subtype);
    if (results.length === 1) person.say('second');
    else person.end();
  }
  expect(results).toEqual(['one', 'two']);
  expect(sessions.size).toBe(1);
  expect(host.sent(1)).toContain('first');
});

test('canUseTool decides, and may change the input', async () => {
  await host.api(calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')), says('done'));
  const asked: string[] = [];
  const received = await host.ask('go', {
    canUseTool: async (name, input, { toolUseID }) => {
      asked.push(`${name} ${String(input.command)} ${toolUseID}`);
      return { behavior: 'allow', updatedInput: { command: 'echo from-the-host' } };
    },
  });
  expect(asked).toEqual(['Bash touch one toolu_1']);
  expect(host.sent(1)).toContain('from-the-host');
  expect(resultsOf(received)).toMatchObject([{ subtype: 'success', result: 'done' }]);
});

longTest('the message of a denial by canUseTool reaches the model', async () => {
  await host.api(calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')), says('I will not'));
  const received = await host.ask('go', { canUseTool: async () => ({ behavior: 'deny', message: 'not on a Friday' }) });
  expect(host.sent(1)).toContain(
    'The application that runs this session refused this call; nothing was run or changed. It says: not on a Friday',
  );
  expect(resultsOf(received)).toMatchObject([
    { subtype: 'success', result: 'I will not', permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1' }] },
  ]);
});

test('hooks of the host receive prompts and calls, and may block', async () => {
  await host.api(calls(toolUse('Read', { file_path: join('a.txt') }, 'toolu_1')), says('blocked'));
  const events: string[] = [];
  await host.ask('go', {
    hooks: {
      UserPromptSubmit: [
        {
          hooks: [
            async (input) => {
              events.push(input.hook_event_name);
              return { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'it is raining' } };
            },
          ],
        },
      ],
      PreToolUse: [
        {
          matcher: 'Read',
          hooks: [
            async (input, toolUseID) => {
              events.push(`${input.hook_event_name} ${toolUseID}`);
              return {
                hookSpecificOutput: {
                  hookEventName: 'PreToolUse',
                  permissionDecision: 'deny',
                  permissionDecisionReason: 'the hook says no',
                },
              };
            },
          ],
        },
      ],
    },
  });
  expect(events).toEqual(['UserPromptSubmit', 'PreToolUse toolu_1']);
  expect(host.sent(0)).toContain('it is raining');
  expect(host.sent(1)).toContain('the hook says no');
});

test('tools of an in-process server are called', async () => {
  await host.api(calls(toolUse('mcp__calc__add', { a: 19, b: 23 }, 'toolu_1')), says('it is 42'));
  const calc = createSdkMcpServer({
    name: 'calc',
    tools: [
      tool('add', 'Adds.', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
        content: [{ type: 'text', text: `the sum is ${a + b}` }],
      })),
    ],
  });
  const received = await host.ask('go', { mcpServers: { calc }, allowedTools: ['mcp__calc__add'] });
  expect(host.sent(1)).toContain('the sum is 42');
  expect(received.find((message) => message.type === 'system' && message.subtype === 'init')).toMatchObject({
    tools: expect.arrayContaining(['mcp__calc__add']),
    mcp_servers: [{ name: 'calc', status: 'connected' }],
  });
});

longTest('servers are added, disabled and removed during the conversation', async () => {
  await host.api(says('one'), calls(toolUse('mcp__clock__now', {}, 'toolu_1')), says('noon'), says('three'));
  const clock = createSdkMcpServer({
    name: 'clock',
    tools: [tool('now', 'The time.', {}, async () => ({ content: [{ type: 'text', text: 'high noon' }] }))],
  });
  const person = conversation();
  const running = query({ prompt: person.prompts, options: host.options({ allowedTools: ['mcp__clock'] }) });
  const offered: boolean[] = [];
  let results = 0;
  person.say('first');
  for await (const message of running) {
    if (message.type === 'system' && message.subtype === 'init')
      offered.push(message.tools.includes('mcp__clock__now'));
    if (message.type !== 'result') continue;
    results += 1;
    if (results === 1)
      expect(await running.setMcpServers({ clock })).toEqual({ added: ['clock'], removed: [], errors: {} });
    if (results === 2) {
      expect(host.sent(2)).toContain('high noon');
      expect(await running.mcpServerStatus()).toMatchObject([
        { name: 'clock', status: 'connected', tools: [{ name: 'now' }] },
      ]);
      await running.toggleMcpServer('clock', false);
      expect(await running.mcpServerStatus()).toMatchObject([{ name: 'clock', status: 'disabled' }]);
      await expect(running.reconnectMcpServer('none')).rejects.toThrow(/no MCP server none/);
    }
    if (results === 3) person.end();
    else person.say('next');
  }
  expect(offered).toEqual([false, true, false]);
});

test('interrupt ends the turn with a result, and the next prompt is accepted', async () => {
  const { closed, open } = gate();
  await host.api(says('never', { faults: [{ at: 4, do: 'wait', until: closed, pings: 'pings' }] }), says('back'));
  const person = conversation();
  const running = query({ prompt: person.prompts, options: host.options() });
  person.say('first');
  // Nobody waits: the loop below hears what comes of it.
  void host
    .server()
    .waitForRequest(1)
    .then(() => running.interrupt());
  const received: SDKMessage[] = [];
  for await (const message of running) {
    received.push(message);
    if (message.type !== 'result') continue;
    if (resultsOf(received).length === 1) person.say('second');
    else person.end();
  }
  open();
  expect(resultsOf(received)).toMatchObject([
    { subtype: 'error_during_execution', is_error: true },
    { subtype: 'success', result: 'back' },
  ]);
  expect(JSON.stringify(received)).toContain('[Request interrupted by user]');
});

test('setModel and setPermissionMode apply from the next turn on', async () => {
  await host.api(says('one'), calls(toolUse('Write', { file_path: 'b.txt', content: 'beta\n' })), says('two'));
  const person = conversation();
  const running = query({ prompt: person.prompts, options: host.options({ model: 'claude-sonnet-4-5' }) });
  person.say('first');
  let results = 0;
  for await (const message of running) {
    if (message.type !== 'result') continue;
    results += 1;
    if (results === 2) {
      person.end();
      continue;
    }
    await running.setModel('claude-haiku-4-5');
    await running.setPermissionMode('acceptEdits');
    person.say('second');
  }
  expect(
    host
      .server()
      .requests()
      .map(({ body }) => body.model),
  ).toEqual([expect.stringContaining('sonnet'), expect.stringContaining('haiku'), expect.stringContaining('haiku')]);
  expect(host.sent(2)).not.toContain('was not run');
});

test('resume keeps the session, fork creates another', async () => {
  await host.api(says('Hello, Ann.'), says('You are Ann.'), says('Still Ann.'));
  const [first] = resultsOf(await host.ask('I am Ann'));
  const id = String(first?.session_id);
  const [second] = resultsOf(await host.ask('who am I?', { resume: id }));
  const [third] = resultsOf(await host.ask('and now?', { resume: id, forkSession: true }));
  expect(second?.session_id).toBe(id);
  expect(third?.session_id).not.toBe(id);
  expect(host.sent(1)).toContain('I am Ann');
  expect(host.sent(2)).toContain('who am I?');
});

longTest('a conversation continues from any reply, in a copy or in place', async () => {
  await host.api(
    calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
    says('It says alpha.'),
    says('Two.'),
    says('Three.'),
    says('Four.'),
    says('Five.'),
  );
  const received = await host.ask('first');
  const id = String(resultsOf(received)[0]?.session_id);
  const replies = received.filter((message) => message.type === 'assistant');
  const [call, answer] = replies.map(({ uuid }) => uuid);
  await host.ask('xyzzy', { resume: id });
  await host.ask('instead', { resume: id, resumeSessionAt: answer, forkSession: true });
  expect(host.sent(3)).toMatch(/It says alpha.*instead/);
  expect(host.sent(3)).not.toContain('xyzzy');
  await host.ask('from the call', { resume: id, resumeSessionAt: call });
  expect(host.sent(4)).toMatch(/toolu_1.*tool_result.*from the call/);
  expect(host.sent(4)).not.toContain('It says alpha.');
  await host.ask('and on', { resume: id });
  expect(host.sent(5)).toMatch(/from the call.*and on/);
  expect(host.sent(5)).not.toContain('xyzzy');
  expect(
    host
      .server()
      .all()
      .map(({ violation }) => violation)
      .filter((one) => one !== undefined),
  ).toEqual([]);
});

longTest('maxTurns ends the run with its own result', async () => {
  await host.apiWith({ turns: () => calls(toolUse('Read', { file_path: 'a.txt' })) });
  const running = query({ prompt: 'go', options: host.options({ maxTurns: 2 }) });
  const received: SDKMessage[] = [];
  try {
    for await (const message of running) received.push(message);
  } catch {
    // The SDK throws after an error result; what counts was said before.
  }
  expect(resultsOf(received)).toMatchObject([{ subtype: 'error_max_turns', is_error: true }]);
  expect(host.server().requests()).toHaveLength(2);
});

longTest('a structured answer is returned as an object', async () => {
  await host.api(calls(toolUse('StructuredOutput', { n: 42 })));
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const received = await host.ask('go', { outputFormat: { type: 'json_schema', schema } });
  expect(resultsOf(received)).toMatchObject([{ subtype: 'success', structured_output: { n: 42 } }]);
});

longTest('partial messages include the raw events, each block whole just before it ends', async () => {
  await host.api(calls(text('I look.'), toolUse('Read', { file_path: 'a.txt' })), says('seen'));
  const received = await host.ask('go', { includePartialMessages: true });
  const kinds = received.flatMap((message) => {
    if (message.type === 'assistant') return ['assistant'];
    return message.type === 'stream_event' ? [message.event.type] : [];
  });
  expect(kinds.filter((kind) => kind !== 'content_block_delta')).toEqual([
    'message_start',
    ...['content_block_start', 'assistant', 'content_block_stop'],
    ...['content_block_start', 'assistant', 'content_block_stop'],
    'message_delta',
    'message_stop',
    'message_start',
    ...['content_block_start', 'assistant', 'content_block_stop'],
    'message_delta',
    'message_stop',
  ]);
});

longTest('requests of a host about the run are answered', async () => {
  await host.api(says('one'));
  const person = conversation();
  const running = query({ prompt: person.prompts, options: host.options() });
  person.say('first');
  for await (const message of running) {
    if (message.type !== 'result') continue;
    expect((await running.supportedModels()).length).toBeGreaterThan(0);
    expect(await running.mcpServerStatus()).toEqual([]);
    expect(await running.supportedCommands()).toEqual(expect.any(Array));
    expect(await running.accountInfo()).toMatchObject({ apiKeySource: 'ANTHROPIC_API_KEY' });
    person.end();
  }
});

longTest('the system prompt is set by the host: none by default', async () => {
  await host.api(says('one'), says('two'));
  await host.ask('go');
  await host.ask('go', { systemPrompt: 'You are a pirate.' });
  expect(JSON.stringify(host.server().requests()[1]?.body.system)).toContain('You are a pirate.');
  const system = JSON.stringify(host.server().requests()[0]?.body.system ?? '');
  expect(system.replaceAll(host.root, '')).not.toContain('ouro');
});

longTest('a prompt shared by many users keeps folder-specific facts in the first message', async () => {
  await host.api(says('one'), says('two'));
  const preset = { type: 'preset', preset: 'claude_code', append: 'Be kind.' } as const;
  await host.ask('go', { systemPrompt: preset });
  await host.ask('go', { systemPrompt: { ...preset, excludeDynamicSections: true } });
  const [apart, shared] = host
    .server()
    .requests()
    .map(({ body }) => body);
  expect(JSON.stringify(apart?.system)).toContain(`Working directory: ${host.root}`);
  expect(JSON.stringify(shared?.system)).toMatch(/ouro.*Be kind\./);
  expect(JSON.stringify(shared?.system)).not.toContain(host.root);
  expect(JSON.stringify(shared?.messages)).toContain(`Working directory: ${host.root}`);
});
