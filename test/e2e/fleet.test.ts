import { existsSync, readdirSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { says, status } from '../support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../support/api/server.ts';
import { addRepo, isAfterCall, projectWithRepos, writePolicy, writingModel } from '../support/fleet.ts';
import { processesMarked } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { startOuro } from '../support/run-ouro.ts';
import type { TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
  await project.remove();
});

const run = (...args: readonly string[]) => runHere(project, ['batch', ...args], server?.url);
const model = ['--model', 'claude-sonnet-5-5', '--yes'];

test('one prompt runs over every repository a pattern finds, and leaves a patch of each', async () => {
  project = await projectWithRepos(['one', 'two']);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  const first = await run('write it', '--over', 'repos/*', ...model);
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain('2 of 2 done');
  expect(server.requests()).toHaveLength(4);
  const id = idOf(first.stdout);
  await run('collect', id, '--patches', 'out');
  const patches = await readdir(join(project.dir, 'out'));
  expect(patches).toHaveLength(2);
  for (const name of ['one', 'two']) {
    const patch = patches.find((file) => file.startsWith(name)) ?? '';
    await project.git('-C', join(project.dir, 'repos', name), 'apply', '--check', join(project.dir, 'out', patch));
  }
  expect(readdirSync(`${project.ouroHome}-work/${id}`)).toEqual([]);
});

test('the same again sends nothing; another prompt is another batch', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  await run('write it', '--over', 'repos/*', ...model);
  const again = await run('write it', '--over', 'repos/*', ...model);
  expect(again).toMatchObject({ code: 0 });
  expect(server.requests()).toHaveLength(2);
  await run('write something else', '--over', 'repos/*', ...model);
  expect(server.requests()).toHaveLength(4);
  expect((await run('--json')).stdout.match(/"id"/g)).toHaveLength(2);
});

test('--reuse sends only what is new when a repository was added', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  await run('write it', '--over', 'repos/*', ...model);
  await addRepo(project, 'two', { 'a.txt': 'beta\n' });
  const { code, stderr } = await run('write it', '--over', 'repos/*', '--reuse', ...model);
  expect(code).toBe(0);
  expect(stderr).toContain('1 task taken over');
  expect(server.requests()).toHaveLength(4);
});

test('a dry run lists every task and the most it can cost, and sends and stores nothing', async () => {
  project = await projectWithRepos(['one', 'two', 'three']);
  server = await startApiServer({ turns: writingModel });
  const { code, stdout } = await run('write it', '--over', 'repos/*', '--each', '0.5', '--dry-run');
  expect(code).toBe(0);
  expect(stdout.match(/^ {2}(one|three|two) {2}/gm)).toHaveLength(3);
  expect(stdout).toContain('at most $0.50 each and $1.50 in all');
  expect(server.all()).toEqual([]);
  expect(existsSync(join(project.ouroHome, 'fleet'))).toBe(false);
});

test('--try runs the first, and the same command without it goes on with the rest', async () => {
  project = await projectWithRepos(['one', 'two', 'three']);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  const tried = await run('write it', '--over', 'repos/*', '--try', '1', ...model);
  expect(tried.stdout).toContain('1 of 1 done');
  expect(tried.stderr).toContain('2 tasks are left');
  expect(server.requests()).toHaveLength(2);
  const all = await run('write it', '--over', 'repos/*', ...model);
  expect(all.stdout).toContain('3 of 3 done');
  expect(server.requests()).toHaveLength(6);
});

test('work that its check does not accept goes on in the same session until it does', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project);
  let asked = 0;
  server = await startApiServer({
    turns(request) {
      if (isAfterCall(request)) return says('Done.');
      asked += 1;
      return asked === 1 ? says('I think it is fine.') : writingModel(request);
    },
  });
  const end = await run(
    'write it',
    '--over',
    'repos/one',
    '--verify',
    'test -f done.txt || { echo no file; false; }',
    ...model,
  );
  expect(end).toMatchObject({ code: 0 });
  const second = JSON.stringify(server.requests()[1]?.body.messages);
  expect(second).toContain('I think it is fine.');
  expect(second).toContain('no file');
  expect((await run('show', idOf(end.stdout), 'one')).stdout).toContain('verified: yes');
});

test('three that fail are named, and the batch is not called done', async () => {
  project = await projectWithRepos(['one', 'two']);
  await addRepo(project, 'bad', { 'a.txt': 'bad\n' });
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  const { code, stdout } = await run('write it', '--over', 'repos/*', '--verify', 'grep -q alpha a.txt', ...model);
  expect(code).toBe(1);
  expect(stdout).toContain('1 failed');
  expect(stdout).toMatch(/failed {2}bad-\w+ {2}not verified after 2 of 2 tries/);
  expect(stdout).not.toMatch(/: done$/m);
});

test('quota that is gone rests the lane: no attempt is used up, and it ends with 4 where nobody wants to wait', async () => {
  project = await projectWithRepos(['one', 'two', 'three', 'four']);
  await writePolicy(project);
  let isGone = true;
  server = await startApiServer({
    turns: (request) => (isGone ? status(402, 'Your credit balance is too low') : writingModel(request)),
  });
  const waiting = await run('write it', '--over', 'repos/*', '-j', '2', '--no-wait', ...model);
  expect(waiting.code).toBe(4);
  expect(waiting.stdout).toContain('there is no credit left (402)');
  expect(server.requests().length).toBeLessThanOrEqual(2);
  isGone = false;
  await run('resume', idOf(waiting.stdout));
  expect(await run('write it', '--over', 'repos/*', '-j', '2', ...model)).toMatchObject({ code: 0 });
  const { stdout } = await run('status', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ counts: { done: 4, failed: 0 } });
});

test('the budget stops what has not begun, with 3, and more of it goes on', async () => {
  project = await projectWithRepos(['one', 'two']);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  const stopped = await run('write it', '--over', 'repos/*', '--each', '0.01', '--all', '0.0102', '-j', '1', ...model);
  expect(stopped.code).toBe(3);
  expect(stopped.stdout).toContain('1 of 2 done');
  await run('budget', idOf(stopped.stdout), '+1');
  expect(await run('write it', '--over', 'repos/*', '--each', '0.01', '--all', '0.0102', ...model)).toMatchObject({
    code: 0,
  });
});

test('a machine without a key leaves with a sentence, and no attempt is used up', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project);
  const { code, stderr, stdout } = await run('write it', '--over', 'repos/one', '-j', '1', '--yes');
  expect(code).toBe(4);
  expect(stderr).toContain('This worker leaves: No API key.');
  expect(JSON.parse((await run('status', idOf(stdout), '--json')).stdout)).toMatchObject({
    tasks: [{ tries: 0, state: 'waiting' }],
  });
});

test('a summary reads what all others came to, once', async () => {
  project = await projectWithRepos(['one', 'two']);
  await writePolicy(project);
  await project.write(
    'fleet.yaml',
    'name: sum\nprompt: write it\nover: { repos: [repos/*] }\nmodel: claude-sonnet-5-5\ncollect: { summary: What differs? }\n',
  );
  server = await startApiServer({
    turns: (request) =>
      JSON.stringify(request.body.messages).includes('What differs?')
        ? says('Nothing differs.')
        : writingModel(request),
  });
  const { code } = await run('run', 'fleet.yaml', '--yes');
  expect(code).toBe(0);
  expect((await run('show', 'sum', 'summary')).stdout).toContain('Nothing differs.');
  expect(server.requests()).toHaveLength(5);
});

test('the transcript is an ordinary session, and its log can be read', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  const { stdout } = await run('write it', '--over', 'repos/one', ...model);
  const logs = await run('logs', idOf(stdout), 'one');
  expect(logs.stdout).toContain('write it');
  expect(logs.stdout).toContain('It is written.');
  const stored = JSON.parse((await run('show', idOf(stdout), 'one', '--json')).stdout).session;
  const projects = join(project.ouroHome, 'projects');
  const [folder = ''] = await readdir(projects);
  expect(await readFile(join(projects, folder, `${stored}.jsonl`), 'utf8')).toContain('It is written.');
});

/** Every status begins with the name of its batch. */
function idOf(stdout: string): string {
  return /^([\w-]+-[0-9a-f]{6}): /m.exec(stdout)?.[1] ?? '';
}

test('a worker that is killed is paid for to the last request, and its task goes on in the same session', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project, { leaseSeconds: 1 });
  const held = gate();
  server = await startApiServer({
    turns: (request, index) =>
      index === 0
        ? writingModel(request)
        : index === 1
          ? { kind: 'later', until: held.closed, turn: says('late') }
          : says('Went on.'),
  });
  const env = { env: { OURO_RETRY_BASE_MS: '1' } };
  const first = startOuro(project, ['batch', 'write it', '--over', 'repos/one', ...model], server.url, env);
  await server.waitForRequest(2);
  await first.kill();
  const second = await run('write it', '--over', 'repos/one', ...model);
  held.open();
  expect(second).toMatchObject({ code: 0 });
  expect(JSON.stringify(server.requests()[2]?.body.messages)).toContain('write it');
  const status = JSON.parse((await run('status', '--json')).stdout);
  const one = JSON.parse((await run('show', status.id, 'one', '--json')).stdout);
  // Each reply is 25 tokens in and 12 out, at 2 and 10 dollars a million: nobody got the second one.
  expect({ tries: one.tries, spent: status.spent }).toEqual({ tries: 2, spent: 2 * (25 * 2 + 12 * 10) });
});

test('a cancel ends what runs within seconds; nothing has failed, and resume goes on with the sessions', async () => {
  project = await projectWithRepos(['one', 'two']);
  await writePolicy(project, { leaseSeconds: 3 });
  let isHanging = true;
  server = await startApiServer({
    turns: (request) => (isHanging && isAfterCall(request) ? { kind: 'hang' } : writingModel(request)),
  });
  const running = startOuro(project, ['batch', 'write it', '--over', 'repos/*', '-j', '2', ...model], server.url);
  await server.waitForRequest(4);
  const id = JSON.parse((await run('--json')).stdout)[0].id;
  await run('cancel', id);
  expect((await running.ended).code).toBe(1);
  await expectNoChildren();
  expect(JSON.parse((await run('status', id, '--json')).stdout)).toMatchObject({ counts: { cancelled: 2, failed: 0 } });
  isHanging = false;
  await run('resume', id);
  expect(await run('write it', '--over', 'repos/*', ...model)).toMatchObject({ code: 0 });
  expect(JSON.stringify(server.requests().at(-1)?.body.messages)).toContain('interrupted');
});

test('an interrupt gives back what runs, with the code of the signal', async () => {
  project = await projectWithRepos(['one']);
  await writePolicy(project);
  server = await startApiServer({ turns: () => ({ kind: 'hang' }) });
  const running = startOuro(project, ['batch', 'write it', '--over', 'repos/one', ...model], server.url);
  await server.waitForRequest(1);
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  const { counts, tasks } = JSON.parse((await run('status', '--json')).stdout);
  expect(counts).toMatchObject({ waiting: 1 });
  expect(tasks).toMatchObject([{ tries: 0, reason: 'its worker was stopped' }]);
});

test('a hostile repository runs nothing, and a machine that wants signatures runs no task without', async () => {
  project = await projectWithRepos([]);
  const mark = join(project.dir, 'ran');
  const repo = await addRepo(project, 'evil', {
    '.env': `X=$(touch ${mark})\n`,
    'bunfig.toml': 'preload = ["./evil.ts"]\n',
    'evil.ts': `require('node:fs').writeFileSync('${mark}', '');\n`,
    '.ouro/settings.json': JSON.stringify({
      hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${mark}` }] }] },
    }),
    '.gitattributes': '* filter=evil\n',
    'a.txt': 'alpha\n',
  });
  await project.git('-C', repo, 'config', 'filter.evil.smudge', `sh -c 'touch ${mark}; cat'`);
  await project.git('-C', repo, 'config', 'uploadpack.packObjectsHook', `sh -c 'touch ${mark}; exec "$@"'`);
  await project.write('repos/evil/.git/hooks/post-checkout', `#!/bin/sh\ntouch ${mark}\n`);
  await chmod(join(repo, '.git/hooks/post-checkout'), 0o755);
  await writePolicy(project);
  server = await startApiServer({ turns: writingModel });
  expect(await run('write it', '--over', 'repos/evil', ...model)).toMatchObject({ code: 0 });
  expect(existsSync(mark)).toBe(false);
  await writePolicy(project, { allowedSigners: join(project.dir, 'nobody') });
  const unsigned = await run('another', '--over', 'repos/evil', ...model);
  expect(unsigned.code).toBe(1);
  expect(unsigned.stdout).toContain('it is not signed, and this machine runs signed tasks only');
  expect(server.requests()).toHaveLength(2);
});

/** No ouro of a task is left. */
async function expectNoChildren(): Promise<void> {
  const left = (await processesMarked(project.marker)).filter(({ command }) => command.includes('stream-json'));
  expect(left).toEqual([]);
}

test('the first batch of docs/fleet.md works as it is written, without a key', async () => {
  project = await projectWithRepos([]);
  await writePolicy(project);
  const page = await readFile(join(import.meta.dirname, '../../docs/fleet.md'), 'utf8');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = block.trim().split('\n');
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const { code, stderr } = await runHere(project, line.split(' ').slice(1), undefined, {
      env: { PATH: process.env.PATH },
    });
    expect(code, stderr).toBe(0);
  }
  expect(await readdir(join(project.dir, 'fleet-demo/patches'))).toHaveLength(3);
});
