import { expect, test } from 'vitest';
import {
  createSystemPromptState,
  reduceSystemPromptState,
  shouldCompareSystemPrompt,
} from '../../src/prompt/system-prompt-state.ts';

const PARTS = [
  { name: 'base', text: 'You are ouro.' },
  { name: 'memory', text: 'Use tabs.' },
  { name: 'environment', text: 'Git branch: main\nGit status: clean' },
];
const MEMORY_NEWS = 'The files of instructions have changed since this session began.';

test('parts moved into the first message are reported, and again after a compaction', () => {
  const rendered = reduceSystemPromptState(createSystemPromptState(undefined), {
    type: 'rendered',
    parts: PARTS,
    dynamicParts: 'move',
  });
  const words = ['Use tabs.', 'Git branch: main\nGit status: clean'];
  expect(rendered).toMatchObject({ moved: PARTS.slice(1), memoryText: 'Use tabs.', news: words });
  const taken = reduceSystemPromptState(rendered, { type: 'news_taken' });
  expect(taken.news).toEqual([]);
  expect(reduceSystemPromptState(taken, { type: 'compacted', system: [] }).news).toEqual(words);
});

test('a resumed prompt is compared once with the current state; unchanged parts are not reported', () => {
  const resumed = createSystemPromptState({ system: PARTS, memoryText: undefined });
  expect(shouldCompareSystemPrompt(resumed)).toBe(true);
  const git = { branch: 'main', changes: [], commits: [] };
  const same = reduceSystemPromptState(resumed, { type: 'compared', system: PARTS, rendered: PARTS, git });
  expect([shouldCompareSystemPrompt(same), same.news]).toEqual([false, []]);
  const rendered = [{ name: 'memory', text: 'Use spaces.' }];
  const other = { ...git, branch: 'other' };
  const { news } = reduceSystemPromptState(resumed, { type: 'compared', system: PARTS, rendered, git: other });
  expect(news).toEqual([
    'When this session was resumed, the repository was like this:\nGit branch: other\nGit status: clean',
    `${MEMORY_NEWS} This is how they read now:\n\nUse spaces.`,
  ]);
});

test('after a compaction the comparison is dropped, after /clear none is needed', () => {
  const resumed = createSystemPromptState({ system: PARTS, memoryText: 'Use spaces.' });
  const compared = reduceSystemPromptState(resumed, {
    type: 'compared',
    system: PARTS,
    rendered: PARTS,
    git: undefined,
  });
  const compacted = reduceSystemPromptState(compared, { type: 'compacted', system: PARTS });
  expect([shouldCompareSystemPrompt(compacted), compacted.memoryText]).toEqual([true, 'Use tabs.']);
  expect(shouldCompareSystemPrompt(reduceSystemPromptState(compacted, { type: 'restarted' }))).toBe(false);
});
