import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, status, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** Every flag is not only understood but honoured: seen in the request that leaves. */
let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n', 'more.md': 'from a file' });
  server = await startApiServer({ turns: [], after: says('fine') });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

/** The first request of a run with these flags. */
async function requestOf(...flags: readonly string[]) {
  const end = await runHere(project, ['-p', 'go', ...flags], server.url);
  expect(end).toMatchObject({ code: 0, stdout: 'fine\n' });
  const seen = server.requests().at(-1);
  const tools = Array.isArray(seen?.body.tools) ? seen.body.tools : [];
  return {
    ...seen?.body,
    names: tools.map(({ name }: { readonly name: string }) => name),
    betas: seen?.headers['anthropic-beta'],
    words: JSON.stringify(seen?.body.system ?? ''),
    stderr: end.stderr,
  };
}

test('model, betas and thinking budget', async () => {
  const flags = ['--model', 'claude-sonnet-4-5', '--max-thinking-tokens=5000', '--betas=one,two'];
  expect(await requestOf(...flags)).toMatchObject({
    model: 'claude-sonnet-4-5',
    thinking: { type: 'enabled', budget_tokens: 5000 },
    betas: expect.stringContaining('one,two'),
  });
});

longTest('by default thinking and output limit are those of the model', async () => {
  const asked = await requestOf();
  expect(asked).toMatchObject({ thinking: { type: 'adaptive' }, max_tokens: 128_000 });
  expect(asked).not.toHaveProperty('output_config');
});

test('an effort that the model does not support is refused before any request', async () => {
  const end = await runHere(project, ['-p', 'go', '--model=claude-sonnet-4-6', '--effort=xhigh'], server.url);
  expect(end).toMatchObject({ code: 1, stdout: '' });
  expect(end.stderr).toContain('sonnet 4.6 has no effort "xhigh". Choose one of auto, off, low, medium, high, max.');
  expect(server.requests()).toEqual([]);
});

longTest('a usage limit is waited out on request; otherwise its reset time is reported', async () => {
  const limited = { turns: [status(429, 'used up', { 'retry-after-ms': '150' }), says('fine')] };
  await using waited = await startApiServer(limited);
  const settings = { env: { OURO_MAX_RETRIES: '0' } };
  expect(await runHere(project, ['-p', 'go', '--wait-for-limit'], waited.url, settings)).toMatchObject({
    code: 0,
    stdout: 'fine\n',
    stderr: expect.stringMatching(/Usage limit reached\. ouro continues when it is reset at \d\d:\d\d\./),
  });
  await using ended = await startApiServer(limited);
  const end = await runHere(project, ['-p', 'go', '--output-format=json'], ended.url, settings);
  expect(end.code).toBe(1);
  expect(JSON.parse(end.stdout)).toMatchObject({ is_error: true, api_error_status: 429, retry_after_ms: 150 });
  const headers = { 'anthropic-ratelimit-requests-remaining': '0', 'anthropic-ratelimit-requests-reset': '90' };
  await using wordless = await startApiServer({ turns: [status(429, 'used up', headers)] });
  const reported = await runHere(project, ['-p', 'go', '--output-format=json'], wordless.url, settings);
  expect(JSON.parse(reported.stdout)).toMatchObject({ is_error: true, retry_after_ms: 90_000 });
});

test.each(someOf([['json'], ['stream-json', '--verbose']]))(
  'without a key %s gets an error result',
  async (...more) => {
    const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
    const end = await runHere(project, ['-p', 'go', '--output-format', ...more], undefined, { env });
    expect(end.code).toBe(1);
    expect(JSON.parse(end.stdout)).toMatchObject({
      type: 'result',
      is_error: true,
      errors: [expect.stringContaining('ANTHROPIC_API_KEY')],
    });
  },
);

longTest('an unsupported effort of the settings is reported with its replacement', async () => {
  const asked = await requestOf('--model=claude-sonnet-4-6', '--settings={"effort":"xhigh"}');
  expect(asked).toMatchObject({ output_config: { effort: 'high' } });
  expect(asked.stderr).toContain('sonnet 4.6 has no effort "xhigh".');
});

longTest('effort, and disabled thinking', async () => {
  expect(await requestOf('--model=opus', '--effort=high')).toMatchObject({
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
  });
  expect(await requestOf('--model=haiku', '--effort=high', '--thinking=disabled')).toMatchObject({
    thinking: { type: 'disabled' },
  });
  // This one always thinks.
  expect(await requestOf('--model=opus', '--thinking=disabled')).toMatchObject({ output_config: { effort: 'low' } });
});

test('only listed tools, without disallowed ones', async () => {
  expect((await requestOf('--tools=Read,Grep,Bash', '--disallowedTools=Bash')).names).toEqual(['Grep', 'Read']);
  expect((await requestOf('--tools=')).names).toEqual([]);
  expect(await requestOf('--tools=Raed,mcp__x__y')).toMatchObject({
    names: [],
    stderr: 'There is no tool Raed, so --tools cannot offer it. Did you mean Read?\n',
  });
});

test('system prompts replaced and extended, from text and from files', async () => {
  const { words } = await requestOf('--system-prompt', 'You are a pirate.', '--append-system-prompt-file=more.md');
  expect(words).toContain('You are a pirate.');
  expect(words).toContain('from a file');
  expect(words).not.toContain('You are ouro');
});

longTest('a sub-agent as the main agent has its prompt, its tools and its model', async () => {
  const agents = { pirate: { description: 'd', prompt: 'Say arr.', tools: ['Read'], model: 'haiku' } };
  const request = await requestOf(`--agents=${JSON.stringify(agents)}`, '--agent', 'pirate');
  expect(request).toMatchObject({ model: expect.stringContaining('haiku'), names: ['Read'] });
  expect(request.words).toContain('Say arr.');
  const { code, stderr } = await runHere(project, ['-p', 'go', '--agent=Explor'], server.url);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'There is no sub-agent "Explor" for --agent. Did you mean Explore?\n',
  });
});

test('--settings applies, and selected sources exclude the others', async () => {
  await project.write('../home/.ouro/settings.json', '{"model": "claude-opus-4-5"}');
  expect((await requestOf('--settings={"model": "claude-haiku-4-5"}')).model).toBe('claude-haiku-4-5');
  expect((await requestOf()).model).toBe('claude-opus-4-5');
  const sandboxed = await requestOf('--settings={"sandbox":{"enabled":true,"failIfUnavailable":true}}');
  expect(sandboxed.stderr).toBe('');
  expect((await requestOf('--setting-sources=')).model).not.toBe('claude-opus-4-5');
});

longTest('a managed policy of the host tightens, and does nothing else', async () => {
  await project.write('a.txt', 'alpha\n');
  const policy = { model: 'claude-haiku-4-5', permissions: { deny: ['Read(a.txt)'], allow: ['Bash'] } };
  await using api = await startApiServer({
    turns: [
      calls(
        toolUse('Read', { file_path: 'a.txt' }, 'toolu_denied'),
        toolUse('Bash', { command: 'touch made' }, 'toolu_not_allowed'),
      ),
      says('done'),
    ],
  });
  const args = [
    '-p',
    'go',
    '--output-format=json',
    '--allowedTools=Read',
    '--managed-settings',
    JSON.stringify(policy),
  ];
  const { stdout, stderr } = await runHere(project, args, api.url);
  expect(JSON.parse(stdout).permission_denials).toMatchObject([
    { tool_use_id: 'toolu_denied' },
    { tool_use_id: 'toolu_not_allowed' },
  ]);
  expect(stderr).toMatch(/--managed-settings.*may only tighten.*permissions\.allow, model/);
  expect(api.requests()[0]?.body.model).not.toBe('claude-haiku-4-5');
  expect(await runHere(project, ['-p', 'go', '--managed-settings', '{deny'], api.url)).toMatchObject({ code: 2 });
});

longTest('a folder is trusted for one run, and additional folders are writable', async () => {
  await project.write('.claude/settings.json', JSON.stringify({ model: 'claude-haiku-4-5' }));
  expect((await requestOf()).model).not.toBe('claude-haiku-4-5');
  expect((await requestOf('--trust')).model).toBe('claude-haiku-4-5');
  expect((await requestOf()).model).not.toBe('claude-haiku-4-5');
  const other = await project.write('../other/b.txt', 'beta');
  await server.close();
  server = await startApiServer({
    turns: ({ raw }) =>
      raw.includes('toolu_1') ? says('fine') : calls(toolUse('Read', { file_path: other }, 'toolu_1')),
  });
  expect(JSON.stringify((await requestOf()).messages)).toContain('This run cannot ask for approval');
  expect(JSON.stringify((await requestOf('--add-dir=../other')).messages)).toContain('beta');
});

longTest('a session with a chosen id is continued, forked, or not stored at all', async () => {
  const id = '7f7e2b0a-9a56-4d1b-8d3c-5d8c3c1c9c11';
  await requestOf('--session-id', id);
  expect(JSON.stringify((await requestOf('--resume', id)).messages).match(/go/g)).toHaveLength(2);
  expect(JSON.stringify((await requestOf('--continue', '--fork-session')).messages).match(/go/g)).toHaveLength(3);
  expect(await runHere(project, ['-p', 'go', '-c', '--fork-session', `--session-id=${id}`], server.url)).toMatchObject({
    code: 1,
    stderr: `Session ${id} already exists. Resume it with: ouro --resume ${id}\n`,
  });
  expect(await runHere(project, ['-p', 'go', '--resume', id, '--resume-session-at=none'], server.url)).toMatchObject({
    code: 1,
    stderr: 'The session has no message none to resume at.\n',
  });
  const other = 'a37a5ed4-6e3b-4b39-8f1c-6a1df6a9f0f3';
  await requestOf('--session-id', other, '--no-session-persistence');
  expect(await runHere(project, ['-p', 'go', '--resume', other], server.url)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `There is no session "${other}". Run "ouro sessions list" to see all sessions.\n`,
  });
});

longTest('the debug log is named, private and describes the run', async () => {
  const { stderr } = await requestOf('--debug-file', 'log.jsonl');
  expect(stderr).toBe(`Debug log: ${project.dir}/log.jsonl\n`);
  const reported = (await project.read('log.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(reported).toEqual(expect.arrayContaining(['agent_start', 'request_sent', 'block_end', 'agent_end']));
  expect(await project.read('log.jsonl')).not.toContain('sk-ant-test');
  expect((await stat(`${project.dir}/log.jsonl`)).mode & 0o777).toBe(0o600);
});

test('the budget ends the run', async () => {
  await server.close();
  server = await startApiServer({ turns: () => calls(toolUse('Read', { file_path: 'a.txt' })) });
  const { code, stdout } = await runHere(
    project,
    ['-p', 'go', '--max-budget-usd=0.0001', '--output-format=json'],
    server.url,
  );
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ subtype: 'error_max_budget_usd', terminal_reason: 'budget_exhausted' });
});

longTest('a budget that cannot be enforced because the price is unknown is reported', async () => {
  const args = ['-p', 'go', '--max-budget-usd=1', '--model'];
  const unpriced = await runHere(project, [...args, 'claude-of-tomorrow'], server.url);
  expect(unpriced.stderr).toContain('No price is known for claude-of-tomorrow');
  expect((await runHere(project, [...args, 'claude-haiku-4-5'], server.url)).stderr).toBe('');
});

longTest('a token budget makes the model continue until about that much is written', async () => {
  await server.close();
  server = await startApiServer({ turns: () => says('some more', { usage: { output_tokens: 600 } }) });
  const { code, stdout } = await runHere(
    project,
    ['-p', 'go', '--token-budget=1800', '--output-format=json'],
    server.url,
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ subtype: 'success', terminal_reason: 'completed' });
  expect(server.requests().map(({ raw }) => raw.match(/\d+ % of the token budget/g)?.at(-1))).toEqual([
    undefined,
    '33 % of the token budget',
    '67 % of the token budget',
  ]);
});

longTest('the fallback model is used when the first is unavailable', async () => {
  await server.close();
  server = await startApiServer({
    turns: ({ body }) =>
      body.model === 'claude-haiku-4-5'
        ? says('from the second')
        : { kind: 'error', status: 529, type: 'overloaded_error', message: 'Overloaded', headers: {} },
  });
  const end = await runHere(
    project,
    ['-p', 'go', '--model=claude-opus-4-5', '--fallback-model=claude-haiku-4-5'],
    server.url,
  );
  expect(end).toMatchObject({ code: 0, stdout: 'from the second\n' });
});
