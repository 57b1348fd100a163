import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, delayed, says, status, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, type Script, startApiServer } from '../support/api/server.ts';
import { HOST_FLAGS, startHostProcess, startJsonHost } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** The control protocol of the real program, line by line. */
let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

async function host(script: Script, ...flags: readonly string[]) {
  server = await startApiServer(script);
  return startJsonHost(project, flags, server.url);
}

const userLine = (content: unknown) => `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`;

/** The run of a host that has written everything beforehand. */
async function fed(stdin: string, script: Script, ...flags: readonly string[]) {
  server = await startApiServer(script);
  const end = await runHere(project, [...HOST_FLAGS, ...flags], server.url, { stdin });
  const lines: readonly Record<string, unknown>[] = end.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    // Written as often as the start of the program takes time.
    .filter(({ type }) => type !== 'keep_alive');
  return { ...end, lines, kinds: lines.map(({ type, subtype }) => String(subtype ?? type)) };
}

test('unreadable lines are reported with their number, and the others are handled', async () => {
  const { code, stderr, lines } = await fed(
    `\uFEFF${userLine('one')}\n{"type":"user"\n[1]\r\n{"type":"novel"}\n{"type":"user","message":3}\n{"type":"keep_alive"}\n${userLine('two')}{"type":"us`,
    { turns: [], after: says('heard') },
  );
  expect(code).toBe(0);
  const reported = lines.filter(({ subtype }) => subtype === 'input_error');
  expect(reported.map(({ line }) => line)).toEqual([3, 4, 6, 9]);
  expect(reported.every((line) => typeof line.uuid === 'string' && line.session_id === lines[0]?.session_id)).toBe(
    true,
  );
  expect(stderr.trim().split('\n')).toEqual(
    reported.map(({ line }) => expect.stringContaining(`Line ${line} of stdin`)),
  );
  expect(lines.filter(({ type }) => type === 'result').length).toBeGreaterThan(0);
  expect(
    server
      .requests()
      .map(({ body }) => JSON.stringify(body.messages))
      .at(-1),
  ).toMatch(/one.*two/);
});

longTest('an invalid first line ends the program', async () => {
  expect(await fed('hello\n', { turns: [] })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/Line 1 .* not JSON/),
  });
  expect(server.all()).toEqual([]);
});

test('no line at all, a message without text, a message without a newline', async () => {
  expect(await fed('', { turns: [] })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  await server.close();
  const empty = await fed(userLine('  '), { turns: [] });
  expect(empty.lines.at(-2)).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  expect(server.all()).toEqual([]);
  await server.close();
  expect(await fed(userLine('hi').trimEnd(), { turns: [says('whole')] })).toMatchObject({ code: 0 });
  expect(server.requests()).toHaveLength(1);
});

longTest(
  'images by URL go to the provider unchanged, plain documents as text, and anything else gets a result',
  async () => {
    const url = { type: 'url', url: 'https://pictures.example/cat.png' };
    const plain = { type: 'text', media_type: 'text/plain', data: 'the words of it' };
    const { code, lines } = await fed(
      userLine([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }]) +
        userLine([
          { type: 'text', text: 'what is it?', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: url },
          { type: 'document', title: 'Notes', source: plain },
        ]),
      { turns: [says('a cat')] },
    );
    expect(code).toBe(0);
    expect(lines.filter(({ type }) => type === 'result')).toMatchObject([
      { is_error: true, errors: [expect.stringMatching(/^Line 1 .*content\[0\]/)] },
      { is_error: false, result: 'a cat' },
    ]);
    const [request] = server.requests();
    expect(request?.violation).toBeUndefined();
    expect(JSON.stringify(request?.body.messages)).toContain(JSON.stringify({ type: 'image', source: url }));
    expect(request?.raw).toContain('Notes\\n\\nthe words of it');
  },
);

longTest('a message can be added without a model request, and a synthetic one is passed on verbatim', async () => {
  const line = (content: string, more: object) =>
    `${JSON.stringify({ type: 'user', message: { role: 'user', content }, ...more })}\n`;
  const { code, lines } = await fed(
    line('the tide is low', { shouldQuery: false, uuid: '7f1c2d9e-0000-4000-8000-000000000001' }) +
      line('/help @a.txt', { client_composed: true }),
    { turns: [says('so it is')] },
    '--replay-user-messages',
  );
  expect(code).toBe(0);
  expect(lines.filter(({ type }) => type === 'result')).toMatchObject([{ result: 'so it is' }]);
  expect(lines.filter(({ isReplay }) => isReplay === true)).toMatchObject([
    { uuid: '7f1c2d9e-0000-4000-8000-000000000001' },
    {},
  ]);
  expect(server.requests()).toHaveLength(1);
  expect(server.requests()[0]?.violation).toBeUndefined();
  expect(server.requests()[0]?.raw).toMatch(/the tide is low.*\/help @a\.txt/);
  expect(server.requests()[0]?.raw).not.toContain('alpha');
});

longTest('the exit code is that of the last prompt', async () => {
  const refused: Script = { turns: [], after: status(401) };
  expect(await fed(userLine('hi'), refused, '-p')).toMatchObject({ code: 1 });
  await server.close();
  expect(await fed(userLine('hi'), refused)).toMatchObject({ code: 1 });
  await server.close();
  expect(await fed(userLine('hi'), { turns: [says('one')] })).toMatchObject({ code: 0 });
});

test('requests without a listener get an error', async () => {
  const at = await host({ turns: [says('one')] });
  at.send({ type: 'keep_alive' });
  expect(await at.ask({ subtype: 'dance' })).toMatchObject({ subtype: 'error', error: 'unsupported: dance' });
  expect(await at.ask({})).toMatchObject({
    subtype: 'error',
    error: expect.stringMatching(/^Line 3 is not a valid control_request line$/),
  });
  expect(await at.ask({ subtype: 'initialize', hooks: 5 })).toMatchObject({
    subtype: 'error',
    error: expect.stringMatching(/^hooks: /),
  });
  expect(await at.ask({ subtype: 'initialize' })).toMatchObject({
    subtype: 'success',
    response: { output_style: 'default', available_output_styles: expect.arrayContaining(['explanatory']) },
  });
  expect(await at.ask({ subtype: 'initialize' })).toMatchObject({ response: { output_style: 'default' } });
  expect(await at.ask({ subtype: 'initialize', appendSystemPrompt: 'Be kind.' })).toMatchObject({
    subtype: 'error',
    error: expect.stringMatching(/must come first/),
  });
  expect(await at.ask({ subtype: 'set_permission_mode', mode: 'yolo' })).toMatchObject({ subtype: 'error' });
  expect(await at.ask({ subtype: 'set_permission_mode', mode: 'bypassPermissions' })).toMatchObject({
    subtype: 'error',
    error: expect.stringContaining('--dangerously-skip-permissions'),
  });
  expect(await at.end()).toBe(0);
});

test('rules, settings and files are returned, but no file that a call could not read', async () => {
  await mkdir(join(project.home, '.ssh'));
  await writeFile(join(project.home, '.ssh/id_rsa'), 'secret');
  const at = await host({ turns: [] }, '--allowedTools=Bash(ls *)', '--settings={"model":"haiku"}');
  expect(await at.ask({ subtype: 'list_permission_rules' })).toMatchObject({
    response: {
      state: { rules: expect.arrayContaining([expect.objectContaining({ source: 'cliArg', rule: 'Bash(ls *)' })]) },
    },
  });
  expect(await at.ask({ subtype: 'get_settings' })).toMatchObject({ response: { effective: { model: 'haiku' } } });
  expect(await at.ask({ subtype: 'read_file', path: 'a.txt', max_bytes: 3 })).toMatchObject({
    response: { contents: 'alp', truncated: true, absPath: join(project.dir, 'a.txt') },
  });
  for (const path of ['~/.ssh/id_rsa', '/etc/shadow', '/dev/zero', 'nowhere.txt'])
    expect(await at.ask({ subtype: 'read_file', path })).toMatchObject({ subtype: 'error' });
  expect(await at.ask({ subtype: 'stop_task', task_id: 'shell_9' })).toMatchObject({
    subtype: 'error',
    error: expect.stringMatching(/no background task/),
  });
  expect(await at.end()).toBe(0);
});

longTest('a host changes preferences in a file and for the session, but no permissions', async () => {
  await project.write('../home/.ouro/settings.json', '{\n  // mine\n  "theme": "dark"\n}\n');
  const at = await host({ turns: [], after: says('fine') }, '--model=claude-opus-4-5');
  const update = (settings: object, source = 'userSettings') =>
    at.ask({ subtype: 'update_settings', source, settings });
  expect(await update({ effortLevel: 'high' })).toMatchObject({ subtype: 'success' });
  expect(await project.read('../home/.ouro/settings.json')).toBe(
    '{\n  // mine\n  "theme": "dark",\n  "effort": "high"\n}\n',
  );
  for (const settings of [{ permissions: { allow: ['Bash'] } }, { hooks: {} }, { effort: 'huge' }, { model: 7 }])
    expect(await update(settings)).toMatchObject({ subtype: 'error' });
  expect(await update({ outputStyle: 'explanatory' }, 'localSettings')).toMatchObject({
    subtype: 'error',
    error: expect.stringContaining('not trusted'),
  });
  const now = (settings: object) => at.ask({ subtype: 'apply_flag_settings', settings });
  expect(await now({ model: 'claude-haiku-4-5', effortLevel: 'low' })).toMatchObject({ subtype: 'success' });
  expect(await now({ permissions: {} })).toMatchObject({ subtype: 'error' });
  at.say('go');
  await at.waitFor(({ type }) => type === 'result');
  expect(server.requests()[0]?.body.model).toBe('claude-haiku-4-5');
  expect(await at.ask({ subtype: 'reload_skills' })).toMatchObject({ subtype: 'success', response: { skills: [] } });
  expect(await at.end()).toBe(0);
});

longTest('a run that cannot start ends at once and says why', async () => {
  const at = await host({ turns: [] }, '--resume=nothing-like-it');
  expect(await at.ask({ subtype: 'initialize' })).toMatchObject({
    subtype: 'error',
    error: expect.stringMatching(/There is no session/),
  });
  expect(await at.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/There is no session/) });
});

test('a background command is stopped by its id', async () => {
  const at = await host(
    {
      turns: [
        calls(
          toolUse('Bash', { command: 'echo begun; sleep 300', run_in_background: true, description: 'wait for it' }),
        ),
        says('it runs'),
      ],
    },
    '--allowedTools=Bash(echo:*),Bash(sleep:*)',
  );
  at.say('go');
  await at.waitFor(({ type }) => type === 'result');
  const { task_id: id, ...started } = await at.waitFor(({ subtype }) => subtype === 'task_started');
  expect(started).toMatchObject({ description: 'wait for it', task_type: 'local_bash', is_backgrounded: true });
  const listed = () => at.received().filter(({ subtype }) => subtype === 'background_tasks_changed');
  expect(listed()).toMatchObject([{ tasks: [{ task_id: id, task_type: 'local_bash', description: 'wait for it' }] }]);
  expect(await at.ask({ subtype: 'stop_task', task_id: id })).toMatchObject({ subtype: 'success' });
  expect(await at.waitFor(({ subtype }) => subtype === 'task_notification')).toMatchObject({
    task_id: id,
    tool_use_id: started.tool_use_id,
    status: 'stopped',
    summary: expect.stringContaining('ended by signal'),
  });
  await at.waitFor(({ subtype, tasks }) => subtype === 'background_tasks_changed' && JSON.stringify(tasks) === '[]');
  expect(await at.end()).toBe(0);
});

longTest('a host receives an automatic turn like one it requested, also after the end of its input', async () => {
  const at = await host(
    {
      turns: [
        calls(toolUse('Bash', { command: 'until [ -e go ]; do sleep 0.05; done', run_in_background: true })),
        says('it runs'),
        says('it has ended'),
      ],
    },
    '--allowedTools=Bash',
  );
  at.say('go');
  await at.waitFor(({ type }) => type === 'result');
  await project.write('go', '');
  expect(await at.waitFor(({ result }) => result === 'it has ended')).toMatchObject({ subtype: 'success' });
  const types = at.received().map(({ type, subtype }) => `${type}/${subtype}`);
  const second = types.slice(types.indexOf('result/success') + 1);
  expect(second.filter((type) => /init|task_notification|result/.test(type))).toEqual([
    'system/task_notification',
    'system/init',
    'result/success',
  ]);
  at.say('and now');
  await at.waitFor(({ result }) => result === 'done');
  expect(await at.end()).toBe(0);
});

longTest('a host receives the cost of each reply, the queue, and summaries of calls', async () => {
  const gate = Promise.withResolvers<void>();
  const reads = ['1', '2', '3'].map((id) => toolUse('Read', { file_path: 'a.txt' }, `toolu_${id}`));
  const at = await host(
    {
      turns: [calls(...reads), delayed(gate.promise, says('read'))],
      side: ({ raw }) => (raw.includes('these tool calls') ? says('Read a file thrice') : undefined),
    },
    '--settings={"callSummaries":true}',
  );
  at.say('go');
  await at.waitFor(({ type }) => type === 'user');
  at.send({ type: 'user', uuid: 'b1b7e0f8-0000-4000-8000-000000000001', message: { role: 'user', content: 'and' } });
  await at.waitFor(({ subtype, state }) => subtype === 'queue' && state === 'queued');
  // It is shown while the next reply is waited for, or never.
  const summed = await at.waitFor(({ type }) => type === 'tool_use_summary');
  gate.resolve();
  await at.waitFor(({ subtype, state }) => subtype === 'queue' && state === 'completed');
  const queue = at.received().filter(({ subtype }) => subtype === 'queue');
  expect(queue.map(({ state, lane, message_uuid: uuid }) => [state, lane, uuid])).toEqual(
    ['queued', 'delivered', 'completed'].map((state) => [state, 'next', 'b1b7e0f8-0000-4000-8000-000000000001']),
  );
  const spends = at.received().filter(({ subtype }) => subtype === 'spend');
  expect(spends[0]).toMatchObject({ type: 'system', model: expect.any(String), usage: { input_tokens: 25 } });
  const costs = spends.map((line) => Number(line.total_cost_usd));
  expect(costs).toEqual([...costs].sort((a, b) => a - b));
  expect(costs[0]).toBeGreaterThan(0);
  expect(summed.summary).toBe('Read a file thrice');
  expect(new Set(Object(summed.preceding_tool_use_ids))).toEqual(new Set(['toolu_1', 'toolu_2', 'toolu_3']));
  expect(await at.end()).toBe(0);
});

longTest('without a key a host gets an error result', async () => {
  server = await startApiServer({ turns: [] });
  const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
  const at = startJsonHost(project, [], '', { env });
  at.say('go');
  const line = await at.waitFor(({ type }) => type === 'result');
  expect(line).toMatchObject({ is_error: true, errors: [expect.stringContaining('ANTHROPIC_API_KEY')] });
  expect(await at.ended).toMatchObject({ code: 1 });
});

longTest('the end of the parent process ends a running command within seconds', async () => {
  server = await startApiServer({ turns: [calls(toolUse('Bash', { command: 'echo up; sleep 300' }))] });
  const { running, ...at } = startHostProcess(project, ['--allowedTools=Bash'], server.url);
  at.say('go');
  await at.waitFor(({ type, message }) => type === 'assistant' && JSON.stringify(message).includes('sleep 300'));
  running.child.stdin.destroy();
  running.child.stdout.destroy();
  running.child.stderr.destroy();
  await once(running.child, 'exit');
  await expectNoProcessesLeft(project.marker);
});

test('a sub-agent is reported with its own lines: started, progress, completed', async () => {
  server = await startApiServer({
    turns: ({ raw }) => {
      if (raw.includes('look into a.txt') && raw.includes('toolu_inner')) return says('it says alpha');
      if (raw.includes('"look into a.txt"') && !raw.includes('toolu_task'))
        return calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_inner'));
      if (raw.includes('it says alpha')) return says('alpha then');
      return calls(
        toolUse(
          'Task',
          { description: 'Read a file', prompt: 'look into a.txt', subagent_type: 'general-purpose' },
          'toolu_task',
        ),
      );
    },
  });
  const at = startJsonHost(project, [], server.url);
  at.say('go');
  expect(await at.waitFor(({ type }) => type === 'result')).toMatchObject({ result: 'alpha then' });
  const own = at.received().filter((line) => line.parent_tool_use_id === 'toolu_task');
  const kinds = own.map(({ type, subtype }) => subtype ?? type);
  // A call may end before the reply it is part of, whose cost is then reported later.
  expect(kinds.filter((kind) => kind !== 'spend')).toEqual([
    'user',
    'assistant',
    'user',
    'transition',
    'assistant',
    'transition',
  ]);
  expect(kinds.filter((kind) => kind === 'spend')).toHaveLength(2);
  const tasks = at.received().filter(({ subtype }) => String(subtype).startsWith('task_'));
  expect(tasks).toMatchObject([
    {
      subtype: 'task_started',
      tool_use_id: 'toolu_task',
      description: 'Read a file',
      subagent_type: 'general-purpose',
    },
    { subtype: 'task_progress', last_tool_name: 'Read', usage: { tool_uses: 1 } },
    { subtype: 'task_notification', status: 'completed', summary: 'Read a file', usage: { tool_uses: 1 } },
  ]);
  expect(await at.end()).toBe(0);
});

longTest('a host that exits while a request is open leaves no process waiting', async () => {
  const at = await host(
    { turns: [calls(toolUse('Bash', { command: 'touch b' }, 'toolu_1')), says('then not')] },
    '--permission-prompt-tool=stdio',
  );
  at.say('go');
  await at.waitFor(({ type }) => type === 'control_request');
  expect(await at.end()).toBe(0);
  expect(at.received().at(-2)).toMatchObject({
    type: 'result',
    result: 'then not',
    permission_denials: [{ tool_use_id: 'toolu_1' }],
  });
});

test('an interrupt withdraws the request, ends the turn, and is then answered', async () => {
  const at = await host(
    { turns: [calls(toolUse('Bash', { command: 'touch b' }, 'toolu_1')), says('back')] },
    '--permission-prompt-tool=stdio',
  );
  at.say('go');
  const question = await at.waitFor(({ type }) => type === 'control_request');
  expect(await at.ask({ subtype: 'interrupt' })).toMatchObject({ subtype: 'success' });
  expect(await at.waitFor(({ type }) => type === 'result')).toMatchObject({ subtype: 'error_during_execution' });
  const kinds = at.received().map((line) => String(line.subtype ?? line.type));
  expect(at.received()).toContainEqual({ type: 'control_cancel_request', request_id: question.request_id });
  expect(kinds.indexOf('control_cancel_request')).toBeLessThan(kinds.indexOf('control_response'));
  expect(kinds.indexOf('control_response')).toBeLessThan(kinds.indexOf('error_during_execution'));
  expect(JSON.stringify(at.received())).toContain('[Request interrupted by user');
  at.say('go on');
  expect(await at.waitFor(({ result }) => result === 'back')).toMatchObject({ is_error: false });
  expect(await at.end()).toBe(0);
});

longTest('a signal ends a host process with its own exit code, and a closed stdout ends it as a failure', async () => {
  const { closed, open } = gate();
  const never: Script = {
    turns: [],
    after: says('never', { faults: [{ at: 3, do: 'wait', until: closed, pings: 'pings' }] }),
  };
  server = await startApiServer(never);
  const killed = startHostProcess(project, [], server.url);
  killed.say('go');
  await server.waitForRequest(1);
  killed.running.child.kill('SIGTERM');
  expect((await killed.running.ended).code).toBe(143);
  const left = startHostProcess(project, [], server.url);
  left.say('go');
  await server.waitForRequest(2);
  await once(left.running.child.stdout.destroy(), 'close');
  // Only a pipe that is closed already refuses an answer, and the system may take its time to close it.
  const asking = setInterval(
    () => left.send({ type: 'control_request', request_id: 'x', request: { subtype: 'list_models' } }),
    20,
  );
  expect(await left.running.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('Stdout has no reader') });
  clearInterval(asking);
  open();
});

test.each(
  someOf(
    [
      { flags: [], reported: 1, sent: false },
      { flags: ['--setting-sources='], reported: 1, sent: false },
      { flags: ['--permission-mode=plan'], reported: 1, sent: false },
      { flags: ['--trust'], reported: 0, sent: true },
    ],
    2,
  ),
)('for an untrusted folder no instructions are sent: $flags', async ({ flags, reported, sent }) => {
  await project.write('CLAUDE.md', 'Speak of herons. @more.md');
  await project.write('more.md', 'Herons again.');
  const { stderr } = await fed(userLine('hello'), { turns: () => says('Hi.') }, ...flags);
  expect(stderr.split('its instructions are not read (CLAUDE.md)')).toHaveLength(reported + 1);
  expect(/herons/i.test(server.requests()[0]?.raw ?? '')).toBe(sent);
});
