import { expect, test } from 'vitest';
import { describeCurrentSessionState } from '../../src/prompt/current-session-state.ts';

test('the present state has the mode, the folder, the branch and background work', () => {
  const state = describeCurrentSessionState({
    mode: 'default',
    cwd: '/home/me/shop',
    branch: 'main',
    background: [
      { id: 'shell_1', title: 'npm run dev' },
      { id: 'explore_2', title: 'Find the tests' },
    ],
  });
  expect(state).toEqual([
    'The ordinary permission mode is on: calls that change something may be asked about.',
    'The working directory is /home/me/shop.',
    'The git branch is main.',
    'In the background run: shell_1 (npm run dev), explore_2 (Find the tests).',
  ]);
});

test('outside a repository no branch is named, and an unknown state is omitted', () => {
  expect(describeCurrentSessionState({ mode: 'plan', cwd: '/x', background: [] }).slice(1)).toEqual([
    'The working directory is /x.',
    'Nothing runs in the background.',
  ]);
  expect(describeCurrentSessionState(undefined)).toEqual([]);
});
