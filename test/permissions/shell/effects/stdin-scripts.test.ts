import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = { allow: ['Bash'], deny: ['Bash(curl:*)'] };
const open = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line, SETUP).verdict === 'allow');

const TAKING = [
  'sh',
  '(sh)',
  '{ sh; }',
  'if true; then sh; fi',
  'while true; do sh; break; done',
  'time sh',
  'setpriv sh',
  'script -q /dev/null',
  'unshare',
  'newgrp',
  'sudo -s',
  'su',
  'split --filter=sh',
  "git -c core.editor='sh -s' commit --amend",
  'python3',
  '(perl)',
];

test('unknown text is piped to no shell, in any grouping', () => {
  const lines = TAKING.flatMap((taking) => [`rev <<< lruc | ${taking}`, `(printf cu; printf rl) | ${taking}`]);
  const groups = [
    '{ sh; } < list',
    '(bash) < list',
    "{ sh; } <<< 'c$(x)rl'",
    'git -c "alias.x=!$(rev <<< lruc)" x',
    'tar --to-command "$(cat x)" -xf a',
  ];
  expect(open([...lines, ...groups])).toEqual([]);
});

test('literal output, and programs that take data, are not asked about', () => {
  const lines = [
    "echo 'ls -l' | sh",
    '(echo a; echo b) | sort > /dev/null',
    'cat a | (cd src && nobody-knows)',
    'npm test 2>&1 | tail -5',
    'git commit -m "$(cat msg)"',
  ];
  expect(lines.filter((line) => !open([line]).includes(line))).toEqual([]);
});
