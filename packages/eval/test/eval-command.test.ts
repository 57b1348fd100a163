import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SeenRequest } from '../../../test/support/api/dialect.ts';
import { OPENAI_DIALECT } from '../../../test/support/api/openai-dialect.ts';
import { type ApiTurn, calls, hang, says, status, toolUse } from '../../../test/support/api/reply.ts';
import { type ApiServer, startApiServer, startServer } from '../../../test/support/api/server.ts';
import { bareEnvironment } from '../../../test/support/environment.ts';
import { longTest } from '../../../test/support/long-test.ts';
import { expectNoProcessesLeft } from '../../../test/support/processes.ts';
import { type HereEnd, runHere, startHere } from '../../../test/support/run-here.ts';
import { isWholeRun, someOf } from '../../../test/support/runs.ts';
import { NO_SANDBOX } from '../../../test/support/sandbox.ts';
import { createTempProject, type TempProject } from '../../../test/support/temp-project.ts';
import { isAfterCall } from '../../fleet/test/support/fleet.ts';
import type { EvalReport } from '../src/report.ts';

let project: TempProject;
let server: ApiServer | undefined;

beforeEach(async () => {
  project = await createTempProject();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await project[Symbol.asyncDispose]();
});

const run = (...args: readonly string[]): Promise<HereEnd> => runHere(project, ['eval', ...args], server?.url);
const parseReport = ({ stdout }: HereEnd): EvalReport => JSON.parse(stdout);

const GREETING_TASK = `
prompt: Write hello to greeting.txt.
files: { README.md: 'A greeting.' }
check: { run: 'test "$(cat greeting.txt)" = hello && sh hidden.sh', files: { hidden.sh: 'test -e README.md' } }
solution: echo hello > greeting.txt
`;

/** Solves the task with one model; with the other, each call is lost. */
function greet(request: SeenRequest): ApiTurn {
  if (isAfterCall(request)) return says('Done.');
  return request.body.model?.includes('sonnet') === true
    ? calls(toolUse('Write', { file_path: 'greeting.txt', content: 'hello\n' }))
    : calls(toolUse('Scribble', { where: 'greeting.txt' }), toolUse('Write', { content: 'hello' }));
}

test('models are compared by their passed runs, cost and lost turns, as JSON and as a page', async () => {
  await project.write('tasks/greeting.yaml', GREETING_TASK);
  server = await startApiServer({ turns: greet });
  const models = ['--model', 'claude-sonnet-5-5,claude-haiku-4-5', '--times', '2'];
  const end = await run('tasks', ...models, '--json', '--out', 'out');
  expect(end).toMatchObject({ code: 1 });
  const report = parseReport(end);
  expect(report.models).toMatchObject([
    { model: 'claude-sonnet-5-5', runs: 2, passed: 2, errors: 0, lostTurns: 0, failures: [], mean: { requests: 2 } },
    {
      model: 'claude-haiku-4-5',
      passed: 0,
      lostTurns: 2,
      failures: [
        { tool: 'Scribble', cause: 'unknown_tool', count: 2 },
        { tool: 'Write', cause: 'invalid_input', count: 2 },
      ],
    },
  ]);
  expect(report.models[0]?.passRate).toMatchObject({ rate: 1, high: 1 });
  expect(report.models[0]?.passRate.low).toBeCloseTo(0.342, 3);
  expect(report.models[0]?.costUsd).toBeGreaterThan(0);
  expect(report.runs[0]).toMatchObject({
    task: 'greeting',
    outcome: 'passed',
    change: { files: 1, added: 1, removed: 0 },
  });
  expect(report.runs.find(({ outcome }) => outcome === 'failed')?.reason).toContain('the check ended with 1');
  expect((await readdir(join(project.dir, 'out'))).toSorted()).toEqual([
    ...['claude-haiku-4-5', 'claude-sonnet-5-5'].flatMap((model) =>
      [1, 2].flatMap((at) => [`greeting.${model}.${at}.jsonl`, `greeting.${model}.${at}.patch`]),
    ),
    'report.html',
    'report.json',
  ]);
  expect(await readFile(join(project.dir, 'out', 'greeting.claude-sonnet-5-5.1.patch'), 'utf8')).toContain('+hello');
  const page = await readFile(join(project.dir, 'out', 'report.html'), 'utf8');
  expect(page).toMatch(/claude-haiku-4-5[\s\S]*unknown_tool/);
  expect(page).not.toMatch(/<script|src=|href=/);
  expect(await readdir(`${project.ouroHome}-work`)).toEqual([]);

  const compared = await run('--model', 'claude-sonnet-5-5', 'tasks', '--baseline', 'out/report.json');
  expect(compared.code).toBe(0);
  expect(compared.stdout).toMatch(/claude-sonnet-5-5 \(baseline\) +\| 2\/2 [\s\S]*claude-sonnet-5-5 +\| 1\/1 /);
});

longTest(
  'recorded runs are replayed without a server; a changed request is an error that names the difference',
  async () => {
    await project.write('tasks/greeting.yaml', GREETING_TASK);
    server = await startApiServer({ turns: greet });
    const model = ['--model', 'claude-sonnet-5-5'];
    expect(await run('tasks', ...model, '--record', 'recorded')).toMatchObject({ code: 0 });
    const recording = await readFile(join(project.dir, 'recorded', 'greeting.claude-sonnet-5-5.1.jsonl'), 'utf8');
    expect(recording).toContain('{{workspace}}');
    expect(recording).not.toContain(project.home);
    await server.close();
    const replayed = await run('tasks', ...model, '--replay', 'recorded', '--json');
    expect(replayed).toMatchObject({ code: 0 });
    expect(parseReport(replayed).runs).toMatchObject([{ outcome: 'passed', requests: 2 }]);

    await project.write('tasks/greeting.yaml', GREETING_TASK.replace('Write hello', 'Put hello'));
    const changed = await run('tasks', ...model, '--replay', 'recorded', '--json');
    expect(changed).toMatchObject({ code: 4 });
    const [first] = parseReport(changed).runs;
    expect(first).toMatchObject({ outcome: 'error', requests: 0 });
    expect(first?.reason).toContain('Request 1 differs from the record');

    const missing = await run('tasks', ...model, '--times', '2', '--replay', 'recorded', '--json');
    expect(parseReport(missing).runs.at(-1)?.reason).toMatch(
      /greeting\.claude-sonnet-5-5\.2\.jsonl does not exist: record/,
    );
  },
);

longTest(
  'runs of a local server are recorded and replayed like those of any provider, their cost is unknown',
  async () => {
    await project.write('tasks/greeting.yaml', GREETING_TASK);
    const write = calls(toolUse('Write', { file_path: 'greeting.txt', content: 'hello\n' }));
    server = await startServer({ turns: [write, says('Done.')] }, OPENAI_DIALECT);
    const model = ['--model', `${server.url}/v1#qwen`];
    const recorded = await run('tasks', ...model, '--record', 'recorded');
    expect(recorded).toMatchObject({ code: 0, stdout: expect.stringMatching(/\| 1\/1 .*\| unknown /) });
    await server.close();
    expect(await run('tasks', ...model, '--replay', 'recorded')).toMatchObject({ code: 0 });
  },
);

longTest('a provider that refuses the key is an error, not a failed run', async () => {
  await project.write('tasks/greeting.yaml', GREETING_TASK);
  server = await startApiServer({ turns: () => status(401, 'invalid x-api-key') });
  const end = await run('tasks', '--model', 'claude-sonnet-5-5', '--json');
  expect(end).toMatchObject({ code: 4 });
  expect(parseReport(end)).toMatchObject({
    models: [{ runs: 1, errors: 1, passed: 0 }],
    runs: [{ outcome: 'error', reason: 'the API key was rejected (401)' }],
  });
});

test('a signal ends the runs, their processes and their folders', async () => {
  await project.write('tasks/greeting.yaml', GREETING_TASK);
  server = await startApiServer({ turns: () => hang() });
  const args = ['eval', 'tasks', '--model', 'claude-sonnet-5-5', '--json'];
  const program = startHere(args, { cwd: project.dir, env: bareEnvironment(project, server.url), stdin: 'none' });
  const printed: string[] = [];
  program.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  await server.waitForRequest(1);
  program.kill();
  expect(await program.ended).toMatchObject({ code: 143 });
  expect(JSON.parse(printed.join(''))).toMatchObject({ runs: [{ outcome: 'error', reason: 'it was stopped' }] });
  await expectNoProcessesLeft(project.marker);
  expect(await readdir(`${project.ouroHome}-work`)).toEqual([]);
});

longTest('a run starts from a commit of a repository, or from a folder; a limit of turns is a failed run', async () => {
  await project.write('app/a.txt', 'first\n');
  const git = (...args: readonly string[]) => project.git('-C', join(project.dir, 'app'), ...args);
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'First');
  await git('tag', 'start');
  await project.write('app/a.txt', 'second\n');
  await git('commit', '-q', '-a', '-m', 'Second');
  await project.write(
    'tasks/at-tag.json',
    '{ "prompt": "x", "repo": "../app", "ref": "start", "check": "grep first a.txt" }',
  );
  await project.write(
    'tasks/nested/task.yaml',
    'prompt: x\nfixture: start\ncheck: "! grep -q second start.txt"\nlimits: { turns: 1 }\n',
  );
  await project.write('tasks/nested/start/start.txt', 'third');
  server = await startApiServer({
    turns: (request) => (isAfterCall(request) ? says('Done.') : calls(toolUse('Read', { file_path: 'start.txt' }))),
  });
  const end = await run('tasks', '--model', 'claude-sonnet-5-5', '--json');
  expect(parseReport(end).runs).toMatchObject([
    { task: 'at-tag', outcome: 'passed' },
    { task: 'nested', outcome: 'failed', reason: 'its limit of turns was reached' },
  ]);
  expect(await git('status', '--porcelain')).toBe('');
});

longTest('settings, memory and skills of the user do not take part, except those that lead to a model', async () => {
  await project.write('tasks/greeting.yaml', GREETING_TASK);
  server = await startApiServer({ turns: greet });
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(join(project.ouroHome, 'AGENTS.md'), 'Always answer in verse.');
  await writeFile(
    join(project.ouroHome, 'settings.json'),
    JSON.stringify({ language: 'Latin', baseUrl: server.url, model: 'claude-sonnet-5-5' }),
  );
  const env = { ANTHROPIC_BASE_URL: undefined, ANTHROPIC_API_KEY: 'sk-ant-test' };
  const end = await runHere(project, ['eval', 'tasks'], server.url, { env });
  expect(end).toMatchObject({ code: 0 });
  expect(JSON.stringify(server.all().map(({ body }) => body))).not.toMatch(/verse|Latin/);
  expect(existsSync(join(project.ouroHome, 'projects'))).toBe(false);
});

test.runIf(isWholeRun && NO_SANDBOX === undefined)(
  'with --sandbox, commands need no rule and cannot leave the folder',
  async () => {
    await using away = await createTempProject({}, '/var/tmp');
    const script = "files: { make.sh: 'touch ../escaped; echo hello > greeting.txt' }";
    const task = GREETING_TASK.replace(/^files: .*$/m, script).replace('sh hidden.sh', 'test ! -e ../escaped');
    await away.write('tasks/greeting.yaml', task);
    server = await startApiServer({
      turns: (request) => (isAfterCall(request) ? says('Done.') : calls(toolUse('Bash', { command: 'sh make.sh' }))),
    });
    const end = await runHere(
      away,
      ['eval', 'tasks', '--sandbox', '--model', 'claude-sonnet-5-5', '--json'],
      server.url,
    );
    expect(parseReport(end).runs).toMatchObject([{ outcome: 'passed', reason: '', failures: [] }]);
  },
);

test.each(
  someOf(
    [
      ['a.yaml', 'prompt: x\ncheck: "true"\n', /a\.yaml: needs exactly one of "files", "fixture"/],
      ['a.yaml', 'prompt: x\nfiles: {}\ncheck: "true"\nspeed: 3\n', /unknown key "speed"/],
      [
        'a.yaml',
        'prompt: x\nfiles: { ../b: x }\ncheck: "true"\n',
        /at files: a path must be inside the working folder/,
      ],
      ['a.yaml', 'prompt: x\nfiles: {}\nsetup: exit 3\ncheck: "true"\n', /The setup of the task a failed/],
      ['a.yaml', 'prompt: [', /not valid YAML/],
    ],
    2,
  ),
)('a wrong task is refused with its file and reason: %s %j', async (name, source, reason) => {
  await project.write(`tasks/${name}`, source);
  const end = await run('tasks', '--model', 'demo');
  expect(end.code).toBe(2);
  expect(end.stderr).toMatch(reason);
});

longTest('a proof finds a check that passes at once, and a solution that does not pass', async () => {
  await project.write('tasks/good.yaml', GREETING_TASK);
  await project.write('tasks/lazy.yaml', 'prompt: x\nfiles: {}\ncheck: "true"\nsolution: "true"\n');
  await project.write('tasks/wrong.yaml', GREETING_TASK.replace('echo hello', 'echo bye'));
  const end = await run('tasks', '--prove');
  expect(end.code).toBe(1);
  expect(end.stdout.trim().split('\n').toSorted()).toEqual([
    'good: proven',
    'lazy: its check passes without any change',
    expect.stringContaining('wrong: the check ended with 1'),
  ]);
});
