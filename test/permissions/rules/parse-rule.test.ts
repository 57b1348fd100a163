import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findSandboxExceptionProblem,
  formatRule,
  formatSandboxException,
  parseRule,
  parseSandboxException,
  type SandboxException,
} from '../../../src/permissions/rules/parse-rule.ts';

import { runs } from '../../support/runs.ts';

test.each<[string | undefined, SandboxException]>([
  [undefined, { grants: { kind: 'all' } }],
  ['npm ci', { commands: 'npm ci', grants: { kind: 'all' } }],
  ['npm:*', { commands: 'npm:*', grants: { kind: 'all' } }],
  ['write:~/.npm', { grants: { kind: 'write', what: '~/.npm' } }],
  ['npm:* write:~/.npm', { commands: 'npm:*', grants: { kind: 'write', what: '~/.npm' } }],
  ['npm ci host:*.npmjs.org:443', { commands: 'npm ci', grants: { kind: 'host', what: '*.npmjs.org:443' } }],
  ['write:~/a host:b', { grants: { kind: 'write', what: '~/a host:b' } }],
  ['x write:~/a write:/b', { commands: 'x', grants: { kind: 'write', what: '~/a write:/b' } }],
  ['write:', { commands: 'write:', grants: { kind: 'all' } }],
])('exceptions are parsed from a rule: %s', (specifier, expected) => {
  expect(parseSandboxException(specifier)).toEqual(expected);
});

test('whatever a location is called, its rule is parsed as that location only', () => {
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
        const opening: SandboxException = {
          ...(commands === undefined ? {} : { commands }),
          grants: { kind: 'write', what },
        };
        const words = formatSandboxException(opening);
        expect(findSandboxExceptionProblem(words)).toBeUndefined();
        const rule = parseRule(formatRule('Outside', words), 'allow', { source: 'session' });
        expect(rule.problem).toBeUndefined();
        expect(parseSandboxException(rule.specifier)).toEqual(opening);
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
])('%s is no valid exception', (specifier) => {
  expect(findSandboxExceptionProblem(specifier)).toBeDefined();
});
