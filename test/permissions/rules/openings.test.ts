import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openingProblem, openingWords, readOpening } from '../../../src/permissions/rules/openings.ts';
import { formatRule, parseRule } from '../../../src/permissions/rules/rules.ts';
import { runs } from '../../support/runs.ts';

test.each([
  [undefined, { opens: { kind: 'all' } }],
  ['npm ci', { commands: 'npm ci', opens: { kind: 'all' } }],
  ['npm:*', { commands: 'npm:*', opens: { kind: 'all' } }],
  ['write:~/.npm', { opens: { kind: 'write', what: '~/.npm' } }],
  ['npm:* write:~/.npm', { commands: 'npm:*', opens: { kind: 'write', what: '~/.npm' } }],
  ['npm ci host:*.npmjs.org:443', { commands: 'npm ci', opens: { kind: 'host', what: '*.npmjs.org:443' } }],
  ['write:~/a host:b', { opens: { kind: 'write', what: '~/a host:b' } }],
  ['x write:~/a write:/b', { commands: 'x', opens: { kind: 'write', what: '~/a write:/b' } }],
  ['write:', { commands: 'write:', opens: { kind: 'all' } }],
])('what is opened is read from the words of a rule: %s', (specifier, expected) => {
  expect(readOpening(specifier)).toEqual(expected);
});

test('whatever a place is called, its rule is read back as that place alone', () => {
  const piece = fc.constantFrom(
    'a',
    '/',
    ' ',
    '(',
    ')',
    ':',
    ',',
    '"',
    "'",
    'write:',
    ' host:',
    ' write:/etc',
    '..',
    '~',
    ';',
    'é',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(undefined, 'npm:*'),
      (pieces, commands) => {
        const what = `/p${pieces.join('').trimEnd()}`;
        const opening = { ...(commands === undefined ? {} : { commands }), opens: { kind: 'write', what } } as const;
        const words = openingWords(opening);
        expect(openingProblem(words)).toBeUndefined();
        const rule = parseRule(formatRule('Outside', words), 'allow', { source: 'session' });
        expect(rule.problem).toBeUndefined();
        expect(readOpening(rule.specifier)).toEqual(opening);
      },
    ),
    runs(2_000),
  );
});

test.each([
  'write:x',
  'write:./x',
  'write:~user/x',
  'write:/a/*/b',
  'write:~/**/x',
  'host:a/b',
  'host:https://a.test',
  '* write:/x',
])('%s says nothing that can be held to', (specifier) => {
  expect(openingProblem(specifier)).toBeDefined();
});
