import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { JsonObject } from '../../../src/contracts/json.ts';
import type { Tool, ToolOutcome, ToolProgress } from '../../../src/contracts/tool.ts';
import { startTimeOf } from '../../../src/lib/processes/process-facts.ts';
import { marked } from '../../../src/lib/processes/process-tree.ts';
import { createBashTool } from '../../../src/tools/bash/bash.ts';
import type { ChildFacts } from '../../../src/tools/bash/run-shell.ts';
import { createShells } from '../../../src/tools/bash/shells.ts';
import { createBashOutputTool } from '../../../src/tools/bash-output/bash-output.ts';
import { createKillShellTool } from '../../../src/tools/kill-shell/kill-shell.ts';

let root: string;
let bench: ReturnType<typeof workbench>;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'ouro-bash-')));
  await mkdir(join(root, 'sub'));
  bench = workbench();
});

afterEach(async () => {
  await bench.shells.closeAll();
  for (const one of bench.markers) expect(await marked(one)).toEqual([]);
  await rm(root, { recursive: true, force: true });
});

function workbench() {
  const told: AgentEvent[] = [];
  const shells = createShells(Date.now, (event) => void told.push(event));
  const ledger = new Map<number, ChildFacts>();
  const markers: string[] = [];
  const progress: ToolProgress[] = [];
  let cwd = root;
  const tool = createBashTool({
    shells,
    variables: () => ({
      PATH: '/usr/bin:/bin',
      HOME: root,
      ANTHROPIC_API_KEY: 'secret',
      BASH_ENV: '/tmp/evil',
      BASH_FUNC_x: '() { :; }',
    }),
    ledger: {
      started: (child) => {
        ledger.set(child.pgid, child);
        markers.push(child.marker);
      },
      ended: (pgid) => void ledger.delete(pgid),
    },
    workspaceRoots: () => [root],
    setCwd: (next) => {
      cwd = next;
    },
    outputFolder: join(root, 'outputs'),
    limits: () => ({ timeoutMs: 20_000, maxTimeoutMs: 30_000 }),
    now: Date.now,
  });
  async function use(
    which: Tool,
    input: JsonObject,
    signal = new AbortController().signal,
    callId = `call-${crypto.randomUUID()}`,
  ): Promise<ToolOutcome> {
    const prepared = which.prepare(input);
    if (!prepared.ok) throw new Error(prepared.problem);
    return prepared.call.call({
      callId,
      cwd,
      signal,
      report: (one) => void progress.push(one),
      ask: async () => undefined,
    });
  }
  const bash = (command: string, more: JsonObject = {}, signal?: AbortSignal, callId?: string) =>
    use(tool, { command, ...more }, signal, callId);
  return { shells, ledger, markers, progress, told, bash, use, cwd: () => cwd };
}

test.each([
  ['echo hi', 'hi', undefined],
  ['echo out; echo err >&2; echo out2', 'out\nerr\nout2', undefined],
  ['exit 3', '[ended with exit code 3]', true],
  ['echo partly; false', 'partly\n[ended with exit code 1]', true],
  ['true', '(no output)', undefined],
  ['cat', '(no output)', undefined],
  ['kill -9 $$', '[ended by signal SIGKILL]', true],
  ['echo "$#:$*"', '0:', undefined],
  ["printf 'a\\r\\nb\\rc\\n\\033[31mred\\033[0m \\007bell'", 'a\nc\nred bell', undefined],
  ["printf '\\377\\376ok'", '\ufffd\ufffdok', undefined],
  ['if then', /syntax error/, true],
  ["trap 'echo bye' EXIT; trap 'echo bad' ERR; false", 'bad\nbye\n[ended with exit code 1]', true],
  ['set -x; true', '++ true', undefined],
  ['echo \'a  b\' | { read x; echo "$x"; }', 'a  b', undefined],
])('%s', async (command, expected, isError) => {
  const outcome = await bench.bash(command);
  if (typeof expected === 'string') expect(outcome.content).toBe(expected);
  else expect(outcome.content).toMatch(expected);
  expect(outcome.isError).toBe(isError);
  // People have it beside the command.
  expect(outcome.display).toMatchObject({ kind: 'output', output: expect.not.stringContaining('[ended') });
});

test('secrets of ours and traps for the shell are not in the environment', async () => {
  const { content } = await bench.bash('env');
  expect(content).not.toMatch(/secret|evil|BASH_FUNC/);
});

test('the directory lasts while it is inside the workspace, and is reset with a word when it leaves', async () => {
  await bench.bash('cd sub');
  expect((await bench.bash('pwd')).content).toBe(join(root, 'sub'));
  await bench.bash('cd ..; exit 4');
  expect(bench.cwd()).toBe(root);
  await bench.bash("trap 'rm -f x' EXIT; cd sub; yes >&3 & sleep 0.1; kill $!");
  expect(bench.cwd()).toBe(join(root, 'sub'));
  expect((await bench.bash('cd /')).content).toContain('left the workspace');
  expect((await bench.bash('pwd')).content).toBe(root);
});

test('a command that deletes its directory leaves the next one in the workspace', async () => {
  await bench.bash('cd sub');
  expect((await bench.bash('rm -rf ../sub')).content).toContain('the directory is gone');
  expect((await bench.bash('pwd')).content).toBe(root);
});

test('a command over its time is stopped with its whole tree, the one that ignores TERM too', async () => {
  const outcome = await bench.bash("trap '' TERM; echo begun; sleep 60 & wait; sleep 60", { timeout: 200 });
  expect(outcome.content).toMatch(/^begun\n\[stopped after .* the limit of/);
  expect(outcome.display).toMatchObject({
    output: 'begun',
    end: expect.stringMatching(/^stopped after .* the limit of/),
  });
  expect(bench.ledger.size).toBe(0);
}, 15_000);

test('what was stopped and ignores TERM is killed at once when that is asked for; what runs goes on', async () => {
  const controller = new AbortController();
  const fifo = join(root, 'go');
  const other = bench.bash(`mkfifo ${fifo}; cat ${fifo}`);
  const running = bench.bash("trap '' TERM; echo up; while :; do sleep 60; done", {}, controller.signal);
  await untilOutput('up');
  controller.abort();
  await running;
  const before = performance.now();
  bench.shells.killStopping();
  await expect.poll(() => bench.ledger.size, { interval: 5 }).toBe(1);
  expect(performance.now() - before).toBeLessThan(1_500);
  await bench.bash(`until [ -p ${fifo} ]; do :; done; echo survived > ${fifo}`);
  expect((await other).content).toBe('survived');
});

test('a child that left the group and closed the pipe dies with the rest', async () => {
  const controller = new AbortController();
  const running = bench.bash(
    'setsid sleep 300 >/dev/null 2>&1 & (setsid sleep 300 &) ; echo up; sleep 300',
    {},
    controller.signal,
  );
  await untilOutput('up');
  controller.abort();
  const outcome = await running;
  expect(outcome.content).toContain('stopped by the user');
  expect(outcome.content).toContain('up');
  await bench.shells.closeAll();
});

test('a command that leaves something behind comes back at once and lists it', async () => {
  const outcome = await bench.bash('sleep 300 & echo left');
  expect(outcome.content).toContain('left');
  expect(outcome.content).toContain('listed as shell_1');
  await bench.shells.closeAll();
  expect(await marked(bench.markers[0] ?? '')).toEqual([]);
});

test('what left its group and closed its pipe is listed too, and ends with the session', async () => {
  const outcome = await bench.bash('setsid sleep 300 >/dev/null 2>&1 & sleep 300 >/dev/null 2>&1 & echo left');
  expect(outcome.content).toContain('listed as shell_1');
  expect(bench.shells.list()).toMatchObject([{ id: 'shell_1', exit: undefined }]);
  expect(bench.shells.takeNotices()).toEqual([]);
  expect(bench.ledger.size).toBe(1);
  await bench.shells.closeAll();
  expect(bench.ledger.size).toBe(0);
});

test('a command survives another of the same call id: the mark is not the id the provider gave', async () => {
  const controller = new AbortController();
  const stopped = bench.bash('echo up; sleep 300', {}, controller.signal, 'toolu_1');
  await untilOutput('up');
  const fifo = join(root, 'go');
  const other = bench.bash(`mkfifo ${fifo}; cat ${fifo}`, {}, undefined, 'toolu_1');
  controller.abort();
  expect((await stopped).content).toContain('stopped by the user');
  await bench.bash(`until [ -p ${fifo} ]; do :; done; echo survived > ${fifo}`);
  expect((await other).content).toBe('survived');
});

test('a child that shed its environment and its group dies with its parent', async () => {
  const controller = new AbortController();
  const pidFile = join(root, 'pid');
  const running = bench.bash(
    `env -i setsid bash -c 'echo $$ > ${pidFile}; echo up >&2; sleep 300' & sleep 300`,
    {},
    controller.signal,
  );
  await untilOutput('up');
  controller.abort();
  await running;
  await bench.shells.closeAll();
  expect(startTimeOf(Number(await readFile(pidFile, 'utf8')))).toBeUndefined();
});

test('a daemon with no environment, no parent and another name is listed, and ends with the session', async () => {
  const outcome = await bench.bash(
    '(env -i setsid -f bash -c "exec -a nginx sleep 300" >/dev/null 2>&1 &) ; echo left',
  );
  expect(outcome.content).toContain('listed as shell_1');
  expect(await marked(bench.markers[0] ?? '')).toHaveLength(1);
  await bench.shells.closeAll();
  expect(await marked(bench.markers[0] ?? '')).toEqual([]);
});

test('a child that ends by itself a moment later was not left behind', async () => {
  expect((await bench.bash('(sleep 0.05 >/dev/null 2>&1 &); echo done')).content).toBe('done');
  expect(bench.shells.list()).toEqual([]);
});

test('a directory that vanished between two commands is told, and the next one works again', async () => {
  await bench.bash('cd sub');
  await rm(join(root, 'sub'), { recursive: true });
  const outcome = await bench.bash('pwd');
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining('the directory is gone') });
  expect((await bench.bash('pwd')).content).toBe(root);
});

test('a long line with carriage returns is read in no time', async () => {
  const { content } = await bench.bash("printf 'old\\rn'; head -c 29000 /dev/zero | tr '\\0' e");
  expect(content).toBe(`n${'e'.repeat(29_000)}`);
});

test('no character is cut in half, neither in a large output nor in one that is read in pieces', async () => {
  const { content } = await bench.bash("printf 'a%.0s' 1; printf '€%.0s' $(seq 1 20000)");
  expect(content).toContain('left out here');
  expect(content).not.toContain('\ufffd');
});

test('an id of the provider chooses no place outside the folder of outputs', async () => {
  await bench.bash('seq 1 20000', {}, undefined, '../../evil');
  expect(await readdir(join(root, 'outputs'))).toEqual(['______evil.txt']);
});

test('a large output is kept whole in a file, and the model gets head, tail and the place', async () => {
  const { content } = await bench.bash('seq 1 200000');
  const text = String(content);
  expect(text.length).toBeLessThan(30_000);
  expect(text).toMatch(/^1\n2\n/);
  expect(text).toMatch(/200000$/);
  const path = /in (\S+\.txt)/.exec(text)?.[1] ?? '';
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(200_001);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('bash counts the lines of a command from one, and what carries our news leaves no trace when it is closed', async () => {
  expect((await bench.bash('set -u\necho "$NOPE"')).content).toContain('line 2: NOPE');
  expect(await bench.bash('exec 3>&-; echo closed')).toMatchObject({ content: 'closed' });
  await expect(bench.bash('echo \0')).rejects.toThrow('NUL');
});

test('progress shows the last lines while it runs', async () => {
  const controller = new AbortController();
  const running = bench.bash('echo one; echo two; sleep 60', {}, controller.signal);
  await untilOutput('two');
  controller.abort();
  await running;
  expect(bench.progress.at(-1)).toMatchObject({ kind: 'output', tail: ['one', 'two'] });
});

test('a background shell is read, told of when it ends, and killed', async () => {
  const output = createBashOutputTool(bench.shells);
  const kill = createKillShellTool(bench.shells, (id) => id === 'agent_1');
  const started = await bench.bash('echo first; sleep 300', { run_in_background: true });
  expect(started.content).toContain('shell_1');
  await untilRead(output, 'first');
  expect((await bench.use(output, { shell_id: 'shell_1' })).content).toContain('nothing new');
  expect((await bench.use(kill, { shell_id: 'shell_1' })).content).toContain('Ended shell_1');
  expect((await bench.use(kill, { shell_id: 'agent_1' })).content).toBe('Ended agent_1.');
  await expect(bench.use(kill, { shell_id: 'agent_2' })).rejects.toThrow('There are: shell_1');
  await bench.shells.find('shell_1')?.shell.over;
  expect(bench.shells.takeNotices()).toHaveLength(1);
  expect(bench.shells.takeNotices()).toEqual([]);
  expect(bench.told).toMatchObject([
    { type: 'background', id: 'shell_1', title: 'echo first; sleep 300', state: 'started' },
    { type: 'background', id: 'shell_1', state: 'stopped', words: expect.stringContaining('ended by signal') },
  ]);
  await expect(bench.use(output, { shell_id: 'shell_9' })).rejects.toThrow('There are: shell_1');
});

test('a filter shows the lines that fit, at once whatever it is made of; one that cannot be used takes nothing', async () => {
  const output = createBashOutputTool(bench.shells);
  const printed = `${'a'.repeat(20_000)}b`;
  await bench.bash(`echo ${printed}; echo error 7`, { run_in_background: true });
  await expect(bench.use(output, { shell_id: 'shell_1', filter: '(' })).rejects.toThrow('missing closing )');
  await bench.shells.find('shell_1')?.shell.over;
  const found = await bench.use(output, { shell_id: 'shell_1', filter: '(a+)+$|error \\d' });
  expect(found.content).toMatch(/^\[shell_1: ended .*\]\nerror 7$/);
});

test('lines that are waited for are told together, however they arrive', async () => {
  await bench.bash('printf "re"; sleep 0.1; printf "ady 1\\nno\\nready 2\\n"', {
    run_in_background: true,
    wake_on: '^ready',
  });
  await bench.shells.find('shell_1')?.shell.over;
  expect(bench.told.map((event) => event.type === 'background' && event.state)).toEqual([
    'started',
    'printed',
    'completed',
  ]);
  expect(bench.shells.takeNotices()[0]).toBe('Background shell shell_1 printed: ready 1\nready 2');
  await bench.bash('for i in $(seq 5000); do echo ready $i; done', { run_in_background: true, wake_on: 'ready' });
  await bench.shells.find('shell_2')?.shell.over;
  expect(bench.shells.takeNotices()[0]).toBe(
    'Background shell shell_2 printed: ready 1\nready 2\nready 3\nready 4\nready 5\n… and 4995 more that match',
  );
  await expect(bench.bash('true', { wake_on: 'x' })).rejects.toThrow('needs run_in_background');
  await expect(bench.bash('true', { run_in_background: true, wake_on: '(' })).rejects.toThrow(
    'not a regular expression',
  );
});

test('a running command moves to the background when the person says so', async () => {
  const running = bench.bash('echo up; sleep 300');
  await untilOutput('up');
  expect(bench.shells.moveToBackground('call-of-another')).toBe(false);
  expect(bench.shells.moveToBackground()).toBe(true);
  expect((await running).content).toContain('Moved to the background as shell_1');
  expect(bench.shells.moveToBackground()).toBe(false);
  expect(bench.told).toMatchObject([{ id: 'shell_1', state: 'started' }]);
});

async function untilOutput(text: string): Promise<void> {
  while (!bench.progress.some((one) => one.kind === 'output' && one.tail.includes(text))) await nextTick();
}

async function untilRead(tool: Tool, text: string): Promise<void> {
  while (!String((await bench.use(tool, { shell_id: 'shell_1' })).content).includes(text)) await nextTick();
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));
