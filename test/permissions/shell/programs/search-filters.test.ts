import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findBundledRipgrep } from '../../../../src/lib/processes/installed-files.ts';
import {
  createSearchShellFunctions,
  SECRETS_EXCLUDED_LINE,
} from '../../../../src/permissions/shell/search-requirements.ts';
import { runs } from '../../../support/runs.ts';
import { NO_SANDBOX } from '../../../support/sandbox.ts';
import { createDecidedRuns } from '../../decided-run.ts';
import { decideBash, makeFixture, policyFor, type Setup } from '../../fixture.ts';

const PATH = `${dirname(findBundledRipgrep())}:/usr/bin:/bin`;

/** A folder of its own for each file of ignored names; every file says TOKEN, and of what kind it is. */
function makeFolder(ignores: Readonly<Record<string, string>>) {
  const fixture = makeFixture();
  const folder = join(fixture.ws, 'searched');
  const files = [
    '.env',
    'secrets/key',
    'docs/secrets/key',
    'server.pem',
    '.hid/.env',
    'a.ts',
    'docs/b.md',
    '.hid/c.ts',
  ];
  for (const name of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const kind = /secrets/.test(name) ? 'RULED' : /\.env|\.pem/.test(name) ? 'SECRET' : 'free';
    writeFileSync(join(folder, name), `TOKEN ${kind}\n`);
  }
  for (const [name, text] of Object.entries(ignores)) writeFileSync(join(folder, name), text);
  return { fixture, folder, run: createDecidedRuns(fixture) };
}

const FOLDERS = [
  makeFolder({}),
  makeFolder({ '.ignore': '!.env\n' }),
  makeFolder({ '.rgignore': '!.hid\n', '.gitignore': 'secrets\n*.pem\n' }),
  makeFolder({ '.gitignore': '*\n!*/\n!*.md\n!.e*\n' }),
  makeFolder({ '.ignore': '.env\nsecrets\n*.pem\n', '.gitignore': '**/secrets/**\n' }),
];
const SETUPS: readonly Setup[] = [{ deny: ['Read(secrets/**)', 'Read(**/secrets/**)'] }, { deny: ['Read(*.pem)'] }, {}];

const BOX: Setup = NO_SANDBOX === undefined ? {} : { readOnlySandbox: 'none' };

const anyWord = fc.constantFrom(
  ...[
    '--include=*.ts',
    '--include=*',
    '--include=.e*',
    '--exclude=zzz',
    '--exclude=.env',
    '--exclude=*.pem',
    '--hidden',
  ],
  ...['--exclude-dir=secrets', '--exclude-dir=docs', '--exclude-dir=.hid', '--exclude=secrets', '--exclude=key', '-uu'],
  ...[
    "-g '!secrets'",
    "-g '!.env'",
    "-g '*'",
    "-g '*.ts'",
    "-g '!*.pem'",
    "-g '.e*'",
    "-g '!/secrets'",
    "-g 'secrets/**'",
  ],
  ...[
    '-e --exclude-dir=secrets',
    '-e TOKEN',
    '-- --exclude=.env',
    "--iglob '!KEY'",
    "-g '!docs/**'",
    '-g !.hid',
    '-t ts',
  ],
  ...[
    "--include='[.]env'",
    "--exclude='[.]env'",
    '--glob=!{a,.env}',
    '--no-ignore',
    '-h',
    "--exclude-dir='sec*'",
    '-i',
  ],
);
const anyLine = fc
  .record({
    program: fc.constantFrom('grep -r', 'grep -rh', 'egrep -rn', 'grep -R', 'rg', 'rg --hidden', 'rg -u', 'rg -l'),
    words: fc.array(anyWord, { maxLength: 4 }),
    place: fc.constantFrom('', '.', './', 'docs', 'secrets', 'a.ts docs', '.hid'),
  })
  .map(({ program, words, place }) => `${program} ${words.join(' ')} TOKEN ${place}`.trim());

test('exclusions of a search are effective: commands that run unasked are run, and show nothing hidden', () => {
  const anyCase = fc.tuple(anyLine, fc.nat({ max: FOLDERS.length - 1 }), fc.nat({ max: SETUPS.length - 1 }));
  fc.assert(
    fc.property(anyCase, ([line, folderAt, setupAt]) => {
      const { fixture, folder, run } = FOLDERS[folderAt] ?? makeFolder({});
      const setup = { ...SETUPS[setupAt], ...BOX, cwd: folder };
      const decision = decideBash(fixture, line, setup);
      if (decision.verdict !== 'allow') return;
      const functions = decision.hardens.includes('search') ? createSearchShellFunctions() : {};
      const denied = (setup.deny ?? []).join();
      const { stdout } = run(line, { decision, policy: policyFor(fixture, setup), path: PATH, functions });
      const shown = stdout.split('\n').filter((each) => /SECRET|\.env|\.pem/.test(each) && !/\.hid\/c/.test(each));
      // Without a rule the folder called secrets is one like any other.
      const ruled = denied.includes('secrets') ? stdout.split('\n').filter((each) => /RULED|secrets\//.test(each)) : [];
      expect([line, shown, ruled]).toEqual([line, [], []]);
    }),
    runs(700),
  );
});

test('known filters keep a search unasked', () => {
  const { fixture, folder } = makeFolder({});
  const free = [
    "grep -rn TOKEN . --include='*.ts'",
    "grep -rn TOKEN --include='*.md' --exclude-dir=secrets docs",
    "rg TOKEN -g '*.ts'",
    "rg TOKEN -g '!secrets' -g '!*.pem'",
    'rg TOKEN docs/b.md',
  ];
  const setup = { cwd: folder, deny: ['Read(**/secrets/**)'] };
  expect(free.filter((line) => decideBash(fixture, line, setup).verdict !== 'allow')).toEqual([]);
});

test('a find with several names, or without one, may open anything', () => {
  const fixture = makeFixture();
  const setup: Setup = { allow: ['Bash'], deny: ['Read(secrets/**)'], mode: 'bypassPermissions' };
  const lines = [
    "find . -name '*.md' -o -type f -exec cat {} +",
    "find . ! -name '*.md' -exec cat {} +",
    "find . -not -name '*.md' -exec cat {} +",
    "find . \\( -name '*.md' -o -name key \\) -exec cat {} +",
    "find . -type f -name 'k*' | xargs cat",
  ];
  expect(lines.filter((line) => decideBash(fixture, line, setup).verdict !== 'deny')).toEqual([]);
  expect(decideBash(fixture, "find . -name '*.md' -exec wc -l {} +", setup).verdict).toBe('allow');
});

test('comparing two folders reads them, with their links', () => {
  const { fixture, folder } = makeFolder({});
  const verdictOf = (line: string) => decideBash(fixture, line, { cwd: folder }).verdict;
  // Only the sandbox keeps the file of secrets from it.
  for (const line of ['diff . docs', 'diff -q docs .', 'diff -ur . docs', 'diff docs ./.']) {
    expect([line, decideBash(fixture, line, { cwd: folder }).enforce?.kind]).toEqual([line, 'read-only']);
    expect([line, verdictOf(`${line}; git status`)]).toEqual([`${line}`, 'ask']);
  }
  expect(verdictOf('diff a.ts docs/b.md')).toBe('allow');
  expect(decideBash(fixture, 'diff src docs').verdict).toBe('allow');
});

test('a search beside a secret file runs unasked, omits it and says so', () => {
  const { fixture, folder } = makeFolder({});
  for (const line of [
    'grep -rn TOKEN .',
    'grep -rn TOKEN',
    'egrep -rh TOKEN . | cat',
    'rg TOKEN',
    'rg -uu TOKEN | cat',
    'rg --hidden TOKEN .',
  ]) {
    const { verdict, hardens } = decideBash(fixture, line, { cwd: folder });
    expect([line, verdict, hardens.includes('search')]).toEqual([line, 'allow', true]);
    const env = { PATH, ...createSearchShellFunctions() };
    const report = join(folder, 'report');
    const script = `exec 3> report; ${line}`;
    const { stdout } = spawnSync('/bin/bash', ['--norc', '-c', script], { cwd: folder, env, encoding: 'utf8' });
    expect([line, stdout.includes('TOKEN free'), stdout.includes('SECRET')]).toEqual([line, true, false]);
    expect(readFileSync(report, 'utf8')).toContain(SECRETS_EXCLUDED_LINE);
    rmSync(report);
  }
  for (const line of ['grep TOKEN .env', 'xargs grep -r TOKEN', 'grep -R TOKEN ../.env'])
    expect([line, decideBash(fixture, line, { cwd: folder }).verdict]).toEqual([line, 'ask']);
  // These get no options that leave it out, so only the sandbox keeps it from them.
  for (const line of ['timeout 5 grep -rn TOKEN .', '/bin/grep -rn TOKEN .', 'grep -rn -- TOKEN .']) {
    expect([line, decideBash(fixture, line, { cwd: folder }).enforce?.kind]).toEqual([line, 'read-only']);
    const { verdict } = decideBash(fixture, line, { cwd: folder, readOnlySandbox: 'none' });
    expect([line, verdict]).toEqual([line, 'ask']);
  }
});
