import { expect, test } from 'vitest';
import { holdsHidden } from '../../src/permissions/concealed.ts';
import { mayJudge } from '../../src/permissions/judge/may-judge.ts';

const HIDDEN = 'a\u202eb';

test.each([
  ['a text', { command: HIDDEN }],
  ['one of several', { sandbox_write: ['~/.cache', HIDDEN] }],
  ['a part of a change', { file_path: 'a', edits: [{ old_string: 'a', new_string: HIDDEN }] }],
  ['a key', { [HIDDEN]: 'x' }],
  ['something deep', { a: [{ b: { c: [null, 1, true, { d: HIDDEN }] } }] }],
])('what hides is found in the input wherever it stands: %s', (_, input) => {
  expect(holdsHidden(input)).toBe(true);
  const open = [{ kind: 'command', subject: 'x', text: 'x' }] as const;
  expect(mayJudge({ tool: 'Bash', kind: 'shell', command: 'npm test', input }, open)).toBe(false);
});

test('what shows as it is hides nothing', () => {
  expect(holdsHidden({ a: 'text\n\twith lines', b: [1, null, 'ünï 中文 🙂'], c: { d: false } })).toBe(false);
});
