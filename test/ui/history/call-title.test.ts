import { expect, test } from 'vitest';
import { toolTitle } from '../../../src/ui/history/call-title.ts';
import { lineText, terminalLine } from '../../../src/ui/text/line.ts';

const called = (tool: string, title: string, input = {}, by: 'model' | 'person' = 'model') =>
  lineText(terminalLine(...toolTitle({ callId: 'c', tool, title, input, by }, '/home/me/proj')));

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

test('what a server is given is cut to a line', () => {
  expect(called('mcp__a__b', 'a: b', { text: 'long '.repeat(50) }).length).toBeLessThan(80);
});

test('a line of the person is known by its sign', () => {
  expect(called('Bash', 'ls', { command: 'ls' }, 'person')).toBe('! ls');
});
