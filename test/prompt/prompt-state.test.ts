import { expect, test } from 'vitest';
import { createPromptState, reducePrompt, shouldCompare } from '../../src/prompt/prompt-state.ts';

const PARTS = [
  { name: 'base', text: 'You are ouro.' },
  { name: 'memory', text: 'Use tabs.' },
  { name: 'environment', text: 'Git branch: main\nGit status: clean' },
];
const MEMORY_NEWS = 'The files of instructions have changed since this session began.';

test('parts moved into the first message are reported, and again after a compaction', () => {
  const rendered = reducePrompt(createPromptState(undefined), { type: 'rendered', parts: PARTS, dynamicParts: 'move' });
  const words = ['Use tabs.', 'Git branch: main\nGit status: clean'];
  expect(rendered).toMatchObject({ moved: PARTS.slice(1), memoryText: 'Use tabs.', news: words });
  const taken = reducePrompt(rendered, { type: 'news_taken' });
  expect(taken.news).toEqual([]);
  expect(reducePrompt(taken, { type: 'compacted', system: [] }).news).toEqual(words);
});

test('a resumed prompt is compared once with the current state; unchanged parts are not reported', () => {
  const resumed = createPromptState({ system: PARTS, memoryText: undefined });
  expect(shouldCompare(resumed)).toBe(true);
  const git = { branch: 'main', changes: [], commits: [] };
  const same = reducePrompt(resumed, { type: 'compared', system: PARTS, rendered: PARTS, git });
  expect([shouldCompare(same), same.news]).toEqual([false, []]);
  const rendered = [{ name: 'memory', text: 'Use spaces.' }];
  const other = { ...git, branch: 'other' };
  const { news } = reducePrompt(resumed, { type: 'compared', system: PARTS, rendered, git: other });
  expect(news).toEqual([
    'When this session was resumed, the repository was like this:\nGit branch: other\nGit status: clean',
    `${MEMORY_NEWS} This is how they read now:\n\nUse spaces.`,
  ]);
});

test('after a compaction the comparison is dropped, after /clear none is needed', () => {
  const resumed = createPromptState({ system: PARTS, memoryText: 'Use spaces.' });
  const compared = reducePrompt(resumed, { type: 'compared', system: PARTS, rendered: PARTS, git: undefined });
  const compacted = reducePrompt(compared, { type: 'compacted', system: PARTS });
  expect([shouldCompare(compacted), compacted.memoryText]).toEqual([true, 'Use tabs.']);
  expect(shouldCompare(reducePrompt(compacted, { type: 'restarted' }))).toBe(false);
});
