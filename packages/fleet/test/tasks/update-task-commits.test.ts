import { expect, test } from 'vitest';
import { createFleetGit, type FleetGit } from '../../src/git/fleet-git.ts';
import { refreshScheduledTasks } from '../../src/tasks/expand-tasks.ts';
import { addRepo, projectWithRepos } from '../support/fleet.ts';
import { stormTasks } from '../support/fleet-storm.ts';

const OLD = 'a'.repeat(40);
const limits = { each: 1, all: 1, attempts: 1, atOnce: 1 };

function createDue(url: string, { ref, prompt = 'do it' }: { readonly ref?: string; readonly prompt?: string } = {}) {
  const collect = { as: 'patches', name: 'n', ...(ref === undefined ? {} : { ref }) } as const;
  const tasks = stormTasks(1, 0).map((task) => ({
    ...task,
    spec: { ...task.spec, prompt, place: { url, commit: OLD, folder: '' } },
  }));
  return { batch: { id: 'b', name: 'b', limits, priority: 0, collect }, tasks };
}

test('tasks get the current commit of their ref, another key, and the commit in their prompt', async () => {
  await using project = await projectWithRepos([]);
  const url = await addRepo(project, 'one', { 'a.txt': 'a\n' });
  await project.git('-C', url, 'checkout', '-q', '-b', 'next');
  await project.git('-C', url, 'commit', '-q', '--allow-empty', '-m', 'Next');
  const git = createFleetGit({ home: project.dir, variables: { PATH: process.env.PATH ?? '' } });
  const commit = (await project.git('-C', url, 'rev-parse', 'next')).trim();
  for (const ref of [undefined, 'next', 'HEAD', 'refs/heads/next']) {
    const due = createDue(url, { ...(ref === undefined ? {} : { ref }), prompt: `look at ${OLD}` });
    const [task] = await refreshScheduledTasks(due, { git, isAllowed: () => true });
    expect(task?.spec).toMatchObject({ prompt: `look at ${commit}`, place: { url, commit, folder: '' } });
    expect(task?.key).not.toBe(due.tasks[0]?.key);
  }
  await expect(refreshScheduledTasks(createDue(url, { ref: 'gone' }), { git, isAllowed: () => true })).rejects.toThrow(
    'has no commit named gone',
  );
});

test('a pinned commit stays', async () => {
  const due = createDue('https://example.com/a.git', { ref: OLD });
  const [task] = await refreshScheduledTasks(due, { git: rejectGit, isAllowed: () => true });
  expect(task?.spec.place?.commit).toBe(OLD);
});

test.each([
  'ext::sh -c touch% /tmp/x',
  'file:///etc',
  'relative/path',
  '/a/../b',
  '--upload-pack=touch x',
  '-oProxyCommand=x:y',
  'https://-evil',
  '',
])('git is never run for "%s"', async (url) => {
  await expect(refreshScheduledTasks(createDue(url), { git: rejectGit, isAllowed: () => true })).rejects.toThrow(
    'neither the URL',
  );
});

test('git is never run for a repository that the policy excludes', async () => {
  const due = createDue('https://example.com/a.git');
  await expect(refreshScheduledTasks(due, { git: rejectGit, isAllowed: () => false })).rejects.toThrow(
    'does not work on',
  );
});

const rejectGit: FleetGit = async () => {
  throw new Error('git was asked');
};
