import { expect, test } from 'vitest';
import { canJudgeDecideCall } from '../../src/permissions/auto-mode.ts';
import { hasHiddenCharacters } from '../../src/permissions/call-risks.ts';

const HIDDEN = 'a\u202eb';

test.each([
  ['a text', { command: HIDDEN }],
  ['one of several', { sandbox_write: ['~/.cache', HIDDEN] }],
  ['a part of a change', { file_path: 'a', edits: [{ old_string: 'a', new_string: HIDDEN }] }],
  ['a key', { [HIDDEN]: 'x' }],
  ['something deep', { a: [{ b: { c: [null, 1, true, { d: HIDDEN }] } }] }],
])('hidden characters are found anywhere in the input: %s', (_, input) => {
  expect(hasHiddenCharacters(input)).toBe(true);
  const open = [{ kind: 'command', subject: 'x', text: 'x' }] as const;
  expect(canJudgeDecideCall({ tool: 'Bash', kind: 'shell', command: 'npm test', input }, open)).toBe(false);
});

test('visible text hides nothing', () => {
  expect(hasHiddenCharacters({ a: 'text\n\twith lines', b: [1, null, 'ünï 中文 🙂'], c: { d: false } })).toBe(false);
});
