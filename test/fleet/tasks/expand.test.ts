import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { fleetGit } from '../../../src/fleet/git/fleet-git.ts';
import { expandFile, expandLines } from '../../../src/fleet/tasks/expand.ts';
import { readTaskFile, type TaskFileInput, taskFileOf } from '../../../src/fleet/tasks/task-file.ts';
import { addRepo, projectWithRepos } from '../../support/fleet.ts';
import type { TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let notes: string[] = [];
afterEach(async () => {
  notes = [];
  await project.remove();
});

const parts = () => ({
  git: fleetGit({ home: project.home, variables: { PATH: '/usr/local/bin:/usr/bin:/bin' } }),
  folder: project.dir,
  variables: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  note: (words: string) => void notes.push(words),
  reach: 'this machine' as const,
});
const expanded = (input: TaskFileInput) => expandFile(taskFileOf(input), parts());

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

test('the same file is the same batch; another prompt or commit is another; more money is not', async () => {
  project = await projectWithRepos(['one']);
  const file = { prompt: 'Do it', over: { repos: ['repos/one'] } };
  const { batch } = await expanded(file);
  expect((await expanded(file)).batch.id).toBe(batch.id);
  expect((await expanded({ ...file, limits: { all: 50, minutes: 3 } })).batch.id).toBe(batch.id);
  expect((await expanded({ ...file, prompt: 'Do that', name: batch.name })).batch.id).not.toBe(batch.id);
  await project.git('-C', join(project.dir, 'repos/one'), 'commit', '-q', '--allow-empty', '-m', 'More');
  expect((await expanded(file)).batch.id).not.toBe(batch.id);
});

test('folders of one repository are tasks of their own, and so are files', async () => {
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

test('repositories come from a list or a command, too, and its worktrees are found', async () => {
  project = await projectWithRepos(['one', 'two']);
  await project.write('list.txt', '# mine\nrepos/one\n\nrepos/two\n');
  const names = async (over: TaskFileInput['over']) =>
    (await expanded({ prompt: 'x', over })).tasks.map(({ title }) => title);
  expect(await names({ repos: 'list.txt' })).toEqual(['one', 'two']);
  expect(await names({ repos: { command: 'echo repos/two' } })).toEqual(['two']);
  const repo = join(project.dir, 'repos/one');
  await project.git('-C', repo, 'worktree', 'add', '-q', '-b', 'side', join(project.dir, 'side'));
  const found = await expandFile(taskFileOf({ prompt: 'x', over: { worktrees: true } }), { ...parts(), folder: repo });
  expect(found.tasks.map(({ title }) => title)).toEqual(['one', 'side']);
});

test('what is not committed is not part of it, and that is said once', async () => {
  project = await projectWithRepos(['one']);
  await project.write('repos/one/new.txt', 'x');
  await expanded({ prompt: 'Do it', over: { repos: ['repos/one'], files: ['repos/one/a.txt'] } });
  expect(notes).toEqual([expect.stringContaining('has changes that are not committed')]);
});

test('a line of a JSON Lines file is a task', async () => {
  project = await projectWithRepos(['one']);
  const read = readTaskFile(
    '{"repo":"repos/one","prompt":"First"}\n\n{"repo":"repos/one","prompt":"Second","title":"two"}\n',
    'x.jsonl',
  );
  if (!('lines' in read)) throw new Error('These are no lines.');
  const { collect, limits, priority } = taskFileOf({ prompt: 'x', over: {} });
  const { tasks } = await expandLines(read.lines, { collect, limits, priority, name: 'x' }, parts());
  expect(tasks.map(({ title, spec }) => [title, spec.prompt])).toEqual([
    ['one', 'First'],
    ['two', 'Second'],
  ]);
});

test.each([
  [{ prompt: 'In {{repo.nam}}' }, '{{repo.nam}}, and there is no such value. There are: repo.name'],
  [{ prompt: 'Use sk-ant-api03-aaaaaaaaaaaaaaaaaaaa' }, 'looks like a key'],
  [{ over: { repos: ['nowhere/*'] } }, 'Nothing is called nowhere/*'],
  [{ over: { repos: ['.'] } }, 'is not in a git repository'],
  [{ over: { repos: ['ext::sh -c x'] } }, 'is no repository'],
  [{ over: { repos: ['--upload-pack=x'] } }, 'is no repository'],
  [{ over: { repos: ['https://me:hidden@host/x'] } }, 'holds a password'],
  [{ ref: 'nowhere' }, 'has no commit called nowhere'],
  [{ over: {} }, 'There is nothing to work on'],
  [{ over: { repos: ['repos/one'], items: 'none.jsonl' } }, 'There is no file none.jsonl'],
])('%j is told what is wrong', async (more, words) => {
  project = await projectWithRepos(['one']);
  await expect(expanded({ prompt: 'Do it', over: { repos: ['repos/one'] }, ...more })).rejects.toThrow(words);
});

test.each([
  ['promt: x', 'at prompt'],
  ['prompt: x\nover: {}\nlimts: {}', 'has no key "limts"'],
  ['prompt: x\nover: {}\nverify: { tries: 2 }', 'at verify: needs either "run"'],
  ['prompt: [', 'is not YAML'],
  ['prompt: x\nover: {}\nmode: god', 'at mode'],
])('a file with a slip says where: %j', async (text, words) => {
  project = await projectWithRepos([]);
  expect(() => readTaskFile(text, 'fleet.yaml')).toThrow(words);
});
