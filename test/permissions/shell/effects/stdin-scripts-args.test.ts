import { expect, test } from 'vitest';
import { someOf } from '../../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = { allow: ['Bash'], deny: ['Bash(curl:*)'] };

const NAMES = [
  '/dev/stdin',
  '/dev/fd/0',
  '/proc/self/fd/0',
  '/dev/../dev/stdin',
  '/dev//stdin',
  '../../../../../dev/stdin',
  '/proc/thread-self/fd/0',
];
const TAKING = [
  'bash',
  'env bash',
  'setpriv bash',
  '.',
  'source',
  'perl',
  'python3',
  'node',
  'make -f',
  'gdb -batch -x',
  'nobody-knows',
  'ssh x -F',
];

test('code from stdin under any file name is unknown', () => {
  const lines = NAMES.flatMap((name) =>
    someOf(TAKING, 2).flatMap((taking) => [`rev <<< lruc | ${taking} ${name}`, `${taking} ${name} <<< 'x$(y)'`]),
  );
  const open = [
    ...lines,
    'cd /proc/self/fd; rev <<< lruc | bash 0',
    'make -f/dev/stdin <<< x',
    'make --file=/dev/fd/0 <<< x',
  ].filter((line) => decideBash(fixture, line, SETUP).verdict === 'allow');
  expect(open).toEqual([]);
});
