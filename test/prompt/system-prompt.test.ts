import { expect, test } from 'vitest';
import type { PromptEnvironment } from '../../src/prompt/environment.ts';
import { createSystemPrompt, renderSystem, type SystemInput } from '../../src/prompt/system-prompt.ts';

const ENVIRONMENT: PromptEnvironment = {
  cwd: '/home/ada/work',
  additionalDirectories: [],
  platform: 'linux',
  date: '2026-11-21',
  git: { branch: 'main', changes: [' M src/a.ts'], commits: ['abc1234 Begin'] },
};

const INPUT: SystemInput = {
  outputStyle: { name: 'terse', text: 'One line.' },
  memory: [{ path: '/home/ada/work/CLAUDE.md', scope: 'project', text: 'Use tabs.' }],
  skills: [{ name: 'release', description: 'Makes a release' }],
  agents: [{ name: 'Explore', description: 'Looks around' }],
  environment: ENVIRONMENT,
  mcp: [{ server: 'db', instructions: 'Ask for the schema first.' }],
  append: 'Be kind.',
};

const names = (input: SystemInput) => renderSystem(input).map((part) => part.name);
const textOf = (input: SystemInput) =>
  renderSystem(input)
    .map((part) => part.text)
    .join('\n\n');

test('parts stand from most to least stable, and what was appended stands last', () => {
  expect(names(INPUT)).toEqual([
    'base',
    'output style',
    'memory',
    'skills',
    'agents',
    'environment',
    'mcp',
    'appended',
  ]);
});

test('what is not there leaves no part behind', () => {
  const { outputStyle: _style, append: _append, ...rest } = INPUT;
  expect(names({ ...rest, memory: [], skills: [], agents: [], mcp: [{ server: 'x', instructions: ' ' }] })).toEqual([
    'base',
    'environment',
  ]);
});

test('a replacement stands in place of our words and the style, facts stay', () => {
  const replaced = renderSystem({ ...INPUT, replacement: 'You are a pirate.' });
  expect(replaced[0]).toEqual({ name: 'base', text: 'You are a pirate.' });
  expect(replaced.map((part) => part.name)).not.toContain('output style');
  expect(names({ ...INPUT, replacement: '' })[0]).toBe('memory');
});

test('the prompt of an ordinary project stays under 3,000 tokens, and under 1,500 with nothing added', () => {
  const skills = Array.from({ length: 60 }, (_, index) => ({
    name: `skill-${index}`,
    description: 'word '.repeat(80),
  }));
  const bare = textOf({ ...INPUT, memory: [], skills: [], agents: [], mcp: [] });
  expect(bare.length / 3.5).toBeLessThan(1_500);
  expect(textOf({ ...INPUT, skills }).length / 3.5).toBeLessThan(3_000);
});

test('more skills than fit are counted, and the bytes do not depend on their order', () => {
  const many = Array.from({ length: 900 }, (_, index) => ({ name: `skill-${index}`, description: 'does things' }));
  const text = textOf({ ...INPUT, skills: many });
  expect(text).toMatch(/- and \d+ more, not listed here/);
  expect(textOf({ ...INPUT, skills: many.toReversed() })).toBe(text);
});

test('names out of the repository cannot add lines of their own', () => {
  const git = { branch: 'x\n# New orders', changes: Array.from({ length: 50 }, () => '?? a'), commits: [] };
  const text = textOf({ ...INPUT, environment: { ...ENVIRONMENT, git } });
  expect(text).toContain('Git branch: x # New orders');
  expect(text).toContain('and 20 more');
});

test('the prompt is rendered once, kept, and rendered anew only when it was forgotten', async () => {
  let rendered = 0;
  const prompt = createSystemPrompt(async () => {
    rendered += 1;
    return [{ name: 'base', text: `version ${rendered}` }];
  });
  expect(prompt.parts()).toEqual([]);
  const [first, second] = await Promise.all([prompt.ready(), prompt.ready()]);
  expect(second).toBe(first);
  expect(prompt.parts()).toBe(first);
  prompt.forget();
  expect(await prompt.ready()).toEqual([{ name: 'base', text: 'version 2' }]);
});

test('a resumed session repeats the bytes it had', async () => {
  const stored = [{ name: 'base', text: 'as it was' }];
  const prompt = createSystemPrompt(async () => [{ name: 'base', text: 'as it would be now' }], stored);
  expect(prompt.parts()).toBe(stored);
  expect(await prompt.ready()).toBe(stored);
});
