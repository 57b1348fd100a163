import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import manifest from '../../packages/agent/package.json' with { type: 'json' };
import { fetch } from '../../src/lib/network/fetch.ts';
import { CALL_MARKER } from '../../src/lib/processes/process-tree.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { writeBuiltSuite } from '../support/built-suite.ts';
import { DEAD_PROXY } from '../support/environment.ts';
import { startJsonServer } from '../support/json-server.ts';
import { expectNoProcessesLeft, killMarkedProcesses, processesInGroup } from '../support/processes.ts';
import { isWholeRun } from '../support/runs.ts';
import { STRICT_MODULE } from '../support/strict-module.ts';
import { createTempFolder } from '../support/temp-folder.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const EXAMPLES = join(root, 'docs/examples');
/** Programs that were written from the documentation alone. */
const PROGRAMS = join(root, 'test/fixtures/library');
/** Every runtime that is here; CI brings the other releases of Node. */
const RUNTIMES = ['node', process.execPath, ...(process.env.OURO_TEST_NODES ?? '').split(delimiter)].filter(Boolean);
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);

let project = '';

/** What `npm pack` makes, installed in an empty project, with the packages that it depends on and no others. */
beforeAll(() => {
  if (!isWholeRun) return;
  execFileSync(process.execPath, [join(root, 'bin/build-library.mjs')]);
  project = createTempFolder();
  const installed = join(project, 'node_modules/@ouro-cli/agent');
  mkdirSync(installed, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  const tarball = execFileSync('npm', pack, { cwd: join(root, 'packages/agent'), encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xzf', join(project, tarball), '--strip-components=1', '-C', installed]);
  for (const name of Object.keys(manifest.dependencies))
    cpSync(join(root, 'node_modules', name), join(project, 'node_modules', name), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "name": "app", "type": "module", "private": true }\n');
  cpSync(EXAMPLES, project, { recursive: true });
  cpSync(PROGRAMS, project, { recursive: true });
}, 120_000);

const variables = (api: ApiServer) => ({
  ...DEAD_PROXY,
  PATH: process.env.PATH ?? '',
  HOME: project,
  ANTHROPIC_API_KEY: 'test-key',
  ANTHROPIC_BASE_URL: api.url,
});

describe.runIf(isWholeRun).each(RUNTIMES)('%s', (runtime) => {
  test('the loop example rolls its die', async () => {
    const { stdout } = await run(runtime, ['loop.mjs'], { cwd: project });
    expect(stdout).toBe('- Roll a d6\nThe die shows 6.\ncompleted\n');
  });

  test('the support desk hides card numbers, refuses large refunds, and continues from disk', async () => {
    await using api = await startApiServer({
      turns: [
        calls(toolUse('FindOrder', { customer: 'Ada' }), toolUse('Refund', { euros: 80 })),
        says('Sorry about the cup.'),
      ],
    });
    const env = { ...variables(api), DESK_DIR: join(project, `desk-${RUNTIMES.indexOf(runtime)}`) };
    const { stdout } = await run(runtime, ['support-desk.mjs'], { cwd: project, env });
    expect(stdout).toContain('Sorry about the cup.');
    const sent = JSON.stringify(api.requests().map(({ body }) => body));
    expect(sent).toContain('This is ticket 7, opened by Ada.');
    expect(sent).toContain('paid with [card]');
    expect(sent).toContain('More than 50 euros need a person.');
    const [stored = ''] = readdirSync(env.DESK_DIR).filter((name) => name.endsWith('.jsonl'));
    const lines = readFileSync(join(env.DESK_DIR, stored), 'utf8');
    expect(lines).toContain('"kind":"ticket"');
    expect(lines).not.toContain('4111 1111');
  });

  test('the review bot reads, reports, and may change nothing', async () => {
    await using api = await startApiServer({
      turns: [
        calls(
          toolUse('Bash', { command: 'echo broken > broken.txt' }),
          toolUse('Bash', { command: 'cat package.json' }),
        ),
        calls(toolUse('Report', { file: 'a.js', line: 3, what: 'Divides by nothing.' })),
        says('That is all.'),
      ],
    });
    const ended = await run(runtime, ['review-bot.mjs'], { cwd: project, env: variables(api) }).catch((end) => end);
    expect([ended.stdout, ended.code]).toEqual(['a.js:3: Divides by nothing.\n', 1]);
    expect(existsSync(join(project, 'broken.txt'))).toBe(false);
    expect(JSON.stringify(api.requests()[1]?.body)).toContain('\\"type\\": \\"module\\"');
  });

  test('the command of a hook denies a call, and leaves no process after a timeout', async () => {
    writeFileSync(join(project, 'hook.mjs'), HOOK);
    const mark = randomUUID();
    const env = { PATH: process.env.PATH ?? '', [CALL_MARKER]: mark };
    const { stdout } = await run(runtime, ['hook.mjs'], { cwd: project, env });
    expect(JSON.parse(stdout)).toEqual({
      blocked: 'No Pay today.',
      failures: [expect.stringContaining('did not answer within 1 s')],
    });
    await expectNoProcessesLeft(`${CALL_MARKER}=${mark}`);
  });

  test('a team shares a budget, and mistakes are refused by name', async () => {
    const { stdout } = await run(runtime, ['team.mjs'], { cwd: project });
    const [end, poor, ...refusals] = stdout.trim().split('\n');
    expect([end, poor]).toEqual(['completed All is fine. 0.00105 0.00070', 'budget_exhausted']);
    expect(refusals).toEqual([
      'createAgent: two tools are named Research.',
      'createAgent: unknown field "modell". Did you mean "model"?',
      expect.stringMatching(/^createAgent: maxTurns: /),
      'buildTool(two words): name: a tool name has 1 to 64 letters, digits, _ and -.',
      'buildTool(Look): call: must be a function.',
      'prompt: the prompt has the role undefined. Known: user, assistant, custom.',
      'prompt: the prompt is not a message. Pass a text or { role, content }.',
      'steer: the prompt is empty. Pass a text, or call continue().',
      'change: unknown field "tool". Did you mean "tools"?',
    ]);
  });

  test('a worker in another process answers the requests of an agent', async () => {
    const { stdout } = await run(runtime, ['clerk.mjs'], { cwd: project });
    expect(stdout).toBe('completed Paid. 4\nthe clerk left with 0\n');
  });

  test('a job killed while asking continues with the answer', async () => {
    const dir = createTempFolder(project);
    await expect(run(runtime, ['night.mjs', dir, 'night'], { cwd: project })).rejects.toMatchObject({
      signal: 'SIGKILL',
    });
    const { stdout } = await run(runtime, ['night.mjs', dir, 'morning'], { cwd: project });
    expect(stdout).toBe('Good night.\nuser assistant user assistant\n');
  });

  // Bun runs tests with a command of its own.
  test.skipIf(runtime === process.execPath)('the template project passes its tests without a network', async () => {
    const { stdout } = await run(runtime, ['--test'], { cwd: join(project, 'starter') });
    expect(stdout).toMatch(/pass 5\n.*fail 0\n/s);
  });

  test('a web page receives a stream, also when it connects late, and two messages at once', async () => {
    await using api = await startApiServer({ turns: [says('Hello from the server.'), says('And to you.')] });
    const page = spawn(runtime, ['web-page.mjs'], { cwd: project, env: variables(api) });
    try {
      const url = await new Promise<string>((resolve) => page.stdout.once('data', (line) => resolve(`${line}`.trim())));
      await fetch(`${url}/say`, { method: 'POST', body: 'hi' });
      await api.waitForRequest(1);
      const events = await fetch(`${url}/events`);
      let seen = '';
      for await (const piece of events.body ?? []) {
        seen += Buffer.from(piece).toString();
        if (said(seen).includes('server.')) break;
      }
      expect(said(seen)).toContain('Hello from the server.');
      const say = (body: string) => fetch(`${url}/say`, { method: 'POST', body });
      const answers = await Promise.all(['one', 'two', ''].map(say));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 400]);
      expect([page.exitCode, (await say('three')).status]).toEqual([null, 202]);
    } finally {
      page.kill('SIGKILL');
    }
  });
});

test.runIf(isWholeRun)('the package contains its reference', () => {
  const page = readFileSync(join(project, 'node_modules/@ouro-cli/agent/dist/API.md'), 'utf8');
  expect(page).toContain('### createAgent\n');
});

const HOOK = `
import { agentHooks } from '@ouro-cli/agent/hooks';
const hook = (command) => [{ hooks: [{ type: 'command', command, timeout: 1 }] }];
const groups = { PreToolUse: hook('echo "No Pay today." >&2; exit 2'), PostToolUse: hook('sleep 60 & sleep 60') };
const hooks = agentHooks({ cwd: '.', hooks: groups });
const fire = (event) => hooks.fire(event, { tool_name: 'Pay', tool_input: {} }, new AbortController().signal);
const [{ blocked }, { failures }] = [await fire('PreToolUse'), await fire('PostToolUse')];
console.log(JSON.stringify({ blocked, failures }));
`;

/** What was streamed, piece by piece, in one. */
const said = (events: string) => events.replace(/"\n\ndata: "/g, '');

/** What runs the tests needs a newer Node than the library does. */
const RUNNERS = RUNTIMES.filter((runtime) => runtime !== 'node');

test.runIf(isWholeRun).each(RUNNERS)(
  'the engine tests pass against the built package, on %s',
  async (runtime) => {
    const folder = join(project, 'suite-of-the-engine');
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'node_modules')))
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const suite = await writeBuiltSuite(folder);
    const report = join(folder, 'report.json');
    const args = ['run', '--root', folder, '--reporter=json', `--outputFile=${report}`];
    const env = { PATH: process.env.PATH ?? '' };
    await run(runtime, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], { cwd: folder, env });
    const { success, testResults, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
    expect([success, testResults.length]).toEqual([true, suite.length]);
    expect(numPassedTests).toBeGreaterThan(200);
  },
  120_000,
);

test.runIf(isWholeRun)('the installed library is three packages of at most 20 MB', () => {
  const modules = join(project, 'node_modules');
  // Bundlers and test runners keep caches beside them.
  const packages = readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => join(name, one)) : name));
  const files = packages.flatMap((name) =>
    readdirSync(join(modules, name), { recursive: true, encoding: 'utf8' }).map((file) =>
      statSync(join(modules, name, file)),
    ),
  );
  expect(packages.toSorted()).toEqual(['@ouro-cli/agent', 'unbash', 'zod']);
  expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(20_000_000);
});

test.runIf(isWholeRun)('an error that nobody catches shows a readable line of the library', () => {
  const dist = join(project, 'node_modules/@ouro-cli/agent/dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const lines = files.flatMap((name) => readFileSync(join(dist, name), 'utf8').split('\n'));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(10_000);
});

test.runIf(isWholeRun)('a strict project compiles against every export', async () => {
  const options = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    types: [],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['strict.ts'] }));
  writeFileSync(join(project, 'strict.ts'), STRICT_MODULE);
  await run('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: project });
  writeFileSync(join(project, 'strict.ts'), STRICT_MODULE.replace('number: 7 }', "number: 'seven' }"));
  const wrong = run('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: project });
  await expect(wrong).rejects.toMatchObject({ stdout: expect.stringContaining('TS2322') });
});

/** Shows an agent a picture where there is all that pages and workers have: neither `process` nor `Buffer`. */
const PAGE = `
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
const NODE_ALONE = ['process', 'Buffer', 'global', 'globalThis', 'setImmediate', 'clearImmediate'];
const names = Object.getOwnPropertyNames(globalThis).filter((name) => !NODE_ALONE.includes(name) && /^[a-z]|^(URL|Re|He|Te|Ab|Fo|Bl|Ev|DOM)/.test(name));
const page = createContext(Object.fromEntries(names.map((name) => [name, globalThis[name]])));
runInContext(readFileSync('bundle.js', 'utf8'), page);
console.log(await runInContext(\`(async () => {
  const notices = [];
  const logger = (_level, text) => notices.push(text);
  const agent = createAgent({ apiKey: 'key', baseUrl: '\${process.argv[2]}', logger });
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=' };
  const end = await agent.prompt([{ type: 'image', source }, { type: 'text', text: 'hi' }]);
  return JSON.stringify([end, notices, agent.state().messages.at(-1)]);
})()\`, page));
`;

test.runIf(isWholeRun)('the agent runs where there is no Node', async () => {
  const bundle = bundleForPages();
  // The demo's sample project has a test, which is text here.
  const needed = bundle.matchAll(/^import .*["']node:(?!test).*$|\brequire\(["']node:.*$/gm);
  expect([...needed].map(String)).toEqual([]);
  await using api = await startApiServer({ turns: [says('Hello from a page.')] });
  writeFileSync(join(project, 'page.mjs'), PAGE);
  const { stdout } = await run('node', ['page.mjs', api.url], { cwd: project });
  // The one line that the script prints: the library logs nothing.
  const [end, notices] = JSON.parse(stdout);
  expect([end.reason, end.text, notices]).toEqual(['completed', 'Hello from a page.', []]);
});

test.runIf(isWholeRun && CHROMIUM !== undefined)('the agent runs in a page of Chromium', async () => {
  bundleForPages();
  await using api = await startApiServer({ turns: [says('Hello from a page.')] });
  await using shown = await startJsonServer({ '/shown': true });
  writeFileSync(
    join(project, 'page.html'),
    `<body><script>
      const logged = [];
      for (const name of ['log', 'info', 'debug', 'warn', 'error']) console[name] = (...args) => logged.push(args.join(' '));
      const show = (body) => fetch('${shown.url}/shown', { method: 'POST', body: JSON.stringify(body) });
    </script><script src="bundle.js"></script><script type="module">
      const agent = createAgent({ apiKey: 'key', baseUrl: '${api.url}' });
      agent.prompt('hi').then(({ text }) => show([text, logged]), (error) => show([String(error), logged]));
    </script></body>`,
  );
  const flags = ['--headless', '--no-sandbox', '--disable-web-security', '--allow-file-access-from-files'];
  const rest = [`--user-data-dir=${join(project, 'chromium')}`, '--remote-debugging-port=0'];
  const mark = randomUUID();
  const env = { PATH: process.env.PATH ?? '', HOME: project, TMPDIR: project, [CALL_MARKER]: mark };
  const chromium = spawn(CHROMIUM ?? '', [...flags, ...rest, `file://${join(project, 'page.html')}`], {
    env,
    detached: true,
  });
  const ended = once(chromium, 'exit');
  try {
    await vi.waitFor(() => expect([shown.asked.length, chromium.exitCode]).toEqual([1, null]));
    expect(JSON.parse(shown.asked[0]?.body ?? '')).toEqual(['Hello from a page.', []]);
  } finally {
    chromium.kill();
    await ended;
    // Its other processes end by themselves, except those that wait for a crash.
    await killMarkedProcesses(`${CALL_MARKER}=${mark}`);
    await vi.waitFor(async () => expect(await processesInGroup(chromium.pid ?? 0)).toEqual([]));
  }
});

/** Bundles the agent as pages load it, and returns the text. */
function bundleForPages(): string {
  const [entry, bundle] = [join(project, 'page.js'), join(project, 'bundle.js')];
  writeFileSync(entry, "import { createAgent } from '@ouro-cli/agent/agent'; globalThis.createAgent = createAgent;");
  execFileSync(process.execPath, ['build', entry, '--target=browser', '--format=iife', `--outfile=${bundle}`]);
  return readFileSync(bundle, 'utf8');
}
