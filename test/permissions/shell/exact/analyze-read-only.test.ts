import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHardenedGitEnv } from '../../../../src/git/run-git.ts';
import { runs } from '../../../support/runs.ts';
import { decideBash, makeFixture } from '../../fixture.ts';

const fixture = makeFixture();
const { ws, home } = fixture;
mkdirSync(join(ws, 'two'));
for (const name of ['a.txt', 'b.txt', 'keep']) writeFileSync(join(ws, 'two', name), `${name}\n`);
mkdirSync(join(ws, 'dashes'));
for (const name of ['-R', 'plain.txt']) writeFileSync(join(ws, 'dashes', name), 'P\n');
symlinkSync('../../outside', join(ws, 'dashes/out'));
mkdirSync(join(ws, 'linked'));
for (const name of ['out', 'e']) symlinkSync('../../outside/data', join(ws, 'linked', name));

const verdictOf = (command: string, cwd = ws) => decideBash(fixture, command, { cwd }).verdict;

test('an option that may not take the next word hides no option after it', () => {
  const anyHidden = fc.record({
    command: fc.constantFrom('git log', 'git show', 'git diff', 'sort', 'cut', 'grep', 'rg', 'nl', 'ls', 'du'),
    option: fc.constantFrom(
      ...[
        '--format',
        '--date',
        '-S',
        '-G',
        '--grep',
        '--author',
        '-n',
        '--pretty',
        '-k',
        '-t',
        '--key',
        '-d',
        '-f',
        '-e',
      ],
      ...['--regexp', '--include', '--field-separator', '-b', '--block-size', '--exclude', '-L', '--glob'],
    ),
    hidden: fc.constantFrom('--output=keep', '-okeep', '--pre=./x', '--no-index', '--ext-diff'),
  });
  fc.assert(
    fc.property(anyHidden, ({ command, option, hidden }) => {
      expect(verdictOf(`${command} ${option} ${hidden} a.txt`)).toBe('ask');
    }),
    runs(800),
  );
});

test('an expanded pattern never makes a command write: allowed commands are run, and the folder is unchanged', () => {
  const folder = join(ws, 'two');
  const state = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
  const before = state();
  const anyLine = fc.record({
    command: fc.constantFrom(
      'uniq',
      'uniq -c',
      'xxd',
      'sort',
      'cat',
      'wc -l',
      'head -n 1',
      'cut -b 1',
      'comm',
      'git diff',
    ),
    words: fc.array(
      fc.constantFrom('./[ab].txt', './?.txt', './*', 'a.txt', './a*', './[[:alpha:]].txt', '*', '--', './{a,b}.txt'),
      { minLength: 1, maxLength: 3 },
    ),
  });
  fc.assert(
    fc.property(anyLine, ({ command, words }) => {
      const line = [command, ...words].join(' ');
      if (verdictOf(line, folder) !== 'allow') return;
      const env = { PATH: '/usr/bin:/bin', HOME: home, ...createHardenedGitEnv() };
      spawnSync('/bin/bash', ['--norc', '-c', line], { cwd: folder, env });
      expect([line, state()]).toEqual([line, before]);
    }),
    runs(300),
  );
  expect(verdictOf('uniq ./[ab].txt', folder)).toBe('ask');
  expect(verdictOf('uniq a.txt', folder)).toBe('allow');
  expect(verdictOf('uniq -c -- a.txt', folder)).toBe('allow');
  for (const tail of ['--', '-r', '-c', '-i'])
    for (const program of ['xxd', 'uniq']) expect(verdictOf(`${program} a.txt ${tail}`, folder)).toBe('ask');
});

test.each(['grep P *', 'grep -n P *', 'cat *', 'wc *', 'ls *', 'head *', 'egrep P ?R *'])(
  '%s asks where a file name looks like an option',
  (command) => {
    expect(verdictOf(command, join(ws, 'dashes'))).toBe('ask');
    expect(verdictOf(command, join(ws, 'src'))).toBe('allow');
  },
);

test.each(['[[:alpha:]]*', '[]o]ut', '[[=e=]]', '[[.o.]]ut', '[!]x]*', '[z-ao]ut', '[a-z]ut'])(
  'bracket patterns open no symlink out of the workspace: cat %s',
  (pattern) => {
    expect(verdictOf(`cat ./${pattern}`, join(ws, 'linked'))).toBe('ask');
  },
);

test.each(['cat .[[:alpha:]]nv', 'cat ./.[]e]nv', 'cat .[[=e=]]nv', 'head ./.[d-f]nv', 'cat [[:lower:]]ecrets/key'])(
  'bracket patterns open no secret or denied file: %s',
  (command) => {
    expect(decideBash(fixture, command, { deny: ['Read(secrets/**)'] }).verdict).not.toBe('allow');
  },
);
