import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHardenedGitEnv } from '../../../src/git/run-git.ts';
import { runs } from '../../support/runs.ts';
import { decideBash, makeFixture } from '../fixture.ts';

/** A repository with two commits; `kept` is what it keeps besides what may be read, and every file has changed since. */
function makeRepository(kept: readonly string[]) {
  const fixture = makeFixture();
  const { ws, home } = fixture;
  const env = { PATH: '/usr/bin:/bin', HOME: home, ...createHardenedGitEnv() };
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: ws, env, encoding: 'utf8' });
  rmSync(join(ws, '.git'), { recursive: true });
  git('init', '-q');
  for (const round of ['one', 'two', 'three']) {
    for (const name of ['README.md', 'src/a.ts', ...kept]) {
      mkdirSync(dirname(join(ws, name)), { recursive: true });
      writeFileSync(join(ws, name), `${kept.includes(name) ? `HELD ${name}` : 'free'} ${round}\n`);
    }
    if (round === 'three') continue;
    git('add', '-f', 'README.md', 'src/a.ts', ...kept);
    git('commit', '-qm', round);
  }
  return { fixture, env };
}

const HOLDING = makeRepository(['.env', 'secrets/key', 'src/secrets/deep.txt']);
const PLAIN = makeRepository([]);
const DENY = ['Read(.env)', 'Read(**/secrets/**)'];

const SHOWING = [
  ...[
    'diff',
    'diff HEAD',
    'diff HEAD~1',
    'diff --cached HEAD~1',
    'diff HEAD~1 HEAD',
    'diff HEAD~1..',
    'show',
    'show HEAD',
  ],
  ...[
    'log -p',
    'log -u -1',
    'log --patch',
    'log -p --stat',
    'log -U1',
    'log --word-diff',
    'log -c -p',
    'show HEAD HEAD~1',
  ],
  ...[
    'stash show -p',
    'reflog -p',
    'show --stat -p',
    'diff --stat -p',
    'grep HELD',
    'grep HELD HEAD',
    'grep --cached HELD',
  ],
  ...[
    'show HEAD:.env',
    'show :.env',
    'cat-file -p HEAD:.env',
    'blame .env',
    'log -L1,1:.env',
    'diff -- .',
    'log -p -- src',
  ],
];
const splitLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim());

const SPARING = [
  'diff --stat',
  'log --stat -2',
  'show --name-only',
  'log --oneline',
  'status',
  'diff -- README.md',
  'show HEAD:README.md',
  'log -p -- src/a.ts',
];

test('git shows no stored content of denied files: commands that run unasked are run', () => {
  const anyLine = fc
    .record({
      git: fc.constantFrom('git', 'git --no-pager', 'git -C src', 'git -C .'),
      command: fc.constantFrom(...SHOWING, ...SPARING),
      more: fc.constantFrom('', '--color', '--no-renames', '-w', '| cat', '--abbrev=4'),
    })
    .map(({ git, command, more }) => `${git} ${command} ${more}`.trim());
  fc.assert(
    fc.property(anyLine, (line) => {
      const { fixture, env } = HOLDING;
      if (decideBash(fixture, line, { deny: DENY }).verdict !== 'allow') return;
      const { stdout } = spawnSync('/bin/bash', ['--norc', '-c', line], { cwd: fixture.ws, env, encoding: 'utf8' });
      expect([line, stdout.includes('HELD')]).toEqual([line, false]);
    }),
    runs(400),
  );
  const open = SHOWING.filter((line) => decideBash(HOLDING.fixture, `git ${line}`, { deny: DENY }).verdict === 'allow');
  expect(open).toEqual([]);
});

test('also when Bash is allowed as a whole, and for ask rules', () => {
  for (const setup of [
    { allow: ['Bash'], deny: DENY },
    { ask: DENY },
    { deny: DENY, mode: 'bypassPermissions' as const },
  ]) {
    const lines = [
      ...SHOWING,
      'format-patch -1 --stdout',
      'archive HEAD',
      'fast-export HEAD',
      'diff-tree -p HEAD',
      'stash list -p',
    ];
    expect(lines.filter((line) => decideBash(HOLDING.fixture, `git ${line}`, setup).verdict === 'allow')).toEqual([]);
  }
});

test('commands that show no contents, name what they show, or cannot contain them are not asked about', () => {
  const { fixture } = HOLDING;
  expect(SPARING.filter((line) => decideBash(fixture, `git ${line}`, { deny: DENY }).verdict !== 'allow')).toEqual([]);
  expect(
    ['diff', 'diff -- .', 'diff src'].map((line) => decideBash(PLAIN.fixture, `git ${line}`, { deny: DENY }).verdict),
  ).toEqual(['allow', 'ask', 'ask']);
  expect(
    ['diff', 'show', 'log -p'].map(
      (line) => decideBash(PLAIN.fixture, `git ${line}`, { deny: ['Read(~/.ssh/**)'] }).verdict,
    ),
  ).toEqual(['allow', 'allow', 'allow']);
});

/** Lines that print a tracked `.env`, most of them without naming it. */
const LEAKING = [
  ...SHOWING.filter((line) => line !== 'log -p -- src'),
  ...splitLines(`
    show :/one
    status -v
    status --verbose --short
    diff --check HEAD~1
    stash show --patch
    log -p --all
    log --cc
    log -p -S HELD
    log -p -- .
    diff .
    diff -- src .env
    diff -- '*.env'
    grep -n HELD
    grep -e HELD
    grep -h HELD -- .
    grep -c HELD
    grep HELD HEAD~1
    show HEAD^
    show @ -- .
    show :0:.env
    show HEAD:./.env
    show stash@{0}:.env
    blame HEAD -- .env
    annotate .env
    cat-file blob HEAD:.env
    archive HEAD
    format-patch --stdout HEAD~1
    diff ':!README.md'
    diff -- ':!src/.env'
    diff -- ':!.env.x'
    diff -- ':^src' .
  `),
];

/** Lines that print no tracked secret. */
const HARMLESS = [
  ...SPARING,
  ...splitLines(`
    log -p -- src
    log -p -3 -- README.md
    diff src
    grep HELD -- src
    diff ':!.env'
    diff -- ':^.env'
    log -p -- ':(exclude).env'
    grep HELD -- ':!*.env'
    log --format=%s
    stash list
    diff --name-only HEAD~1
  `),
];

test('git prints no tracked secret unasked, in whatever form', () => {
  const { fixture } = HOLDING;
  const decideAll = (lines: readonly string[], setup = {}) =>
    lines.filter((line) => decideBash(fixture, `git ${line}`, setup).verdict === 'allow');
  expect(decideAll(LEAKING)).toEqual([]);
  expect(decideAll(LEAKING, { readOnlySandbox: 'missing' })).toEqual([]);
  // The question is about a secret, so its answer is not stored.
  expect(decideBash(fixture, 'git log -p').secrets).toEqual([join(fixture.ws, '.env')]);
  expect(decideAll(HARMLESS)).toEqual(HARMLESS);
  expect(decideAll(['diff', 'log -p'], { allow: ['Read(.env)'] })).toEqual(['diff', 'log -p']);
  expect(decideAll(['diff', 'log -p'], { allow: ['Bash(git log:*)'] })).toEqual(['log -p']);
});

test('what git runs unasked beside a tracked secret does not print it', () => {
  const { fixture, env } = HOLDING;
  const leaks = [...LEAKING, ...HARMLESS].filter((line) => {
    if (decideBash(fixture, `git ${line}`).verdict !== 'allow') return false;
    const { stdout } = spawnSync('/bin/bash', ['--norc', '-c', `git ${line}`], {
      ...{ cwd: fixture.ws, env, encoding: 'utf8' },
    });
    return stdout.includes('HELD .env');
  });
  expect(leaks).toEqual([]);
});

test('without a tracked secret git shows what it stores unasked, also beside an untracked one and a plain .npmrc', () => {
  const everyday = [
    'diff',
    'log -p -3',
    'show',
    'show HEAD~1',
    'grep free',
    'grep -n free HEAD',
    'diff HEAD~1',
    'stash list',
  ];
  const plain = makeRepository(['.npmrc', '.env.example']);
  writeFileSync(join(plain.fixture.ws, '.npmrc'), 'save-exact=true\n');
  for (const { fixture } of [PLAIN, plain])
    expect(everyday.filter((line) => decideBash(fixture, `git ${line}`).verdict !== 'allow')).toEqual([]);
});

test('a .gitmodules that only exists in the repository makes git ask', () => {
  const { fixture } = makeRepository(['.gitmodules']);
  writeFileSync(join(fixture.ws, '.gitmodules'), '[submodule "x"]\n\tpath = x\n');
  expect(decideBash(fixture, 'git status').verdict).toBe('allow');
  rmSync(join(fixture.ws, '.gitmodules'));
  expect(decideBash(fixture, 'git status').verdict).toBe('ask');
});
