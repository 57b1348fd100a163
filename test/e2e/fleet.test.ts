import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { says, status } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { addRepo, isAfterCall, projectWithRepos, writePolicy, writingModel } from '../support/fleet.ts';
import { runHere } from '../support/run-here.ts';
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
