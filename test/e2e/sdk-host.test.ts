import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSdkMcpServer,
  type Options,
  query,
  type SDKMessage,
  type SDKUserMessage,
  tool,
} from '@anthropic-ai/claude-agent-sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createChannel } from '../../src/lib/channel.ts';
import { type ApiTurn, calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, type Script, startApiServer } from '../support/api/server.ts';

/** The official SDK as the host of the real program, against the real API over loopback. */
let root: string;
let server: ApiServer;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'host-')));
  await writeFile(join(root, 'a.txt'), 'alpha\n');
});

afterEach(() => server.close());

async function api(...turns: readonly ApiTurn[]): Promise<void> {
  await apiWith({ turns });
}

async function apiWith(script: Script): Promise<void> {
  server = await startApiServer(script);
}

function options(more: Options = {}): Options {
  return {
    pathToClaudeCodeExecutable: new URL('../../bin/ouro', import.meta.url).pathname,
    cwd: root,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: root,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      OURO_RETRY_BASE_MS: '1',
    },
    ...more,
  };
}

async function all(messages: AsyncIterable<SDKMessage>): Promise<readonly SDKMessage[]> {
  const heard: SDKMessage[] = [];
  for await (const message of messages) heard.push(message);
  return heard;
}

const ask = (prompt: string, more: Options = {}) => all(query({ prompt, options: options(more) }));

const resultsOf = (heard: readonly SDKMessage[]) => heard.filter((message) => message.type === 'result');

/** The whole of a request as text, to look for words in. */
const sent = (index: number) => JSON.stringify(server.requests()[index]?.body);

const words = (content: string): SDKUserMessage => ({
  type: 'user',
  message: { role: 'user', content },
  parent_tool_use_id: null,
  session_id: '',
});

/** A host that speaks when it likes. */
function conversation() {
  const channel = createChannel<SDKUserMessage | 'end'>();
  async function* prompts(): AsyncGenerator<SDKUserMessage, void> {
    for (let next = await channel.next(); next !== 'end'; next = await channel.next()) yield next;
  }
  return { prompts: prompts(), say: (text: string) => channel.push(words(text)), end: () => channel.push('end') };
}

test('a question is answered', async () => {
  await api(says('forty-two'));
  const heard = await ask('what is it?');
  expect(heard.map((message) => ('subtype' in message ? message.subtype : message.type))).toEqual(
    expect.arrayContaining(['init', 'assistant', 'success']),
  );
  expect(resultsOf(heard)).toMatchObject([
    { subtype: 'success', is_error: false, result: 'forty-two', num_turns: 1, permission_denials: [] },
  ]);
  expect(server.all().map(({ violation }) => violation)).toEqual([undefined]);
});

test('streaming input: several prompts in one process, one session, a result each', async () => {
  await api(says('one'), says('two'));
  const host = conversation();
  const results: string[] = [];
  const sessions = new Set<string>();
  host.say('first');
  for await (const message of query({ prompt: host.prompts, options: options() })) {
    sessions.add(String(message.session_id));
    if (message.type !== 'result') continue;
    results.push(message.subtype === 'success' ? message.result : message.subtype);
    if (results.length === 1) host.say('second');
    else host.end();
  }
  expect(results).toEqual(['one', 'two']);
  expect(sessions.size).toBe(1);
  expect(sent(1)).toContain('first');
});

test('canUseTool decides, and may change the input', async () => {
  await api(calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')), says('done'));
  const asked: string[] = [];
  const heard = await ask('go', {
    canUseTool: async (name, input, { toolUseID }) => {
      asked.push(`${name} ${String(input.command)} ${toolUseID}`);
      return { behavior: 'allow', updatedInput: { command: 'echo from-the-host' } };
    },
  });
  expect(asked).toEqual(['Bash touch one toolu_1']);
  expect(sent(1)).toContain('from-the-host');
  expect(resultsOf(heard)).toMatchObject([{ subtype: 'success', result: 'done' }]);
});

test('a denial of canUseTool reaches the model in the host’s words', async () => {
  await api(calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')), says('I will not'));
  const heard = await ask('go', { canUseTool: async () => ({ behavior: 'deny', message: 'not on a Friday' }) });
  expect(sent(1)).toContain('not on a Friday');
  expect(resultsOf(heard)).toMatchObject([
    { subtype: 'success', result: 'I will not', permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1' }] },
  ]);
});

test('hooks of the host hear prompts and calls, and may block', async () => {
  await api(calls(toolUse('Read', { file_path: join('a.txt') }, 'toolu_1')), says('blocked'));
  const events: string[] = [];
  await ask('go', {
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
  expect(sent(0)).toContain('it is raining');
  expect(sent(1)).toContain('the hook says no');
});

test('tools of a server in the host’s own process are called', async () => {
  await api(calls(toolUse('mcp__calc__add', { a: 19, b: 23 }, 'toolu_1')), says('it is 42'));
  const calc = createSdkMcpServer({
    name: 'calc',
    tools: [
      tool('add', 'Adds.', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
        content: [{ type: 'text', text: `the sum is ${a + b}` }],
      })),
    ],
  });
  const heard = await ask('go', { mcpServers: { calc }, allowedTools: ['mcp__calc__add'] });
  expect(sent(1)).toContain('the sum is 42');
  expect(heard.find((message) => message.type === 'system' && message.subtype === 'init')).toMatchObject({
    tools: expect.arrayContaining(['mcp__calc__add']),
    mcp_servers: [{ name: 'calc', status: 'connected' }],
  });
});

test('interrupt ends the turn with a result, and the next prompt is heard', async () => {
  const { closed, open } = gate();
  await api(says('never', { faults: [{ at: 4, do: 'wait', until: closed, pings: 'pings' }] }), says('back'));
  const host = conversation();
  const running = query({ prompt: host.prompts, options: options() });
  host.say('first');
  // Nobody waits: the loop below hears what comes of it.
  void server.waitForRequest(1).then(() => running.interrupt());
  const heard: SDKMessage[] = [];
  for await (const message of running) {
    heard.push(message);
    if (message.type !== 'result') continue;
    if (resultsOf(heard).length === 1) host.say('second');
    else host.end();
  }
  open();
  expect(resultsOf(heard)).toMatchObject([
    { subtype: 'error_during_execution', is_error: true },
    { subtype: 'success', result: 'back' },
  ]);
  expect(JSON.stringify(heard)).toContain('[Request interrupted by user]');
});

test('setModel and setPermissionMode hold from the next turn on', async () => {
  await api(says('one'), calls(toolUse('Write', { file_path: 'b.txt', content: 'beta\n' })), says('two'));
  const host = conversation();
  const running = query({ prompt: host.prompts, options: options({ model: 'claude-sonnet-4-5' }) });
  host.say('first');
  let results = 0;
  for await (const message of running) {
    if (message.type !== 'result') continue;
    results += 1;
    if (results === 2) {
      host.end();
      continue;
    }
    await running.setModel('claude-haiku-4-5');
    await running.setPermissionMode('acceptEdits');
    await expect(running.setPermissionMode('auto')).rejects.toThrow();
    host.say('second');
  }
  expect(server.requests().map(({ body }) => body.model)).toEqual([
    expect.stringContaining('sonnet'),
    expect.stringContaining('haiku'),
    expect.stringContaining('haiku'),
  ]);
  expect(sent(2)).not.toContain('needs permission');
});

test('resume keeps the session, fork makes another', async () => {
  await api(says('Hello, Ann.'), says('You are Ann.'), says('Still Ann.'));
  const [first] = resultsOf(await ask('I am Ann'));
  const id = String(first?.session_id);
  const [second] = resultsOf(await ask('who am I?', { resume: id }));
  const [third] = resultsOf(await ask('and now?', { resume: id, forkSession: true }));
  expect(second?.session_id).toBe(id);
  expect(third?.session_id).not.toBe(id);
  expect(sent(1)).toContain('I am Ann');
  expect(sent(2)).toContain('who am I?');
});

test('maxTurns ends the run with its own result', async () => {
  await apiWith({ turns: () => calls(toolUse('Read', { file_path: 'a.txt' })) });
  const running = query({ prompt: 'go', options: options({ maxTurns: 2 }) });
  const heard: SDKMessage[] = [];
  try {
    for await (const message of running) heard.push(message);
  } catch {
    // The SDK throws after an error result; what counts was said before.
  }
  expect(resultsOf(heard)).toMatchObject([{ subtype: 'error_max_turns', is_error: true }]);
  expect(server.requests()).toHaveLength(2);
});

test('a structured answer comes as an object', async () => {
  await api(calls(toolUse('StructuredOutput', { n: 42 })));
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const heard = await ask('go', { outputFormat: { type: 'json_schema', schema } });
  expect(resultsOf(heard)).toMatchObject([{ subtype: 'success', structured_output: { n: 42 } }]);
});

test('partial messages bring the raw events, each block whole just before it ends', async () => {
  await api(calls(text('I look.'), toolUse('Read', { file_path: 'a.txt' })), says('seen'));
  const heard = await ask('go', { includePartialMessages: true });
  const kinds = heard.flatMap((message) => {
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

test('what a host asks about the run is answered', async () => {
  await api(says('one'));
  const host = conversation();
  const running = query({ prompt: host.prompts, options: options() });
  host.say('first');
  for await (const message of running) {
    if (message.type !== 'result') continue;
    expect((await running.supportedModels()).length).toBeGreaterThan(0);
    expect(await running.mcpServerStatus()).toEqual([]);
    expect(await running.supportedCommands()).toEqual(expect.any(Array));
    expect(await running.accountInfo()).toMatchObject({ apiKeySource: 'ANTHROPIC_API_KEY' });
    host.end();
  }
});

test('the system prompt is the host’s own: none by default, its words when given', async () => {
  await api(says('one'), says('two'));
  await ask('go');
  await ask('go', { systemPrompt: 'You are a pirate.' });
  expect(JSON.stringify(server.requests()[1]?.body.system)).toContain('You are a pirate.');
  expect(JSON.stringify(server.requests()[0]?.body.system ?? '')).not.toContain('ouro');
});
