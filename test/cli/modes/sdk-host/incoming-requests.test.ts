import { expect, test } from 'vitest';
import { CONTROL_REQUEST_HANDLERS } from '../../../../src/cli/modes/sdk-host/incoming-requests.ts';
import type { ActionResult, HostControlPort } from '../../../../src/contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../../../src/contracts/json.ts';
import { type FakeOptions, fakeConversation } from '../../../support/loop/fake-conversation.ts';
import { hostBench } from './host-bench.ts';

/** What a host gets for a request: the response, or the error. */
async function asked(request: JsonObject, options: FakeOptions = {}) {
  const answer = await hostBench(fakeConversation(options)).ask(request, 'q');
  return JSON.parse(JSON.stringify(answer));
}

const ok = (response: JsonObject) => ({ subtype: 'success', request_id: 'q', response });
const error = (words: string) => ({ subtype: 'error', request_id: 'q', error: words });
const control = (port: Partial<HostControlPort>): FakeOptions => ({ more: { control: port } });

test('an unknown request is reported as unsupported', async () => {
  expect(await asked({ subtype: 'teleport' })).toEqual(error('unsupported: teleport'));
});

test('an invalid request is answered with what is wrong', async () => {
  expect(await asked({ subtype: 'set_permission_mode' })).toMatchObject({
    subtype: 'error',
    error: expect.stringMatching(/^mode: /),
  });
});

test.each([
  [{ subtype: 'set_permission_mode', mode: 'plan' }, ok({ mode: 'plan' })],
  [{ subtype: 'set_permission_mode', mode: 'yolo' }, error('There is no mode "yolo".')],
  [{ subtype: 'set_model', model: 'haiku' }, ok({ model: 'haiku' })],
  [{ subtype: 'set_model' }, ok({ model: 'model-a' })],
  [{ subtype: 'set_model', model: 'nonsense' }, error('There is no model nonsense.')],
  [{ subtype: 'rename_session', title: 'Better' }, ok({})],
  [{ subtype: 'rename_session', title: 'x', session_id: 'other' }, error('That session is no longer open.')],
  [{ subtype: 'mcp_status' }, ok({ mcpServers: [{ name: 'files', status: 'connected' }] })],
  [{ subtype: 'get_binary_version' }, ok({ version: '0.0.0' })],
  [{ subtype: 'file_suggestions', query: 'a' }, ok({ suggestions: [] })],
  [{ subtype: 'background_tasks' }, ok({ backgrounded: false })],
  [{ subtype: 'cancel_async_message', message_uuid: 'm' }, ok({ cancelled: false })],
  [
    { subtype: 'rewind_files', user_message_id: 'm' },
    ok({ canRewind: false, error: 'There is no checkpoint for that message.' }),
  ],
  [{ subtype: 'mcp_message', server_name: 'none', message: {} }, error('The host has no MCP server named none.')],
  [{ subtype: 'get_session_cost' }, ok({ text: '$0.25, 10 in, 20 out', total_cost_usd: 0.25 })],
])('%j', async (request, answer) => {
  expect(await asked(request)).toEqual(answer);
});

test('usage reports time, cost and changed lines', async () => {
  const { response } = await asked({ subtype: 'get_usage' });
  expect(response.session).toMatchObject({
    total_cost_usd: 0.25,
    total_duration_ms: 9,
    total_lines_added: 3,
    total_lines_removed: 1,
  });
});

test('max thinking tokens: a number sets, null resets, undefined keeps', async () => {
  const said: unknown[] = [];
  const more = { setThinkingTokens: (tokens: number | undefined) => void said.push(tokens) };
  for (const value of [2000, null, undefined]) {
    await asked({ subtype: 'set_max_thinking_tokens', max_thinking_tokens: value }, { more });
  }
  expect(said).toEqual([2000, undefined]);
});

test('context usage is reported by category, with free space and a grid', async () => {
  const { response } = await asked({ subtype: 'get_context_usage' });
  expect(response).toMatchObject({
    categories: [
      { name: 'Messages', tokens: 50_000, kind: 'used' },
      { name: 'Free space', tokens: 150_000, kind: 'free' },
    ],
    totalTokens: 50_000,
    maxTokens: 200_000,
    percentage: 25,
    model: 'model-a',
  });
  expect(response.gridRows.flat().filter(({ isFilled }: { isFilled: boolean }) => isFilled)).toHaveLength(25);
  expect(response.gridRows.flat()).toHaveLength(100);
});

test('rewinding to a message restores its files, or previews it', async () => {
  const checkpoint = { id: 'c1', messageId: 'm1', prompt: 'p', at: '', files: 1, notCaptured: [] };
  const options: FakeOptions = {
    more: {
      checkpoints: async () => [checkpoint],
      rewind: async (id, what) => ({ ok: true, restored: [`${id} ${what}`], removed: ['b'], prompt: 'p' }),
      control: { previewRewind: async () => ({ ok: true, files: ['a'], insertions: 1, deletions: 2 }) },
    },
  };
  expect(await asked({ subtype: 'rewind_files', user_message_id: 'm1' }, options)).toEqual(
    ok({ canRewind: true, filesChanged: ['c1 files', 'b'] }),
  );
  expect(await asked({ subtype: 'rewind_files', user_message_id: 'm1', dry_run: true }, options)).toEqual(
    ok({ canRewind: true, filesChanged: ['a'], insertions: 1, deletions: 2 }),
  );
});

test('servers of the host and of settings are set together', async () => {
  const seen: unknown[] = [];
  const answer = await asked(
    {
      subtype: 'mcp_set_servers',
      servers: { calc: { type: 'sdk', name: 'calc' }, files: { command: 'files', args: ['.'] } },
    },
    control({
      setMcpServers: async (servers, hosted) => {
        seen.push(
          servers,
          hosted.map(({ name }) => name),
        );
        return { added: ['calc', 'files'], removed: [], errors: {} };
      },
    }),
  );
  expect(answer).toEqual(ok({ added: ['calc', 'files'], removed: [], errors: {} }));
  expect(seen).toEqual([{ files: { command: 'files', args: ['.'] } }, ['calc']]);
});

test.each<[JsonObject, (reported: unknown[]) => Partial<HostControlPort>, readonly unknown[]]>([
  [{ subtype: 'mcp_reconnect', serverName: 's' }, (reported) => ({ reconnectMcp: noted(reported) }), ['s']],
  [
    { subtype: 'mcp_toggle', serverName: 's', enabled: false },
    (reported) => ({ toggleMcp: noted(reported) }),
    ['s', 'off'],
  ],
  [{ subtype: 'stop_task', task_id: 't' }, (reported) => ({ stopTask: noted(reported) }), ['t']],
  [
    { subtype: 'update_settings', source: 'localSettings', settings: { outputStyle: 'x' } },
    (reported) => ({ updateSettings: noted(reported) }),
    ['local', { outputStyle: 'x' }],
  ],
  [
    { subtype: 'apply_flag_settings', settings: { model: 'x' } },
    (reported) => ({ updateSettings: noted(reported) }),
    ['flag', { model: 'x' }],
  ],
])('%j reaches the conversation', async (request, port, expected) => {
  const reported: unknown[] = [];
  expect(await asked(request, control(port(reported)))).toEqual(ok({}));
  expect(reported).toEqual(expected);
});

function noted(reported: unknown[]): (...args: readonly unknown[]) => Promise<ActionResult> {
  return async (...args) => {
    reported.push(...args);
    return { ok: true };
  };
}

test('a failed attempt is an error with its reason', async () => {
  const port = control({ stopTask: async () => ({ ok: false, problem: 'It has ended already.' }) });
  expect(await asked({ subtype: 'stop_task', task_id: 't' }, port)).toEqual(error('It has ended already.'));
});

test('files are read as text or as bytes', async () => {
  const port = control({
    readFile: async (path, maxBytes) => ({
      ok: true,
      path: `/project/${path}`,
      bytes: new Uint8Array([0x68, 0xff]),
      truncated: maxBytes === 2,
    }),
  });
  expect(await asked({ subtype: 'read_file', path: 'a' }, port)).toEqual(
    ok({ contents: 'h\ufffd', lossy: true, absPath: '/project/a', truncated: false }),
  );
  expect(await asked({ subtype: 'read_file', path: 'a', max_bytes: 2, encoding: 'base64' }, port)).toEqual(
    ok({ contents: 'aP8=', encoding: 'base64', absPath: '/project/a', truncated: true }),
  );
});

test('rules, settings, skills and models are listed with the names hosts expect', async () => {
  const port = control({
    permissionRules: () => ({
      rules: [{ text: 'Bash(rm *)', tool: 'Bash', specifier: 'rm *', behavior: 'deny', source: 'project' }],
      directories: ['/project'],
    }),
    settings: () => ({ merged: { model: 'x' }, sources: [{ source: 'user', settings: { model: 'x' } }] }),
    reloadSkills: async () => undefined,
  });
  expect(await asked({ subtype: 'list_permission_rules' }, port)).toMatchObject(
    ok({
      state: {
        rules: [{ behavior: 'deny', source: 'projectSettings', rule: 'Bash(rm *)', editability: 'persistent' }],
        workspaceDirectories: [{ path: '/project' }],
        originalCwd: '/project',
      },
    }),
  );
  expect(await asked({ subtype: 'get_settings' }, port)).toEqual(
    ok({ effective: { model: 'x' }, sources: [{ source: 'user', settings: { model: 'x' } }] }),
  );
  expect(await asked({ subtype: 'reload_skills' }, port)).toEqual(ok({ skills: [] }));
  expect(await asked({ subtype: 'list_models' })).toMatchObject(
    ok({ models: [{ value: 'default', resolvedModel: 'claude-opus-4-5' }, { value: 'model-a' }] }),
  );
});

test('every required request of the table is handled', () => {
  expect([...CONTROL_REQUEST_HANDLERS.keys()].toSorted()).toMatchInlineSnapshot(`
    [
      "apply_flag_settings",
      "background_tasks",
      "cancel_async_message",
      "file_suggestions",
      "get_binary_version",
      "get_context_usage",
      "get_session_cost",
      "get_settings",
      "get_usage",
      "list_models",
      "list_permission_rules",
      "mcp_message",
      "mcp_read_resource",
      "mcp_reconnect",
      "mcp_set_servers",
      "mcp_status",
      "mcp_toggle",
      "read_file",
      "reload_output_styles",
      "reload_plugins",
      "reload_skills",
      "rename_session",
      "rewind_files",
      "seed_read_state",
      "set_max_thinking_tokens",
      "set_mcp_permission_mode_override",
      "set_model",
      "set_permission_mode",
      "stop_task",
      "update_settings",
    ]
  `);
});
