import { expect, test } from 'vitest';
import { parsePatch } from '../../src/tools/apply-patch.ts';

const patch = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

test('a patch adds, deletes, changes and moves files', () => {
  const text = patch(
    '*** Add File: new.txt',
    '+one',
    '+',
    '*** Delete File: old.txt',
    '*** Update File: a.py',
    '*** Move to: lib/a.py',
    '@@ def f():',
    ' x = 1',
    '-y = 2',
    '+y = 3',
    '',
    '@@',
    '-last',
    '*** End of File',
    '*** Update File: b.py',
    '@@ def g():',
    '+    pass',
  );
  expect(parsePatch(text)).toEqual({
    ok: true,
    files: [
      { kind: 'add', path: 'new.txt', content: 'one\n\n' },
      { kind: 'delete', path: 'old.txt' },
      {
        kind: 'update',
        path: 'a.py',
        movedTo: 'lib/a.py',
        hunks: [
          { oldText: 'x = 1\ny = 2\n', newText: 'x = 1\ny = 3\n' },
          { oldText: 'last', newText: '' },
        ],
      },
      {
        kind: 'update',
        path: 'b.py',
        movedTo: undefined,
        hunks: [{ oldText: 'def g():', newText: 'def g():\n    pass' }],
      },
    ],
  });
});

test.each([
  ['no file', patch('@@', '-a'), 'no "*** Update File: path" line'],
  ['no envelope', '--- a\n+++ b\n', 'no "*** Update File: path" line'],
  ['no changed lines', patch('*** Update File: a', ' same'), 'has no lines with "-" or "+"'],
  ['an unmarked line', patch('*** Update File: a', 'x', '-y'), 'begins with none of'],
  ['an unmarked line of a new file', patch('*** Add File: a', 'x'), 'must begin with "+"'],
])('a patch with %s is refused with the reason', (_what, text, problem) => {
  expect(parsePatch(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});
