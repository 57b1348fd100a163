import { expect, test } from 'vitest';
import { createGitNews } from '../../src/git/news.ts';
import { gitSnapshot } from '../../src/git/snapshot.ts';
import { createTempProject } from '../support/temp-project.ts';

test('what others did to the repository between two prompts is told once, what the model did is not', async () => {
  await using project = await createTempProject({ 'a.txt': 'a', 'b.txt': 'b' });
  await project.initGit();
  const look = () => gitSnapshot(project.dir, {}, () => true);
  const news = createGitNews({ first: look(), look, now: Date.now });
  news.begin();
  await project.write('own.txt', 'by a call');
  news.rest();
  await news.settled();
  news.begin();
  await news.settled();
  expect(news.take()).toEqual([]);
  news.rest();
  await news.settled();
  await project.git('add', 'own.txt');
  await project.git('commit', '-q', '-m', 'Keep it');
  await project.write('a.txt', 'changed');
  news.begin();
  await news.settled();
  const [words, ...more] = news.take();
  expect(words).toMatch(/outside this conversation:\n {2}New commit: \w+ Keep it\n {2}Status: {2}M a\.txt\n/);
  expect(words).toContain('No longer in the status: own.txt');
  expect([more, news.take()]).toEqual([[], []]);
});

test('a repository that takes its time is not looked at again, and a folder without one never', async () => {
  let [clock, looks] = [0, 0];
  const snapshot = { branch: 'main', changes: [], commits: [] };
  const look = async () => {
    looks += 1;
    clock += 5_000;
    return { ...snapshot, changes: ['?? x'] };
  };
  const slow = createGitNews({ first: Promise.resolve(snapshot), look, now: () => clock });
  const none = createGitNews({ first: Promise.resolve(undefined), look, now: () => clock });
  for (const news of [slow, none, slow, none]) {
    news.begin();
    news.rest();
    await news.settled();
  }
  expect(looks).toBe(1);
});
