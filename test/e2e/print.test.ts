import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, status, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../support/api/server.ts';
import { SHARED_CACHE } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const OURO = join(import.meta.dirname, '../../bin/ouro');

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(async () => {
  await server?.close();
  await project.remove();
});

const spoken = () => JSON.stringify(server.requests()[0]?.body.messages?.[0]);

/** A line for /bin/sh in front of the same server. */
async function shell(line: string) {
  const env = {
    ...SHARED_CACHE,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: project.home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    OURO,
  };
  return promisify(execFile)('/bin/sh', ['-c', line], { cwd: project.dir, env });
}

test('prompt and pipe are combined: prompt, newline, stdin', async () => {
  server = await startApiServer({ turns: [says('fine')] });
  expect(await runHere(project, ['-p', 'review this'], server.url, { stdin: 'the diff' })).toMatchObject({
    code: 0,
    stdout: 'fine\n',
    stderr: '',
  });
  expect(spoken()).toContain('review this\\nthe diff');
});

longTest('stdin alone is a prompt, also with ten megabytes', async () => {
  server = await startApiServer({ turns: [], after: says('long') });
  const { code, stdout } = await runHere(project, ['-p'], server.url, { stdin: 'x'.repeat(10_000_000) });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'long\n' });
});

test.each(
  someOf(
    [
      ['inside a pipe', '"$OURO" -p hello </dev/null | cat'],
      ['with stdin closed', '"$OURO" -p hello <&-'],
      ['with stdin from nowhere', '"$OURO" -p hello </dev/null'],
      [
        'as cron would',
        'env -i HOME="$HOME" PATH=/usr/bin:/bin ANTHROPIC_BASE_URL="$ANTHROPIC_BASE_URL" ANTHROPIC_API_KEY=k "$OURO" -p hello </dev/null',
      ],
      ['from a root directory that is not ours', 'cd / && "$OURO" -p hello </dev/null'],
    ],
    1,
  ),
)('works %s', async (_, line) => {
  server = await startApiServer({ turns: [says('here')] });
  expect(await shell(line)).toEqual({ stdout: 'here\n', stderr: '' });
});

longTest('an unreadable stdin is a failure, and so is a missing folder', async () => {
  server = await startApiServer({ turns: [], after: says('lost') });
  const host = '"$OURO" --input-format=stream-json --output-format=stream-json --verbose </; echo "code $?"';
  expect(await shell(host)).toMatchObject({
    stdout: 'code 1\n',
    stderr: expect.stringMatching(/^Reading stdin failed: /),
  });
  const line = 'mkdir gone && cd gone && rmdir ../gone && "$OURO" -p hello </dev/null; echo "code $?"';
  expect(await shell(line)).toMatchObject({
    stdout: 'code 1\n',
    stderr: expect.stringContaining('does not exist any more'),
  });
});

test.each(
  someOf(
    [
      [['-p'], /^No prompt given\. Usage: ouro -p/],
      [['-p', '--allowedTools', 'Read', 'what is it?'], /put the prompt first, or after --\.$/],
      [['-p', 'x', '--modle', 'y'], /^Unknown option --modle\. Did you mean --model\?/],
      [['-p', '-r'], /^--resume needs the id or title/],
    ],
    2,
  ),
)('%j: one line on stderr, nothing on stdout, exit 2', async (args, words) => {
  server = await startApiServer({ turns: [] });
  const { code, stdout, stderr } = await runHere(project, args, server.url);
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
  expect(stderr.trim()).toMatch(words);
  expect(server.all()).toEqual([]);
});

test('without any key the three ways are named, and no request is sent', async () => {
  server = await startApiServer({ turns: [] });
  const { code, stdout, stderr } = await runHere(project, ['-p', 'hi']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/ANTHROPIC_API_KEY.*`ollama\/.*`demo`/);
});

test.each(
  someOf(
    [
      [401, 'authentication_failed'],
      [404, 'model_not_found'],
      [400, 'invalid_request'],
    ],
    1,
  ),
)('a %d ends with exit code 1 and hosts get %s', async (code, error) => {
  server = await startApiServer({ turns: [], after: status(code) });
  const ended = await runHere(project, ['-p', 'hi', '--output-format', 'stream-json', '--verbose'], server.url);
  const lines = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(ended.code).toBe(1);
  expect(lines.find(({ type }) => type === 'assistant')).toMatchObject({ error, message: { model: '<synthetic>' } });
  expect(lines.at(-1)).toMatchObject({ is_error: true, terminal_reason: 'api_error', api_error_status: code });
  expect(server.all().length).toBeLessThanOrEqual(2);
});

test('the turn limit is enforced and reported in the result', async () => {
  server = await startApiServer({ turns: () => calls(toolUse('Read', { file_path: 'a.txt' })) });
  const { code, stdout } = await runHere(
    project,
    ['-p', 'go', '--max-turns', '2', '--output-format', 'json'],
    server.url,
  );
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ subtype: 'error_max_turns', is_error: true, num_turns: 2 });
});

test('a call that needs a question is denied with its reason, and the run continues', async () => {
  server = await startApiServer({
    turns: [calls(toolUse('Bash', { command: 'touch b' }, 'toolu_1')), says('then not')],
  });
  const { code, stdout } = await runHere(project, ['-p', 'go', '--output-format', 'json'], server.url);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    result: 'then not',
    permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: 'touch b' } }],
  });
  expect(JSON.stringify(server.requests()[1]?.body.messages)).toContain(
    'Allowed here without a question: commands that only read the workspace.',
  );
});

test('a file mentioned with @ is attached, unless a rule denies reading it', async () => {
  await project.write('secret.env', 'TOKEN=hush');
  server = await startApiServer({ turns: [says('seen')] });
  const settings = JSON.stringify({ permissions: { deny: ['Read(./secret.env)'] } });
  await runHere(project, ['-p', 'compare @a.txt and @secret.env', '--settings', settings], server.url);
  expect(spoken()).toContain('alpha');
  expect(spoken()).not.toContain('hush');
});

test('a structured answer is validated and printed as JSON', async () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  server = await startApiServer({
    turns: [
      says('Forty-two.'),
      calls(toolUse('StructuredOutput', { n: 'x' })),
      calls(toolUse('StructuredOutput', { n: 42 })),
    ],
  });
  const { code, stdout } = await runHere(project, ['-p', 'go', `--json-schema=${JSON.stringify(schema)}`], server.url);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"n":42}\n' });
});

longTest('a second signal ends it at once', async () => {
  const { closed, open } = gate();
  server = await startApiServer({
    turns: [says('never', { faults: [{ at: 3, do: 'wait', until: closed, pings: 'pings' }] })],
  });
  const running = startOuro(project, ['-p', 'wait'], server.url);
  await Promise.race([server.waitForRequest(1), running.ended]);
  running.child.kill('SIGTERM');
  running.child.kill('SIGINT');
  const [code] = await once(running.child, 'exit');
  open();
  expect([130, 143]).toContain(code);
});

test.each(
  someOf(
    [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const,
    1,
  ),
)('%s ends the run with its result and exit code %d', async (signal, code) => {
  const { closed, open } = gate();
  server = await startApiServer({
    turns: [says('never', { faults: [{ at: 3, do: 'wait', until: closed, pings: 'pings' }] })],
  });
  const running = startOuro(project, ['-p', 'wait', '--output-format=stream-json', '--verbose'], server.url);
  await Promise.race([server.waitForRequest(1), running.ended]);
  running.child.kill(signal);
  const end = await running.ended;
  open();
  expect(end.code).toBe(code);
  expect(JSON.parse(end.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    subtype: 'error_during_execution',
    is_error: true,
    terminal_reason: 'aborted_streaming',
  });
});

longTest('a signal during a stop hook ends the run as aborted, not as completed', async () => {
  server = await startApiServer({ turns: [says('It is done.')] });
  // The parent of the hook is ouro.
  const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'kill -TERM $PPID; exec sleep 600' }] }] };
  const settings = `--settings=${JSON.stringify({ hooks })}`;
  const end = await startOuro(project, ['-p', 'go', '--output-format=json', settings], server.url).ended;
  expect(end.code).toBe(143);
  expect(JSON.parse(end.stdout)).toMatchObject({ is_error: true, terminal_reason: 'aborted_tools' });
});

test('a model that repeats itself is stopped, with its own reason and exit code', async () => {
  server = await startApiServer({ turns: () => calls(toolUse('Read', { file_path: 'missing.txt' })) });
  const end = await runHere(project, ['-p', 'go', '--output-format=json'], server.url);
  expect(end.code).toBe(3);
  expect(JSON.parse(end.stdout)).toMatchObject({ is_error: true, terminal_reason: 'loop_detected', num_turns: 8 });
  expect(server.requests()).toHaveLength(8);
});

longTest('so it is with streamed prompts, whose last one decides the exit code', async () => {
  server = await startApiServer({ turns: () => calls(toolUse('Read', { file_path: 'missing.txt' })) });
  const stdin = `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'go' } })}\n`;
  const args = ['-p', '--input-format=stream-json', '--output-format=stream-json', '--verbose'];
  const end = await runHere(project, args, server.url, { stdin });
  expect(end.code).toBe(3);
  expect(end.stdout).toContain('"terminal_reason":"loop_detected"');
});
