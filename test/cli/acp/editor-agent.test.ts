import { client, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { createEditorAgent } from '../../../src/cli/acp/editor-agent.ts';
import type { Conversation } from '../../../src/contracts/face/conversation.ts';
import type { RunOptions } from '../../../src/contracts/face/run-options.ts';
import { type FakeOptions, fakeConversation } from '../../support/loop/fake-conversation.ts';
import { calls, echoTool, fails, says } from '../../support/loop/scripted.ts';
import { runOptions } from '../../support/run-options.ts';

const OPTIONS = runOptions({ cwd: '/elsewhere', face: 'editor' });

/** An editor and our agent, face to face, without a process between them. */
async function editor(
  conversation: Conversation | string,
  chosen: (asked: RequestPermissionRequest) => string | undefined,
) {
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const opened: RunOptions[] = [];
  const app = createEditorAgent({
    options: OPTIONS,
    version: '1.2.3',
    list: async (cwd) => [{ id: 'session-9', title: 'Old', cwd: cwd ?? '/anywhere', at: '2026-01-01T00:00:00.000Z' }],
    async open(options) {
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

test('the agent says who it is and what it can', async () => {
  const { hello } = await editor(fake({}), never);
  expect(hello).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'ouro', version: '1.2.3' },
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
  });
});

test('a session begins where the editor says, with its servers and the modes to choose from', async () => {
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

test('words stream and calls are told from announcement to result', async () => {
  const { newSession, prompt, updates } = await editor(
    fake({ replies: [calls({ name: 'Echo', input: { a: 1 }, id: 'c1' }), says('all done')] }),
    never,
  );
  await newSession();
  expect(await prompt('go')).toEqual({ stopReason: 'end_turn' });
  const told = updates.filter(({ sessionUpdate }) => !/^(available_commands|usage)_update$/.test(sessionUpdate));
  expect(told).toEqual([
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

test('cancel ends the run, and the prompt says so', async () => {
  const hold = Promise.withResolvers<void>();
  const conversation = fake({ replies: [{ ...says('half'), hold: hold.promise }] });
  const { newSession, prompt, agent } = await editor(conversation, never);
  await newSession();
  conversation.agent.subscribe((event) => {
    if (event.type === 'block_end') void agent.notify('session/cancel', { sessionId: 'session-1' });
  });
  expect(await prompt('go')).toEqual({ stopReason: 'cancelled' });
});

test('a failed run is an error of the prompt, with its reason', async () => {
  const { newSession, prompt } = await editor(fake({ replies: [fails('auth')] }), never);
  await newSession();
  await expect(prompt('go')).rejects.toThrow('scripted auth');
});

test('a session that cannot be opened says why', async () => {
  const { newSession } = await editor('No API key.', never);
  await expect(newSession()).rejects.toThrow('No API key.');
});

test('modes are changed by name, and what is no mode is refused', async () => {
  const { newSession, agent } = await editor(fake({}), never);
  await newSession();
  expect(await agent.request('session/set_mode', { sessionId: 'session-1', modeId: 'plan' })).toEqual({});
  await expect(agent.request('session/set_mode', { sessionId: 'session-1', modeId: 'yolo' })).rejects.toThrow('yolo');
});

test('a stored session is told again when it is loaded', async () => {
  const conversation = fake({ replies: [calls({ name: 'Echo', id: 'c1' }), says('done then')] });
  await conversation.agent.prompt('before');
  const { agent, updates, opened } = await editor(conversation, never);
  await agent.request('session/load', { sessionId: 'session-1', cwd: '/project', mcpServers: [] });
  expect(opened).toMatchObject([{ session: { kind: 'resume', wanted: 'session-1', fork: 'same' } }]);
  expect(updates.map(({ sessionUpdate }) => sessionUpdate).slice(0, 4)).toEqual([
    'user_message_chunk',
    'tool_call',
    'tool_call_update',
    'agent_message_chunk',
  ]);
});

test('stored sessions are listed, and a folder that is no absolute path is refused', async () => {
  const { agent } = await editor(fake({}), never);
  expect(await agent.request('session/list', { cwd: '/project' })).toEqual({
    sessions: [{ sessionId: 'session-9', title: 'Old', cwd: '/project', updatedAt: '2026-01-01T00:00:00.000Z' }],
  });
  await expect(agent.request('session/new', { cwd: 'project', mcpServers: [] })).rejects.toThrow(/absolute/);
});

test('model and thinking are pickers of the editor', async () => {
  const { agent, newSession } = await editor(fake({}), never);
  const { sessionId, configOptions } = await newSession();
  expect(configOptions).toMatchObject([
    { id: 'model', category: 'model', currentValue: 'model-a' },
    { id: 'effort', category: 'thought_level', currentValue: 'off' },
  ]);
  const set = (configId: string, value: string) =>
    agent.request('session/set_config_option', { sessionId, configId, value });
  expect(await set('model', 'model-b')).toMatchObject({ configOptions: [{ currentValue: 'model-b' }, {}] });
  await expect(set('model', 'nonsense')).rejects.toThrow(/no model nonsense/);
  await expect(set('colour', 'red')).rejects.toThrow(/no option colour/);
});

test('linked files are named, files that came along are kept apart, and nothing at all is refused', async () => {
  const heard: unknown[] = [];
  const conversation = fake({
    replies: [says('read')],
    more: {
      async expandPrompt(words, images) {
        heard.push(words, images);
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
  expect(heard).toEqual([
    'compare @"/project/a b.txt" with /project/c.txt',
    [{ mediaType: 'image/png', data: 'AAAA' }],
  ]);
  expect(conversation.agent.state().messages[0]).toMatchObject({
    blocks: [{}, { type: 'text', text: '<file path="/project/c.txt">\n/clear @secret\n</file>' }],
  });
  await expect(agent.request('session/prompt', { sessionId, prompt: [] })).rejects.toThrow(/empty/);
});
