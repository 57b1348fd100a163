import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
  agent,
  type ClientCapabilities,
  client,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAcpAgent } from '../../../../src/cli/modes/acp/acp-agent.ts';
import { elicitFromEditor } from '../../../../src/cli/modes/acp/editor-questions.ts';
import { parseAcpPromptContent } from '../../../../src/cli/modes/acp/prompt-content.ts';
import { convertEventToAcp, convertMessagesToAcp } from '../../../../src/cli/modes/acp/session-updates.ts';
import type { AgentEvent } from '../../../../src/contracts/event.ts';
import type { CliRunOptions } from '../../../../src/contracts/frontend/cli-run-options.ts';
import type { Conversation } from '../../../../src/contracts/frontend/conversation.ts';
import { longTest } from '../../../support/long-test.ts';
import { type FakeOptions, fakeConversation } from '../../../support/loop/fake-conversation.ts';
import { calls, echoTool, fails, says } from '../../../support/loop/scripted.ts';
import { runOptions } from '../../../support/run-options.ts';

const OPTIONS = runOptions({ cwd: '/elsewhere', frontend: 'editor' });

/** An editor and our agent, face to face, without a process between them. */
async function editor(
  conversation: Conversation | string,
  chosen: (asked: RequestPermissionRequest) => string | undefined,
) {
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const opened: CliRunOptions[] = [];
  const app = createAcpAgent({
    options: OPTIONS,
    version: '1.2.3',
    listSessions: async (cwd) => [
      { id: 'session-9', title: 'Old', cwd: cwd ?? '/anywhere', at: '2026-01-01T00:00:00.000Z' },
    ],
    deleteSession: async (id) => (id === 'session-9' ? undefined : 'there is no such session'),
    findKeyProblem: async () => (conversation === 'No key.' ? 'No key.' : undefined),
    hasUntrustedConfig: async (cwd) => cwd === '/project',
    async openConversation(options) {
      opened.push(options);
      return typeof conversation === 'string' ? { ok: false, problem: conversation } : { ok: true, conversation };
    },
  });
  const { agent } = client({ name: 'test' })
    .onNotification('session/update', ({ params }) => {
      updates.push(params.update);
    })
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      const optionId = chosen(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .connect(app);
  const hello = await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const newSession = () => agent.request('session/new', { cwd: '/project', mcpServers: [] });
  const prompt = (text: string) =>
    agent.request('session/prompt', { sessionId: 'session-1', prompt: [{ type: 'text', text }] });
  return { agent, hello, updates, asked, opened, newSession, prompt };
}

const never = () => undefined;
const fake = (options: FakeOptions) => fakeConversation(options);

test('initialize returns the name and capabilities of the agent', async () => {
  const { hello } = await editor(fake({}), never);
  expect(hello).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'ouro', version: '1.2.3' },
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
  });
});

test('a session starts in the folder of the editor, with its servers and the available modes', async () => {
  const { agent, opened } = await editor(fake({}), never);
  const session = await agent.request('session/new', {
    cwd: '/project',
    additionalDirectories: ['/more'],
    mcpServers: [
      { name: 'files', command: 'files', args: ['.'], env: [{ name: 'A', value: 'b' }] },
      { type: 'http', name: 'web', url: 'http://127.0.0.1:1', headers: [] },
    ],
  });
  expect(session).toMatchObject({ sessionId: 'session-1', modes: { currentModeId: 'default' } });
  expect(opened).toMatchObject([
    {
      cwd: '/project',
      addDirs: ['/more'],
      mcpConfig: [
        JSON.stringify({
          mcpServers: {
            files: { command: 'files', args: ['.'], env: { A: 'b' } },
            web: { type: 'http', url: 'http://127.0.0.1:1', headers: {} },
          },
        }),
      ],
    },
  ]);
});

test('text streams, and calls are reported from announcement to result', async () => {
  const { newSession, prompt, updates } = await editor(
    fake({ replies: [calls({ name: 'Echo', input: { a: 1 }, id: 'c1' }), says('all done')] }),
    never,
  );
  await newSession();
  expect(await prompt('go')).toEqual({ stopReason: 'end_turn' });
  const reported = updates.filter(({ sessionUpdate }) => !/^(available_commands|usage)_update$/.test(sessionUpdate));
  expect(reported).toEqual([
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      title: 'Echo',
      name: 'Echo',
      kind: 'other',
      status: 'pending',
      content: [],
      locations: [],
      rawInput: { a: 1 },
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'in_progress', title: 'Echo', kind: 'other' },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'echo {"a":1}' } }],
    },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'all done' } },
  ]);
});

test('an edit is shown as a diff, before and after', async () => {
  const input = { file_path: '/project/a.txt', old_string: 'old', new_string: 'new' };
  const edit = echoTool({
    name: 'Edit',
    call: async () => ({
      content: 'changed',
      display: {
        kind: 'diff',
        path: '/project/a.txt',
        created: false,
        added: 1,
        removed: 1,
        hunks: [
          {
            oldStart: 1,
            oldLines: 2,
            newStart: 1,
            newLines: 2,
            lines: [
              { kind: 'same', text: 'first' },
              { kind: 'del', text: 'old' },
              { kind: 'add', text: 'new' },
            ],
          },
        ],
      },
    }),
  });
  const { newSession, prompt, updates } = await editor(
    fake({ replies: [calls({ name: 'Edit', input, id: 'c1' }), says('ok')], deps: { tools: () => [edit] } }),
    never,
  );
  await newSession();
  await prompt('go');
  expect(updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: 'tool_call',
      kind: 'edit',
      content: [{ type: 'diff', path: '/project/a.txt', oldText: 'old', newText: 'new' }],
      locations: [{ path: '/project/a.txt' }],
    }),
  );
  expect(updates).toContainEqual({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'completed',
    content: [{ type: 'diff', path: '/project/a.txt', oldText: 'first\nold\n', newText: 'first\nnew\n' }],
  });
});

test.each([
  ['allow', 'completed'],
  ['always:0', 'completed'],
  ['reject', 'failed'],
])('a permission answered with %s leaves the call %s', async (choice, status) => {
  const replies = [calls({ name: 'Echo', id: 'c1' }), says('ok')];
  const { newSession, prompt, updates, asked } = await editor(fake({ replies, gate: 'asks' }), () => choice);
  await newSession();
  expect(await prompt('go')).toEqual({ stopReason: 'end_turn' });
  expect(asked).toMatchObject([
    {
      sessionId: 'session-1',
      toolCall: { toolCallId: 'c1', title: 'Echo' },
      options: [
        { optionId: 'allow', kind: 'allow_once' },
        { optionId: 'always:0', kind: 'allow_always', name: 'Always allow Echo(echo *)' },
        { optionId: 'reject', kind: 'reject_once' },
      ],
    },
  ]);
  expect(updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status }),
  );
});

test('a tool’s choice is shown by its kind: yes, yes for later, no', async () => {
  const answered: unknown[] = [];
  const tool = echoTool({
    name: 'Choose',
    call: async (_, { ask }) => {
      const options = [
        { label: 'Once' },
        { label: 'Always', grade: 'always' },
        { label: 'Never', grade: 'no' },
      ] as const;
      answered.push(
        await ask({ kind: 'questions', questions: [{ question: 'May it?', multiSelect: false, options }] }),
      );
      return { content: 'asked' };
    },
  });
  const replies = [calls({ name: 'Choose', id: 'c1' }), says('ok')];
  const { newSession, prompt, asked } = await editor(fake({ replies, deps: { tools: () => [tool] } }), () => '2');
  await newSession();
  await prompt('go');
  expect(asked[0]?.options.map(({ name, kind }) => [name, kind])).toEqual([
    ['Once', 'allow_once'],
    ['Always', 'allow_always'],
    ['Never', 'reject_once'],
  ]);
  expect(answered).toEqual([{ kind: 'questions', answers: ['Never'] }]);
});

test('cancel ends the run, and the prompt reports it', async () => {
  const hold = Promise.withResolvers<void>();
  const conversation = fake({ replies: [{ ...says('half'), hold: hold.promise }] });
  const { newSession, prompt, agent } = await editor(conversation, never);
  await newSession();
  conversation.agent.subscribe((event) => {
    if (event.type === 'block_end') void agent.notify('session/cancel', { sessionId: 'session-1' });
  });
  expect(await prompt('go')).toEqual({ stopReason: 'cancelled' });
});

test('a prompt is delivered into the running one, and left to the editor when none runs', async () => {
  const outcomes: unknown[] = [];
  const tool = echoTool({
    name: 'Wait',
    async call() {
      outcomes.push(await steer('Use tabs.'));
      return { content: 'waited' };
    },
  });
  const conversation = fake({
    replies: [calls({ name: 'Wait', id: 'c1' }), says('ok')],
    deps: { tools: () => [tool] },
  });
  const { agent, hello, newSession, prompt } = await editor(conversation, never);
  const steer = (text: string) =>
    agent.request('_session/steering', { sessionId: 'session-1', prompt: [{ type: 'text', text }] });
  expect(hello).toMatchObject({ _meta: { steering: { supported: true } } });
  await newSession();
  outcomes.push(await steer('Nothing runs.'));
  expect(await prompt('go')).toEqual({ stopReason: 'end_turn' });
  expect(outcomes).toEqual([{ outcome: 'promptRequired' }, { outcome: 'injected' }]);
  const prompts = conversation.agent
    .state()
    .messages.flatMap((message) => (message.role === 'user' ? message.blocks : []));
  expect(JSON.stringify(prompts)).toContain('Use tabs.');
  expect(JSON.stringify(prompts)).not.toContain('Nothing runs.');
  await expect(agent.request('_session/steering', { sessionId: 'session-1', prompt: ['x'] })).rejects.toThrow();
});

test('a failed run is an error of the prompt with its reason', async () => {
  const { newSession, prompt } = await editor(fake({ replies: [fails('auth')] }), never);
  await newSession();
  await expect(prompt('go')).rejects.toThrow('scripted auth');
});

test('a session that cannot be opened states the reason', async () => {
  const { newSession } = await editor('No API key.', never);
  await expect(newSession()).rejects.toThrow('No API key.');
});

test('modes are set by id, and an unknown mode is refused', async () => {
  const { newSession, agent } = await editor(fake({}), never);
  await newSession();
  expect(await agent.request('session/set_mode', { sessionId: 'session-1', modeId: 'plan' })).toEqual({});
  await expect(agent.request('session/set_mode', { sessionId: 'session-1', modeId: 'yolo' })).rejects.toThrow('yolo');
});

test('loading a stored session replays it', async () => {
  const conversation = fake({ replies: [calls({ name: 'Echo', id: 'c1' }), says('done then')] });
  await conversation.agent.prompt('before');
  const { agent, updates, opened } = await editor(conversation, never);
  await agent.request('session/load', { sessionId: 'session-1', cwd: '/project', mcpServers: [] });
  expect(opened).toMatchObject([{ session: { kind: 'resume', wanted: 'session-1', fork: 'never' } }]);
  expect(updates.map(({ sessionUpdate }) => sessionUpdate).slice(0, 4)).toEqual([
    'user_message_chunk',
    'tool_call',
    'tool_call_update',
    'agent_message_chunk',
  ]);
});

test('stored sessions are listed, and a relative path is refused', async () => {
  const { agent } = await editor(fake({}), never);
  expect(await agent.request('session/list', { cwd: '/project' })).toEqual({
    sessions: [{ sessionId: 'session-9', title: 'Old', cwd: '/project', updatedAt: '2026-01-01T00:00:00.000Z' }],
  });
  await expect(agent.request('session/new', { cwd: 'project', mcpServers: [] })).rejects.toThrow(/absolute/);
});

test('model, thinking and mode are config options of the editor', async () => {
  const { agent, newSession } = await editor(fake({}), never);
  const { sessionId, configOptions } = await newSession();
  expect(configOptions).toMatchObject([
    { id: 'model', category: 'model', currentValue: 'model-a' },
    { id: 'effort', category: 'thought_level', currentValue: 'off' },
    { id: 'mode', category: 'mode', currentValue: 'default' },
  ]);
  const set = (configId: string, value: string) =>
    agent.request('session/set_config_option', { sessionId, configId, value });
  expect(await set('model', 'model-b')).toMatchObject({ configOptions: [{ currentValue: 'model-b' }, {}, {}] });
  await expect(set('model', 'nonsense')).rejects.toThrow(/no model nonsense/);
  await expect(set('colour', 'red')).rejects.toThrow(/no option colour/);
});

test('linked files are mentioned, embedded files are marked as data, and an empty prompt is refused', async () => {
  const received: unknown[] = [];
  const conversation = fake({
    replies: [says('read')],
    more: {
      async expandPrompt(words, images) {
        received.push(words, images);
        return words;
      },
    },
  });
  const { agent, newSession } = await editor(conversation, never);
  const { sessionId } = await newSession();
  await agent.request('session/prompt', {
    sessionId,
    prompt: [
      { type: 'text', text: 'compare' },
      { type: 'resource_link', name: 'a', uri: 'file:///project/a%20b.txt' },
      { type: 'text', text: 'with ' },
      { type: 'resource', resource: { uri: 'file:///project/c.txt', text: '/clear @secret' } },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
  });
  expect(received).toEqual([
    'compare @"/project/a b.txt" with /project/c.txt',
    [{ mediaType: 'image/png', data: 'AAAA' }],
  ]);
  expect(conversation.agent.state().messages[0]).toMatchObject({
    blocks: [{}, { type: 'text', text: '<file path="/project/c.txt">\n/clear @secret\n</file>' }],
  });
  await expect(agent.request('session/prompt', { sessionId, prompt: [] })).rejects.toThrow(/empty/);
});

longTest('keys are looked up when the editor asks, and a session without one reports it', async () => {
  const here = await editor(fake({}), never);
  const [method] = here.hello.authMethods ?? [];
  expect(await here.agent.request('authenticate', { methodId: method?.id ?? '' })).toEqual({});
  await expect(here.agent.request('authenticate', { methodId: 'other' })).rejects.toThrow(/only method is own-key/);
  const without = await editor('No key.', never);
  await expect(without.agent.request('authenticate', { methodId: method?.id ?? '' })).rejects.toMatchObject({
    code: -32000,
  });
  await expect(without.newSession()).rejects.toMatchObject({ code: -32000 });
});

longTest('an editor with terminals is offered to run the login of ouro in one', async () => {
  const methods = async (clientCapabilities: ClientCapabilities) => {
    const { agent } = await editor('No key.', never);
    return (await agent.request('initialize', { protocolVersion: 1, clientCapabilities })).authMethods;
  };
  expect(await methods({})).toMatchObject([{ id: 'own-key' }]);
  expect(await methods({ auth: { terminal: true } })).toMatchObject([
    { type: 'terminal', id: 'login', args: ['--login'] },
    { id: 'own-key' },
  ]);
});

longTest('a session is forked by its id and deleted', async () => {
  const { agent, opened } = await editor(fake({}), never);
  const cwd = '/project';
  const forked = await agent.request('session/fork', { sessionId: 'session-9', cwd, mcpServers: [] });
  expect(forked).toMatchObject({ sessionId: 'session-1' });
  expect(opened[0]?.session).toEqual({ kind: 'resume', wanted: 'session-9', fork: 'fork' });
  expect(await agent.request('session/delete', { sessionId: 'session-9' })).toEqual({});
  await expect(agent.request('session/delete', { sessionId: 'none' })).rejects.toThrow(/no such session/);
});

test('an untrusted folder is reported, and trusting it affects the open session', async () => {
  const ran: string[] = [];
  const conversation = {
    ...fake({ info: { trusted: false } }),
    async runCommand(line: string) {
      ran.push(line);
      return { kind: 'show', markdown: '/project is trusted now.' } as const;
    },
  };
  const { prompt, newSession, updates, opened } = await editor(conversation, never);
  await newSession();
  const words = () => updates.flatMap((update) => ('content' in update ? JSON.stringify(update.content) : [])).join('');
  await expect.poll(words).toContain('This folder is not trusted');
  expect(await prompt('/trust yes')).toEqual({ stopReason: 'end_turn' });
  expect(ran).toEqual(['trust yes']);
  expect(opened.map(({ session }) => session)).toEqual([{ kind: 'new' }, { kind: 'new', id: 'session-1' }]);
  expect(words()).toContain('/project is trusted now.');
});

test('calls of sub-agents are reported as part of the starting call, their text is not', () => {
  const inner = (event: AgentEvent): AgentEvent => ({
    type: 'subagent',
    agentId: 'a',
    agentType: 'Explore',
    callId: 'outer',
    event,
  });
  const block = { type: 'tool_use', id: 'inner', name: 'Read', input: { file_path: '/a' } } as const;
  expect(convertEventToAcp(inner({ type: 'block_end', messageId: 'm', model: 'm', index: 0, block }))).toMatchObject([
    { sessionUpdate: 'tool_call', toolCallId: 'inner', _meta: { parentToolCallId: 'outer' } },
  ]);
  expect(
    convertEventToAcp(inner({ type: 'message_update', messageId: 'm', index: 0, kind: 'text', delta: 'x' })),
  ).toEqual([]);
});

test('reminders that ouro adds to a user message are not replayed', () => {
  const blocks = [
    { type: 'text', text: '<reminder>\nThe date is now.\n</reminder>' },
    { type: 'text', text: 'hello' },
  ] as const;
  expect(
    convertMessagesToAcp([{ role: 'user', id: 'u', origin: 'prompt', at: '2026-01-01T00:00:00Z', blocks }]),
  ).toEqual([{ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'hello' } }]);
});

test('embedded files are shown as images, read as text, or named', () => {
  const blob = (mimeType: string, data: string) =>
    parseAcpPromptContent([{ type: 'resource', resource: { uri: 'file:///a', mimeType, blob: data } }]).attached;
  expect(blob('image/png', 'AAAA')).toMatchObject([{ type: 'image', source: { media_type: 'image/png' } }]);
  expect(blob('application/pdf', 'AAAA')).toMatchObject([{ type: 'document' }]);
  expect(blob('text/plain', Buffer.from('hi').toString('base64'))).toEqual([
    { type: 'text', text: '<file path="/a">\nhi\n</file>' },
  ]);
  expect(blob('application/zip', 'AAAA')).toMatchObject([{ text: expect.stringContaining('not readable here') }]);
});

test('an elicitation of a server is a form in editors that support it, and declined with the reason elsewhere', async () => {
  const question = {
    kind: 'elicitation',
    server: 'desk',
    message: 'Who?',
    wants: { mode: 'form', schema: { type: 'object', properties: { name: { type: 'string' } } } },
  } as const;
  const asked: unknown[] = [];
  const able = { elicitation: { form: {} } };
  const answered = async (capabilities: ClientCapabilities) => {
    const answer = Promise.withResolvers<unknown>();
    const app = agent({ name: 'ours' }).onRequest('session/new', async ({ client: editorSide }) => {
      const asker = { client: editorSide, sessionId: 's', capabilities };
      answer.resolve(await elicitFromEditor(asker, 'c', question, new AbortController().signal));
      return { sessionId: 's' };
    });
    const connected = client({ name: 'test' })
      .onRequest('elicitation/create', ({ params }) => {
        asked.push(params);
        return { action: 'accept', content: { name: 'Ada' } };
      })
      .connect(app);
    await connected.agent.request('session/new', { cwd: '/', mcpServers: [] });
    return answer.promise;
  };
  expect(await answered(able)).toEqual({ kind: 'elicitation', action: 'accept', content: { name: 'Ada' } });
  expect(asked).toMatchObject([
    { mode: 'form', sessionId: 's', toolCallId: 'c', message: 'The MCP server desk asks:\n│ Who?' },
  ]);
  expect(await answered({})).toMatchObject({ action: 'decline', reason: expect.stringContaining('cannot') });
});

/** Every method an agent may be asked by the stable specification. */
const METHODS = [
  'authenticate',
  'initialize',
  'session/cancel',
  'session/close',
  'session/delete',
  'session/list',
  'session/load',
  'session/new',
  'session/prompt',
  'session/resume',
  'session/set_config_option',
  'session/set_mode',
];

/** Methods that we do not offer, and say so by leaving out their capability. */
const NOT_OFFERED = ['logout'];

/** What we ask of an editor. */
const ASKED = [
  'elicitation/create',
  'fs/read_text_file',
  'fs/write_text_file',
  'session/request_permission',
  'session/update',
];

/** What we never ask: commands are run where ouro runs, and the server tells of a visited page itself. */
const NOT_ASKED = [
  'elicitation/complete',
  'terminal/create',
  'terminal/kill',
  'terminal/output',
  'terminal/release',
  'terminal/wait_for_exit',
];

test('every method of the ACP schema is supported or declined on purpose', async () => {
  const defs = z.object({
    $defs: z.record(z.string(), z.looseObject({ 'x-side': z.string().optional(), 'x-method': z.string().optional() })),
  });
  const path = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
  const { $defs } = defs.parse(JSON.parse(await readFile(path, 'utf8')));
  const methodsOf = (side: string) =>
    [
      ...new Set(Object.values($defs).flatMap((one) => (one['x-side'] === side ? (one['x-method'] ?? []) : []))),
    ].toSorted();
  expect(methodsOf('agent')).toEqual([...METHODS, ...NOT_OFFERED].toSorted());
  expect(methodsOf('client')).toEqual([...ASKED, ...NOT_ASKED].toSorted());
  const { agent: connected, hello } = await editor(fake({}), never);
  expect(hello.agentCapabilities?.auth).toBeUndefined();
  for (const method of METHODS.filter((one) => one !== 'session/cancel')) {
    // Whatever is wrong with an empty request, it is not that nobody knows the method.
    const answer = await connected.request(method, {}).then(
      () => 0,
      (thrown) => thrown.code,
    );
    expect([method, answer]).not.toEqual([method, -32601]);
  }
});
