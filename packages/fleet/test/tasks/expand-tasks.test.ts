import { existsSync } from 'node:fs';
import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { longTest } from '../../../../test/support/long-test.ts';
import { someOf } from '../../../../test/support/runs.ts';
import { createTempProject, type TempProject } from '../../../../test/support/temp-project.ts';
import { createFleetGit } from '../../src/git/fleet-git.ts';
import { expandTaskFile, expandTaskLines } from '../../src/tasks/expand-tasks.ts';
import type { TaskTargetDeps } from '../../src/tasks/find-task-targets.ts';
import { createTaskFileFromFlags, parseTaskFile, type TaskFileInput } from '../../src/tasks/task-file.ts';
import { addRepo, projectWithRepos } from '../support/fleet.ts';

let project: TempProject;
let notes: string[] = [];
afterEach(async () => {
  notes = [];
  await project.remove();
});

const deps = (): TaskTargetDeps => ({
  git: createFleetGit({ home: project.home, variables: { PATH: '/usr/local/bin:/usr/bin:/bin' } }),
  folder: project.dir,
  variables: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  warn: (message) => void notes.push(message),
  reach: 'this machine',
});
const expanded = (input: TaskFileInput) => expandTaskFile(createTaskFileFromFlags(input), deps());

test('repositories times items, each pinned to its commit', async () => {
  project = await projectWithRepos(['one', 'two']);
  await project.write('items.jsonl', '{"id": 7, "note": "first"}\nplain text\n');
  const { tasks, batch } = await expanded({
    prompt: 'In {{repo.name}}: {{item}}',
    over: { repos: ['repos/*'], items: 'items.jsonl' },
  });
  expect(tasks.map(({ title, spec }) => [title, spec.prompt])).toEqual([
    ['one 7', 'In one: {"id":7,"note":"first"}'],
    ['one plain text', 'In one: plain text'],
    ['two 7', 'In two: {"id":7,"note":"first"}'],
    ['two plain text', 'In two: plain text'],
  ]);
  expect(tasks[0]?.spec.place?.commit).toBe(
    (await project.git('-C', join(project.dir, 'repos/one'), 'rev-parse', 'HEAD')).trim(),
  );
  expect(batch.limits).toEqual({ each: 2_000_000, all: 8_000_000, attempts: 3, atOnce: 8 });
});

test('the same file is the same batch, another prompt or commit is not; a larger budget keeps it', async () => {
  project = await projectWithRepos(['one']);
  const file = { prompt: 'Do it', over: { repos: ['repos/one'] } };
  const { batch } = await expanded(file);
  expect((await expanded(file)).batch.id).toBe(batch.id);
  expect((await expanded({ ...file, limits: { all: 50, minutes: 3 } })).batch.id).toBe(batch.id);
  expect((await expanded({ ...file, prompt: 'Do that', name: batch.name })).batch.id).not.toBe(batch.id);
  await project.git('-C', join(project.dir, 'repos/one'), 'commit', '-q', '--allow-empty', '-m', 'More');
  expect((await expanded(file)).batch.id).not.toBe(batch.id);
});

test('folders of one repository are separate tasks, and so are files', async () => {
  project = await projectWithRepos([]);
  const repo = await addRepo(project, 'mono', { 'services/a/x.ts': '1\n', 'services/b/x.ts': '2\n' });
  const folders = await expanded({ prompt: 'Do it', over: { repos: ['repos/mono/services/*'] } });
  expect(folders.tasks.map(({ title, spec }) => [title, spec.place?.folder, spec.place?.url])).toEqual([
    ['a', 'services/a', repo],
    ['b', 'services/b', repo],
  ]);
  await project.write('repos/mono/services/a/new.ts', 'not committed\n');
  const files = await expanded({ prompt: 'Document it', over: { files: ['repos/mono/**/*.ts'] } });
  expect(files.tasks.map(({ spec }) => spec.prompt)).toEqual([
    'Document it\n\nThe file: services/a/x.ts',
    'Document it\n\nThe file: services/b/x.ts',
  ]);
});

test('repositories come from a list or a command too, and worktrees are found', async () => {
  project = await projectWithRepos(['one', 'two']);
  await project.write('list.txt', '# mine\nrepos/one\n\nrepos/two\n');
  const names = async (over: TaskFileInput['over']) =>
    (await expanded({ prompt: 'x', over })).tasks.map(({ title }) => title);
  expect(await names({ repos: 'list.txt' })).toEqual(['one', 'two']);
  expect(await names({ repos: { command: 'echo repos/two' } })).toEqual(['two']);
  const repo = join(project.dir, 'repos/one');
  await project.git('-C', repo, 'worktree', 'add', '-q', '-b', 'side', join(project.dir, 'side'));
  const found = await expandTaskFile(createTaskFileFromFlags({ prompt: 'x', over: { worktrees: true } }), {
    ...deps(),
    folder: repo,
  });
  expect(found.tasks.map(({ title }) => title)).toEqual(['one', 'side']);
});

test('uncommitted changes are not included, which is reported once', async () => {
  project = await projectWithRepos(['one']);
  await project.write('repos/one/new.txt', 'x');
  await expanded({ prompt: 'Do it', over: { repos: ['repos/one'], files: ['repos/one/a.txt'] } });
  expect(notes).toEqual([expect.stringContaining('has uncommitted changes')]);
});

test('a line of a JSON Lines file is a task', async () => {
  project = await projectWithRepos(['one']);
  const read = parseTaskFile(
    '{"repo":"repos/one","prompt":"First"}\n\n{"repo":"repos/one","prompt":"Second","title":"two"}\n',
    'x.jsonl',
  );
  if (!('lines' in read)) throw new Error('These are no lines.');
  const { collect, limits, priority } = createTaskFileFromFlags({ prompt: 'x', over: {} });
  const { tasks } = await expandTaskLines(read.lines, { collect, limits, priority, name: 'x' }, deps());
  expect(tasks.map(({ title, spec }) => [title, spec.prompt])).toEqual([
    ['one', 'First'],
    ['two', 'Second'],
  ]);
});

test.each(
  someOf(
    [
      [{ prompt: 'In {{repo.nam}}' }, '{{repo.nam}}, which does not exist. Available: repo.name'],
      [{ prompt: 'Use sk-ant-api03-aaaaaaaaaaaaaaaaaaaa' }, 'looks like a key'],
      [{ over: { repos: ['nowhere/*'] } }, 'nowhere/* was not found'],
      [{ over: { repos: ['.'] } }, 'is not in a git repository'],
      [{ over: { repos: ['ext::sh -c x'] } }, 'is not a repository'],
      [{ over: { repos: ['--upload-pack=x'] } }, 'is not a repository'],
      [{ over: { repos: ['https://me:hidden@host/x'] } }, 'contains a password'],
      [{ ref: 'nowhere' }, 'has no commit named nowhere'],
      [{ over: {} }, 'The task file has no targets'],
      [{ over: { repos: ['repos/one'], items: 'none.jsonl' } }, 'none.jsonl, was not found'],
    ],
    3,
  ),
)('%j is refused with the reason', async (more, words) => {
  project = await projectWithRepos(['one']);
  await expect(expanded({ prompt: 'Do it', over: { repos: ['repos/one'] }, ...more })).rejects.toThrow(words);
});

test.each([
  ['promt: x', 'at prompt'],
  ['prompt: x\nover: {}\nlimts: {}', 'unknown key "limts"'],
  ['prompt: x\nover: {}\nverify: { tries: 2 }', 'at verify: needs either "run"'],
  ['prompt: [', 'is not valid YAML'],
  ['prompt: *missing', 'is not valid YAML: Unresolved alias'],
  ['limits: { each: 0.0000001 }\nprompt: go\nover: { repos: [x] }', 'limits.each'],
  ['limits: { minutes: 40000 }\nprompt: go\nover: { repos: [x] }', 'limits.minutes'],
  ['prompt: x\nover: {}\nmode: god', 'at mode'],
])('an invalid file is reported with the location: %j', async (text, words) => {
  project = await projectWithRepos([]);
  expect(() => parseTaskFile(text, 'fleet.yaml')).toThrow(words);
});

test('a variable hidden from commands because it looks like a secret is reported', async () => {
  project = await projectWithRepos(['one']);
  const over = { repos: ['repos/one'] };
  await expanded({ prompt: 'x', over, env: ['STAGE'], secrets: ['NPM_TOKEN'] });
  expect(notes).toEqual([]);
  const { tasks } = await expanded({ prompt: 'x', over, env: ['NPM_TOKEN', 'DEPLOY_KEY'], secrets: ['DEPLOY_KEY'] });
  expect(notes).toEqual([expect.stringContaining('cannot read NPM_TOKEN in the sandbox')]);
  expect(tasks[0]?.spec).toMatchObject({ env: ['NPM_TOKEN', 'DEPLOY_KEY'], secrets: ['DEPLOY_KEY'] });
});

longTest('the check for uncommitted changes runs no filter of the repository, whatever its name', async () => {
  project = await createTempProject();
  const names = ['evil', 'a=b', 'with blank', 'Über'];
  const attributes = names.map((name, at) => (/^[\w-]+$/.test(name) ? `f${at}.txt filter=${name}\n` : '')).join('');
  const repo = await addRepo(project, 'one', { '.gitattributes': attributes, 'f0.txt': 'a\n', 'f1.txt': 'b\n' });
  const mark = join(project.dir, 'ran');
  for (const name of names)
    for (const key of ['clean', 'smudge', 'process', 'required'])
      await project.git('-C', repo, 'config', `filter.${name}.${key}`, key === 'required' ? 'true' : `touch ${mark}`);
  // The same size at another time: git has to compare the contents.
  await utimes(join(repo, 'f0.txt'), 1, 1);
  await expanded({ prompt: 'x', over: { repos: ['repos/one'] } });
  expect([existsSync(mark), notes]).toEqual([false, []]);
  await writeFile(join(repo, 'f0.txt'), 'changed\n');
  await expanded({ prompt: 'x', over: { repos: ['repos/one'] } });
  expect([existsSync(mark), notes]).toEqual([false, [expect.stringContaining('has uncommitted changes')]]);
});

test.each(
  someOf([
    ['remote.evil.url', 'ssh://x/y', 'core.sshCommand'],
    ['remote.evil.url', 'git://x/y', 'core.gitProxy'],
    ['remote.evil.url', '/', 'remote.evil.uploadpack'],
    ['remote.evil.vcs', 'ext', 'remote.evil.url'],
  ]),
)('a repository whose objects are elsewhere (%s %s) is not asked to fetch them by %s', async (key, value, program) => {
  project = await projectWithRepos(['evil']);
  const repo = join(project.dir, 'repos/evil');
  const mark = join(project.dir, 'ran');
  const commit = (await project.git('-C', repo, 'rev-parse', 'HEAD')).trim();
  const settings = [
    ['core.repositoryformatversion', '1'],
    ['extensions.partialClone', 'evil'],
    ['remote.evil.promisor', 'true'],
    [key, value],
    [program, `touch ${mark};`],
  ];
  for (const [name = '', text = ''] of settings) await project.git('-C', repo, 'config', name, text);
  await rm(join(repo, '.git/objects', commit.slice(0, 2)), { recursive: true });
  await expect(expanded({ prompt: 'x', over: { repos: ['repos/evil'] } })).rejects.toThrow('has no commit yet');
  await expect(project.read('ran')).rejects.toThrow('ENOENT');
});

longTest('five thousand lines start git once per repository, not per line', async () => {
  project = await projectWithRepos(['one', 'two']);
  const { git, ...rest } = deps();
  let calls = 0;
  const counted: TaskTargetDeps = {
    ...rest,
    git: (call) => {
      calls += 1;
      return git(call);
    },
  };
  const lines = Array.from({ length: 5_000 }, (_, at) =>
    JSON.stringify({ repo: at % 2 === 0 ? 'repos/one' : 'repos/two', prompt: `Do ${at}`, title: `task ${at}` }),
  );
  const parsed = parseTaskFile(lines.join('\n'), 'tasks.jsonl');
  const frame = { ...createTaskFileFromFlags({ prompt: 'x', over: {} }), name: 'lines' };
  const { tasks } = await expandTaskLines('lines' in parsed ? parsed.lines : [], frame, counted);
  expect([tasks.length, calls]).toEqual([5_000, 6]);
});
