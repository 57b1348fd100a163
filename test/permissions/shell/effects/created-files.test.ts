import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = { mode: 'bypassPermissions', deny: ['Bash(curl:*)', 'Read(secrets/**)'] };
const verdicts = (lines: readonly string[]) =>
  lines.filter((line) => decideBash(fixture, line, SETUP).verdict === 'allow');

const FILLING = [
  '> zz',
  '| tee zz',
  '| dd of=zz',
  '| sort -o zz',
  '| uniq - zz',
  '| xxd -r - zz',
  '| gzip > zz.gz; gunzip zz.gz',
];
const RUNNING = ['bash zz', './zz', 'prlimit bash zz', 'setpriv ./zz', 'env sh zz', '. ./zz', 'python3 zz'];

test('a file that the command writes is not run by it', () => {
  const lines = FILLING.flatMap((filling) => RUNNING.map((running) => `rev <<< lruc ${filling}; ${running}`));
  expect(verdicts([...lines, 'rev <<< lruc | split - zz; bash zzaa', "printf 'x:' > Makefile; make"])).toEqual([]);
});

test('a path through a symlink that the command creates is unknown', () => {
  const lines = [
    'ln -s . q; cat q/secrets/key',
    'ln -s $PWD q; cat ./q/x',
    'ln -s /usr/bin q; setpriv q/c?rl',
    'ln -s ../ws; cat ws/a',
  ];
  expect(verdicts(lines)).toEqual([]);
});

test('files that a command creates and programs that it runs are fine if they are different', () => {
  const lines = [
    'gcc x.c -o x && ./x',
    'echo 1 > out.txt; npm test',
    'ln -s a b; cat README.md',
    'mkdir -p d && cp README.md d/ && make',
  ];
  expect(verdicts(lines)).toEqual(lines);
});
