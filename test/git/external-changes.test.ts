import { expect, test } from 'vitest';
import { createGitChangesFeature } from '../../src/git/external-changes.ts';
import { readGitSnapshot } from '../../src/git/git-repository.ts';
import { createTempProject } from '../support/temp-project.ts';

const END = { type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 } as const;

test('repository changes by others between two prompts are reported once, those of the model are not', async () => {
  await using project = await createTempProject({ 'a.txt': 'a', 'b.txt': 'b' });
  await project.initGit();
  const readSnapshot = () => readGitSnapshot(project.dir, {}, () => true);
  const news = createGitChangesFeature({ initial: readSnapshot(), readSnapshot, now: Date.now });
  news.onEvent({ type: 'agent_start' });
  await project.write('own.txt', 'by a call');
  news.onEvent(END);
  await news.whenSettled();
  news.onEvent({ type: 'agent_start' });
  await news.whenSettled();
  expect(await news.reminders()).toEqual([]);
  news.onEvent(END);
  await news.whenSettled();
  await project.git('add', 'own.txt');
  await project.git('commit', '-q', '-m', 'Keep it');
  await project.write('a.txt', 'changed');
  news.onEvent({ type: 'agent_start' });
  await news.whenSettled();
  const [words, ...more] = await news.reminders();
  expect(words).toMatch(/outside this conversation:\n {2}New commit: \w+ Keep it\n {2}Status: {2}M a\.txt\n/);
  expect(words).toContain('No longer in the status: own.txt');
  expect([more, await news.reminders()]).toEqual([[], []]);
});

test('a slow repository is not checked again, and a folder without one never', async () => {
  let [clock, looks] = [0, 0];
  const snapshot = { branch: 'main', changes: [], commits: [] };
  const readSnapshot = async () => {
    looks += 1;
    clock += 5_000;
    return { ...snapshot, changes: ['?? x'] };
  };
  const slow = createGitChangesFeature({ initial: Promise.resolve(snapshot), readSnapshot, now: () => clock });
  const none = createGitChangesFeature({ initial: Promise.resolve(undefined), readSnapshot, now: () => clock });
  for (const news of [slow, none, slow, none]) {
    news.onEvent({ type: 'agent_start' });
    news.onEvent(END);
    await news.whenSettled();
  }
  expect(looks).toBe(1);
});
