import { expect, test } from 'vitest';
import { createStyledLine, getLineText } from '../../../../src/ui/text/line.ts';
import { createToolTitle } from '../../../../src/ui/widgets/tool-calls/tool-entry.ts';

const called = (tool: string, title: string, input = {}, caller: 'model' | 'user' = 'model') =>
  getLineText(createStyledLine(...createToolTitle({ callId: 'c', tool, title, input, caller }, '/home/me/proj')));

test.each([
  ['Read', 'Read /home/me/proj/src/a.ts', {}, 'Read src/a.ts'],
  ['MultiEdit', 'Edit src/a.ts', {}, 'Edit src/a.ts'],
  ['ExitPlanMode', 'Plan', {}, 'Plan'],
  ['WebFetch', 'Fetch https://a.example/', {}, 'Fetch https://a.example/'],
  ['Bash', 'echo a', { command: 'echo a\necho b' }, '$ echo a'],
  [
    'mcp__git_hub__create_issue',
    'git_hub: Create',
    { title: 'x', body: 'two\nlines' },
    'git_hub: create_issue(title: x, body: two⏎lines)',
  ],
  ['mcp__git__push', 'git: push', {}, 'git: push'],
  ['mcp__git__push', 'git: push', { refs: ['a', 'b'], all: true }, 'git: push(refs: ["a","b"], all: true)'],
  ['Unheard', '', {}, 'Unheard'],
])('%s is called %s in plain words', (tool, title, input, words) => {
  expect(called(tool, title, input)).toBe(words);
});

test('the input of a server tool is cut to a line', () => {
  expect(called('mcp__a__b', 'a: b', { text: 'long '.repeat(50) }).length).toBeLessThan(80);
});

test('a command of the user has its own sign', () => {
  expect(called('Bash', 'ls', { command: 'ls' }, 'user')).toBe('! ls');
});
