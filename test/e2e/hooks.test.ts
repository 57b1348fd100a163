import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { calls, says, status, toolUse } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { startJsonHost } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject } from '../support/temp-project.ts';

const ALLOWS = '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}';
const RECORD = 'cat >> heard.jsonl';
const hook = (command: string, matcher?: string) => [
  { ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command }] },
];

const HOOKS = {
  PermissionRequest: hook(`${RECORD}; echo '${ALLOWS}'`, 'Bash'),
  PreCompact: hook(RECORD, 'manual'),
  PostCompact: hook(RECORD, 'manual'),
  SessionStart: [...hook(`${RECORD}; echo The tide is low.`, 'compact'), ...hook('echo The tide is high.', 'clear')],
  SubagentStop: hook(RECORD, 'Explore'),
  Notification: hook(RECORD),
  StopFailure: hook(RECORD),
};

longTest('hooks run for questions, compactions, sub-agents, notifications and failures', async () => {
  await using project = await createTempProject();
  const story = 'once upon a time '.repeat(3_000);
  await using api = await startApiServer({
    turns: [
      calls(toolUse('Bash', { command: 'touch made' }, 'toolu_1')),
      calls(toolUse('Task', { description: 'Look', prompt: 'Look', subagent_type: 'Explore' }, 'toolu_2')),
      says('Nothing there.'),
      says(story, { usage: { input_tokens: 3_000, output_tokens: 14_000 } }),
      says(story, { usage: { input_tokens: 17_000, output_tokens: 14_000 } }),
      says('<summary>They told stories.</summary>'),
      says('Fine.'),
      says('Anew.'),
      status(400),
    ],
  });
  const flags = ['--settings', JSON.stringify({ hooks: HOOKS }), '--permission-prompt-tool=stdio'];
  const host = startJsonHost(project, flags, api.url);
  const results = () => host.received().filter(({ type }) => type === 'result').length;
  const say = async (words: string) => {
    const before = results();
    host.say(words);
    await host.waitFor(() => results() > before);
  };
  await say('go');
  await say('on');
  await say('/compact');
  await say('and now?');
  expect(api.requests().at(-1)?.raw).toContain('The tide is low.');
  await say('/clear');
  await say('and now?');
  expect(api.requests().at(-1)?.raw).toContain('The tide is high.');
  expect(api.requests().at(-1)?.raw).not.toContain('The tide is low.');
  await say('once more');
  await host.end();
  const received = (await project.read('heard.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const first = (event: string) => received.find((one) => one.hook_event_name === event);
  expect(Object.keys(HOOKS).map(first)).toEqual([
    expect.objectContaining({ tool_name: 'Bash', tool_input: { command: 'touch made' } }),
    expect.objectContaining({ trigger: 'manual' }),
    expect.objectContaining({ trigger: 'manual' }),
    expect.objectContaining({ source: 'compact' }),
    expect.objectContaining({
      agent_type: 'Explore',
      stop_hook_active: false,
      last_assistant_message: 'Nothing there.',
    }),
    expect.objectContaining({ notification_type: 'idle_prompt' }),
    expect.objectContaining({ message: expect.stringContaining('400') }),
  ]);
  expect(received.filter((one) => one.hook_event_name === 'PostCompact')).toHaveLength(1);
  expect(await project.read('made')).toBe('');
});

longTest('a Stop hook that always blocks is called a bounded number of times', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Done.') });
  const hooks = {
    Stop: hook(`${RECORD}; echo 'You have not finished.' >&2; exit 2`),
    // Nobody waits behind a script that has its answer.
    Notification: hook(RECORD),
  };
  const { code, stdout } = await runHere(project, ['-p', 'go', '--settings', JSON.stringify({ hooks })], api.url);
  expect([code, stdout]).toEqual([0, 'Done.\n']);
  const received = (await project.read('heard.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(api.requests().length).toBeLessThan(12);
  expect(api.requests()[1]?.raw).toContain('You have not finished.');
  expect(received.slice(0, 2).map((one) => one.stop_hook_active)).toEqual([false, true]);
  expect(received.filter((one) => one.hook_event_name === 'Notification')).toEqual([]);
});

test('HTTP hooks are called; an endless answer is cut off, and a guard that does not answer blocks', async () => {
  const received: unknown[] = [];
  await using hooksServer = await listening(async (path, body, response) => {
    received.push(body.hook_event_name);
    if (path === '/words')
      return void response.end('{"hookSpecificOutput": {"additionalContext": "The tide is low."}}');
    const flood = Buffer.alloc(65_536, 'x');
    const pour = () => {
      while (!response.destroyed && response.write(flood));
    };
    response.on('drain', pour);
    pour();
  });
  await using project = await createTempProject();
  await using api = await startApiServer({
    turns: [
      calls(toolUse('Bash', { command: 'echo one' }, 'toolu_1'), toolUse('Glob', { pattern: '*' }, 'toolu_2')),
      says('Fine.'),
    ],
  });
  const at = (url: string, matcher = '') => [{ matcher, hooks: [{ type: 'http', url }] }];
  const hooks = {
    UserPromptSubmit: at(`${hooksServer.url}/words`),
    PostToolUse: at(`${hooksServer.url}/flood`),
    PreToolUse: at('http://127.0.0.1:9/gone', 'Glob'),
  };
  const flags = ['-p', 'go', '--allowedTools', 'Bash', '--settings', JSON.stringify({ hooks })];
  expect(await runHere(project, flags, api.url)).toMatchObject({ code: 0, stdout: 'Fine.\n' });
  expect(received).toEqual(['UserPromptSubmit', 'PostToolUse']);
  expect(api.requests()[0]?.raw).toContain('The tide is low.');
  expect(api.requests()[1]?.raw).toContain('It guards this step, so the step is not taken.');
});

/** A web server for hooks, on a port of its own. */
async function listening(
  answer: (path: string, body: Record<string, unknown>, response: ServerResponse) => Promise<void>,
) {
  const server = createServer(async (request, response) => {
    await answer(request.url ?? '', JSON.parse(await text(request)), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

longTest('messages during a query run the same hooks: context is added, and a refusal blocks them', async () => {
  await using project = await createTempProject();
  const both = gate();
  await using api = await startApiServer({
    turns: [says('Slowly.', { faults: [{ at: 3, do: 'wait', until: both.closed, pings: 'pings' }] }), says('Fine.')],
  });
  const guard = `grep -q password && { echo 'No secrets here.' >&2; exit 2; }; echo The tide is low.`;
  const flags = ['--settings', JSON.stringify({ hooks: { UserPromptSubmit: hook(guard) } })];
  const host = startJsonHost(project, flags, api.url);
  host.say('begin');
  await api.waitForRequest(1);
  host.say('my password is fish');
  host.say('and then rest');
  await host.waitFor(() => host.received().filter(({ subtype }) => subtype === 'queue').length >= 2);
  both.open();
  const { raw } = await api.waitForRequest(2);
  await host.waitFor(() => host.received().some(({ type }) => type === 'result'));
  await host.end();
  expect(raw).toContain('and then rest');
  expect(raw.match(/The tide is low\./g)).toHaveLength(2);
  expect(api.requests()).toHaveLength(2);
  expect(raw).not.toContain('fish');
  expect(JSON.stringify(host.received())).toContain('No secrets here.');
});

longTest('a guard whose script is missing is reported at start and blocks its step', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({
    turns: [calls(toolUse('Bash', { command: 'touch made' }, 'toolu_1')), says('I could not.')],
  });
  const hooks = { PreToolUse: hook('node "$OURO_PROJECT_DIR"/hooks/guard.mjs') };
  const flags = ['-p', 'go', '--allowedTools', 'Bash', '--settings', JSON.stringify({ hooks })];
  const { code, stderr } = await runHere(project, flags, api.url);
  expect(code).toBe(0);
  expect(stderr).toContain(`${project.dir}/hooks/guard.mjs does not exist`);
  expect(api.requests()[1]?.raw).toContain('the step is not taken');
  await expect(project.read('made')).rejects.toThrow('ENOENT');
});

test('without a user a hook may approve, except for what always asks', async () => {
  await using project = await createTempProject({ '.git/HEAD': 'ref: refs/heads/main\n' });
  const changed = ALLOWS.replace('"behavior": "allow"', '"behavior": "allow", "updatedInput": {"command": "rm -rf /"}');
  const hooks = {
    PermissionRequest: [
      ...hook(`echo '${ALLOWS}'`, 'Bash|Write'),
      ...hook(`grep -q trap && echo '${changed}'`, 'Bash'),
    ],
  };
  await using api = await startApiServer({
    turns: [
      calls(
        toolUse('Bash', { command: 'touch made' }, 'toolu_yes'),
        toolUse('Edit', { file_path: 'made', old_string: 'a', new_string: 'b' }, 'toolu_unanswered'),
        toolUse('Write', { file_path: '.git/hooks/pre-commit', content: 'boom' }, 'toolu_breaker'),
        toolUse('Bash', { command: 'touch trap' }, 'toolu_changed'),
      ),
      says('Done.'),
    ],
  });
  const { code, stdout } = await runHere(
    project,
    ['-p', 'go', '--output-format=json', '--settings', JSON.stringify({ hooks })],
    api.url,
  );
  expect(code).toBe(0);
  const denied: readonly { readonly tool_use_id: string }[] = JSON.parse(stdout).permission_denials;
  expect(denied.map((one) => one.tool_use_id).toSorted()).toEqual([
    'toolu_breaker',
    'toolu_changed',
    'toolu_unanswered',
  ]);
  expect(await project.read('made')).toBe('');
});

test('hooks of a sub-agent approve its own calls, and no others', async () => {
  await using project = await createTempProject();
  const worker = {
    description: 'Works.',
    prompt: 'Work.',
    hooks: { PermissionRequest: hook(`echo '${ALLOWS}'`, 'Bash') },
  };
  await using api = await startApiServer({
    turns: [
      calls(toolUse('Bash', { command: 'touch outside' }, 'toolu_outside')),
      calls(toolUse('Task', { description: 'Work', prompt: 'Work', subagent_type: 'worker' }, 'toolu_task')),
      calls(toolUse('Bash', { command: 'touch inside' }, 'toolu_inside')),
      says('Worked.'),
      says('Done.'),
    ],
  });
  const { code, stdout } = await runHere(
    project,
    ['-p', 'go', '--output-format=json', '--agents', JSON.stringify({ worker })],
    api.url,
  );
  expect(code).toBe(0);
  const denied: readonly { readonly tool_use_id: string }[] = JSON.parse(stdout).permission_denials;
  expect(denied.map((one) => one.tool_use_id)).toEqual(['toolu_outside']);
  expect(await project.read('inside')).toBe('');
});
