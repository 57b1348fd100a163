import { expect, test } from 'vitest';
import { createGitChangeTracker } from '../../src/git/external-change-tracker.ts';
import { readGitSnapshot } from '../../src/git/git-repository.ts';
import { createTempProject } from '../support/temp-project.ts';

test('repository changes by others between two prompts are reported once, those of the model are not', async () => {
  await using project = await createTempProject({ 'a.txt': 'a', 'b.txt': 'b' });
  await project.initGit();
  const readSnapshot = () => readGitSnapshot(project.dir, {}, () => true);
  const news = createGitChangeTracker({ initial: readSnapshot(), readSnapshot, now: Date.now });
  news.startPrompt();
  await project.write('own.txt', 'by a call');
  news.markIdle();
  await news.whenSettled();
  news.startPrompt();
  await news.whenSettled();
  expect(news.takeNotices()).toEqual([]);
  news.markIdle();
  await news.whenSettled();
  await project.git('add', 'own.txt');
  await project.git('commit', '-q', '-m', 'Keep it');
  await project.write('a.txt', 'changed');
  news.startPrompt();
  await news.whenSettled();
  const [words, ...more] = news.takeNotices();
  expect(words).toMatch(/outside this conversation:\n {2}New commit: \w+ Keep it\n {2}Status: {2}M a\.txt\n/);
  expect(words).toContain('No longer in the status: own.txt');
  expect([more, news.takeNotices()]).toEqual([[], []]);
});

test('a slow repository is not checked again, and a folder without one never', async () => {
  let [clock, looks] = [0, 0];
  const snapshot = { branch: 'main', changes: [], commits: [] };
  const readSnapshot = async () => {
    looks += 1;
    clock += 5_000;
    return { ...snapshot, changes: ['?? x'] };
  };
  const slow = createGitChangeTracker({ initial: Promise.resolve(snapshot), readSnapshot, now: () => clock });
  const none = createGitChangeTracker({ initial: Promise.resolve(undefined), readSnapshot, now: () => clock });
  for (const news of [slow, none, slow, none]) {
    news.startPrompt();
    news.markIdle();
    await news.whenSettled();
  }
  expect(looks).toBe(1);
});
