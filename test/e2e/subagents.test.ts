import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SeenRequest } from '../support/api/dialect.ts';
import { type ApiTurn, calls, delayed, says, toolUse } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER, startOuro } from '../support/run-ouro.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n', 'one/b.txt': 'x', 'two/b.txt': 'y' });
});

afterEach(() => project.remove());

const task = (name: string, more: object = {}) =>
  toolUse('Task', { description: name, prompt: `You are ${name}`, ...more }, `toolu_${name}`);
const bash = (command: string) => toolUse('Bash', { command });

/** How many replies this conversation already has. */
const turnOf = ({ raw }: SeenRequest) => raw.match(/"role":"assistant"/g)?.length ?? 0;

/** Plays each conversation its own script: the sub-agents know their name, the parent is the rest. */
function cast(scripts: Readonly<Record<string, readonly ApiTurn[]>>) {
  return (request: SeenRequest) => {
    const name = Object.keys(scripts).find((one) => request.raw.includes(`"You are ${one}"`)) ?? 'parent';
    // The parent's calls hold the same words; it alone has calls of Task behind it.
    const who = request.raw.includes('"name":"Task","input"') || request.raw.includes('toolu_first') ? 'parent' : name;
    return scripts[who]?.[turnOf(request)];
  };
}

const ALL = ['--allowedTools', 'Bash', '--output-format', 'stream-json', '--verbose'];

function linesOf(stdout: string) {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('several sub-agents work in parallel, each with its own folder and reads, and report to the parent', async () => {
  const both = gate();
  let waiting = 0;
  const meet = (turn: ApiTurn): ApiTurn => delayed(both.closed, turn);
  const play = cast({
    parent: [
      calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_first')),
      calls(task('Ann'), task('Bob')),
      calls(bash('pwd -P')),
      says('All done.'),
    ],
    Ann: [
      meet(calls(bash('cd one && pwd -P'))),
      calls(bash('pwd -P'), toolUse('Read', { file_path: join(project.dir, 'a.txt') })),
      says('Ann is done.'),
    ],
    Bob: [meet(calls(bash('cd two && pwd -P'))), calls(bash('pwd -P')), says('Bob is done.')],
  });
  await using server = await startApiServer({
    turns: (request) => {
      const turn = play(request);
      if (turn?.kind === 'later') {
        waiting += 1;
        if (waiting === 2) both.open();
      }
      return turn;
    },
  });
  const { code, stdout } = await runHere(project, ['-p', 'go', ...ALL], server.url);
  expect(code).toBe(0);
  const of = (name: string) => server.requests().filter(({ raw }) => raw.includes(`"You are ${name}"`));
  const last = server.requests().at(-1)?.raw ?? '';
  expect(last).toContain('Ann is done.');
  expect(last).toContain('Bob is done.');
  // The parent never left its folder, and each sub-agent stayed where it went.
  expect(last).toContain(`"content":"${project.dir}"`);
  const ann = of('Ann').findLast(({ raw }) => !raw.includes('toolu_Ann'))?.raw ?? '';
  const bob = of('Bob').findLast(({ raw }) => !raw.includes('toolu_Bob'))?.raw ?? '';
  expect(ann.split(`"content":"${project.dir}/one"`)).toHaveLength(3);
  expect(bob.split(`"content":"${project.dir}/two"`)).toHaveLength(3);
  // What the parent was shown is not shown to the sub-agent.
  expect(ann).toContain('alpha');
  expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  const reported = linesOf(stdout);
  expect(reported.filter(({ subtype }) => subtype === 'task_started')).toHaveLength(2);
  expect(reported.filter(({ subtype }) => subtype === 'task_progress').length).toBeGreaterThanOrEqual(5);
  expect(reported.find(({ type }) => type === 'result')).toMatchObject({ result: 'All done.' });
});

test('a sub-agent has at most the permissions of its parent, and a read-only one can only read', async () => {
  const play = cast({
    parent: [calls(task('Ann'), task('Eve', { subagent_type: 'Explore' })), says('Nothing was done.')],
    Ann: [calls(bash('touch ann'), toolUse('Task', { description: 'x', prompt: 'x' })), says('No.')],
    Eve: [calls(bash('touch eve'), toolUse('Write', { file_path: 'eve', content: '' })), says('No.')],
  });
  await using server = await startApiServer({ turns: play });
  const args = ['-p', 'go', '--permission-mode', 'acceptEdits', '--output-format', 'json', '--', 'go'];
  const { code, stdout } = await runHere(project, args, server.url);
  expect(code).toBe(0);
  const denied = JSON.parse(stdout).permission_denials.map(({ tool_name, tool_input }: never) => [
    tool_name,
    tool_input,
  ]);
  expect(denied).toContainEqual(['Bash', { command: 'touch eve' }]);
  const eve = server.requests().find(({ raw }) => raw.includes('"You are Eve"') && !raw.includes('toolu_Eve'));
  const names = JSON.parse(eve?.raw ?? '{}').tools?.map((tool: { readonly name: string }) => tool.name);
  expect(names).toContain('Grep');
  expect(names).not.toContain('Write');
  expect(names).not.toContain('Task');
});

longTest('a file read by one agent does not count as read by another', async () => {
  const file_path = join(project.dir, 'a.txt');
  const annRead = gate();
  const bobWrote = gate();
  const write = (content: string) => toolUse('Write', { file_path, content });
  const play = cast({
    parent: [
      calls(toolUse('Read', { file_path }, 'toolu_first')),
      calls(task('Ann'), task('Bob')),
      calls(write('by the parent\n')),
      says('Done.'),
    ],
    Ann: [
      calls(toolUse('Read', { file_path })),
      delayed(bobWrote.closed, calls(write('by Ann\n'))),
      says('Ann is done.'),
    ],
    Bob: [
      delayed(annRead.closed, calls(write('unseen\n'))),
      calls(toolUse('Read', { file_path })),
      calls(write('by Bob\n')),
      says('Bob is done.'),
    ],
  });
  await using server = await startApiServer({
    turns: (request) => {
      const turn = play(request);
      if (request.raw.includes('"You are Ann"') && turnOf(request) === 1) annRead.open();
      if (request.raw.includes('"You are Bob"') && turnOf(request) === 3) bobWrote.open();
      return turn;
    },
  });
  await runHere(project, ['-p', 'go', '--permission-mode', 'acceptEdits'], server.url);
  // The parent is told the difference before it writes.
  expect(await project.read('a.txt')).toBe('by the parent\n');
  const last = (words: string, not: string) =>
    server.requests().findLast(({ raw }) => raw.includes(words) && !raw.includes(not))?.raw ?? '';
  expect(last('"You are Ann"', 'toolu_Ann')).toContain('was changed on disk since it was read');
  expect(last('"You are Bob"', 'toolu_Bob')).toContain('has not been read in this session');
  const reported = JSON.stringify(server.requests().at(-1)?.body.messages);
  expect(reported).toMatch(/a\.txt has changed on disk since you last saw it\.[^"]*\+by Bob.*"by the parent/);
});

longTest('print mode waits for background sub-agents, and the model answers with their results', async () => {
  const [ann, bob] = [gate(), gate()];
  const play = cast({
    parent: [
      calls(task('Ann', { run_in_background: true })),
      says('Ann is looking.'),
      calls(task('Bob', { run_in_background: true })),
      says('Bob, too.'),
      says('Ann found 42, Bob nothing.'),
    ],
    Ann: [delayed(ann.closed, calls(bash('pwd'))), says('It is 42.')],
    Bob: [delayed(bob.closed, says('Nothing here.'))],
  });
  await using server = await startApiServer({
    turns: (request) => {
      const turn = play(request);
      // Each begins when the parent has said its last words.
      if (request.raw.includes('toolu_Bob') && turnOf(request) === 3) bob.open();
      else if (request.raw.includes('toolu_Ann') && turnOf(request) === 1) ann.open();
      return turn;
    },
  });
  const { code, stdout } = await runHere(project, ['-p', 'go', ...ALL], server.url);
  expect(code).toBe(0);
  const reported = linesOf(stdout);
  expect(reported.filter(({ type }) => type === 'result')).toEqual([
    expect.objectContaining({ result: 'Ann found 42, Bob nothing.' }),
  ]);
  const asked = server.requests().filter(({ raw }) => raw.includes('toolu_Ann'));
  expect(asked.find((request) => turnOf(request) === 2)?.raw).toContain('has finished:\\nIt is 42.');
  expect(asked.at(-1)?.raw).toContain('has finished:\\nNothing here.');
});

longTest('a host that closed its input still gets the work of background sub-agents', async () => {
  const said = gate();
  const play = cast({
    parent: [calls(task('Ann', { run_in_background: true })), says('Ann is at it.'), says('Ann is done.')],
    Ann: [delayed(said.closed, calls(bash('pwd'))), calls(bash('echo made > ann')), says('Done.')],
  });
  await using server = await startApiServer({
    turns: (request) => {
      if (request.raw.includes('toolu_Ann')) said.open();
      return play(request);
    },
  });
  const stdin = `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'go' } })}\n`;
  const args = ['--input-format', 'stream-json', ...ALL, '--permission-mode', 'acceptEdits'];
  const { code, stdout } = await runHere(project, args, server.url, { stdin });
  expect(code).toBe(0);
  const reported = linesOf(stdout);
  const results = reported.filter(({ type }) => type === 'result').map(({ result }) => result);
  expect(results).toEqual(['Ann is at it.', 'Ann is done.']);
  expect(reported.find(({ subtype }) => subtype === 'task_notification')).toMatchObject({ status: 'completed' });
  expect(await project.read('ann')).toBe('made\n');
});

longTest('sub-agents end with their parent, and so do their processes', async () => {
  const play = cast({
    parent: [calls(task('Ann'), task('Bob'))],
    Ann: [calls(bash('echo up > ann; sleep 1000'))],
    Bob: [calls(bash('(setsid sleep 1000 &) ; echo up > bob; sleep 1000'))],
  });
  await using server = await startApiServer({ turns: play });
  await using running = startOuro(project, ['-p', 'go', '--permission-mode', 'acceptEdits', ...ALL], server.url);
  await vi.waitFor(() =>
    expect(['ann', 'bob'].map((name) => existsSync(join(project.dir, name)))).toEqual([true, true]),
  );
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 130 });
  await expectNoProcessesLeft(project.marker);
});

longTest('the end of a background sub-agent is reported, and its transcript is stored beside the session', async () => {
  const done = gate();
  const play = cast({
    parent: [
      calls(task('Ann', { run_in_background: true })),
      delayed(done.closed, calls(bash('echo waited'))),
      says('Heard of it.'),
    ],
    Ann: [says('Ann looked.')],
  });
  await using server = await startApiServer({ turns: play });
  await using running = startOuro(project, ['-p', 'go', ...ALL], server.url);
  await running.waitForOutput(/task_notification/);
  done.open();
  const { code, stdout } = await running.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/"task_started","description":"Ann","task_type":"local_agent","is_backgrounded":true/);
  const lists = stdout.split('\n').filter((line) => line.includes('background_tasks_changed'));
  expect(lists.map((line) => JSON.parse(line).tasks)).toMatchObject([[{ description: 'Ann' }], []]);
  expect(server.requests().at(-1)?.raw).toMatch(/Sub-agent agent_\w+ \(Ann\) has finished:\\nAnn looked\./);
  const files = await readdir(project.ouroHome, { recursive: true });
  const sidechain = files.find((name) => /subagents\/.*agent_\w+.*\.jsonl$/.test(name)) ?? '';
  expect(await readFile(join(project.ouroHome, sidechain), 'utf8')).toContain('Ann looked.');
});

longTest(
  'a background sub-agent asks on the screen after its parent has ended, and the conversation continues',
  async () => {
    const asked = gate();
    const play = cast({
      parent: [calls(task('Ann', { run_in_background: true })), says('Ann is at it.')],
      Ann: [delayed(asked.closed, calls(bash('touch made'))), says('Ann made it.')],
    });
    await using server = await startApiServer({
      turns: (request) => (request.raw.includes('and now') ? says('All heard.') : play(request)),
    });
    await using terminal = openTerminal([LAUNCHER, '--trust'], {
      cwd: project.dir,
      env: terminalEnvironment(project, server.url),
    });
    await terminal.waitForText(/^[▌|]/m);
    terminal.type('go');
    terminal.press('enter');
    await terminal.waitForText(/Ann is at it\./);
    await terminal.waitForText(/1 background/);
    asked.open();
    await terminal.waitForText(/\(sub-agent\)[\s\S]*touch made[\s\S]*(?:↑↓|up down) enter/);
    terminal.press('y');
    await terminal.waitForText(/has finished/);
    expect(existsSync(join(project.dir, 'made'))).toBe(true);
    // Keys right behind an answer are taken for a part of it; what is pasted is not.
    terminal.paste('and now?');
    await terminal.waitForText(/and now\?/);
    const isSent = () => {
      terminal.press('enter');
      return server.all().some(({ raw }) => raw.includes('and now'));
    };
    await expect.poll(isSent).toBe(true);
    await terminal.waitForText(/All heard\./);
  },
);

longTest(
  'a sub-agent that repeats itself ends, and so does a parent that starts the same one again and again',
  async () => {
    const isParent = ({ raw }: SeenRequest) =>
      !raw.includes('"You are looker"') || raw.includes('"name":"Task","input"');
    await using looping = await startApiServer({
      turns: (request) =>
        isParent(request) ? (turnOf(request) === 0 ? calls(task('looker')) : says('Done.')) : calls(bash('true')),
    });
    const inside = await runHere(project, ['-p', 'go', ...ALL], looping.url);
    expect(inside.code).toBe(0);
    expect(looping.requests().filter((request) => !isParent(request))).toHaveLength(8);
    expect(JSON.stringify(looping.requests().at(-1)?.body.messages?.at(-1))).toContain('the model repeated itself');
    await using restarting = await startApiServer({
      turns: (request) =>
        isParent(request)
          ? calls(toolUse('Task', { description: 'look', prompt: 'You are looker' }, `toolu_${turnOf(request)}`))
          : says('Nothing found.'),
    });
    const outside = await runHere(project, ['-p', 'go', ...ALL], restarting.url);
    expect([outside.code, restarting.requests().filter(isParent).length]).toEqual([3, 8]);
  },
);
