import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longTest } from '../../../support/long-test.ts';
import { runs, WAIT_MS } from '../../../support/runs.ts';
import { decideBash, makeFixture } from '../../fixture.ts';

const fixture = makeFixture();
const cwd = join(fixture.ws, 'texts');
mkdirSync(join(cwd, 'deep'), { recursive: true });
for (const name of ['a.txt', 'b.txt', 'deep/c.txt']) writeFileSync(join(cwd, name), 'alpha x\nbeta e\ntouch pwned\n');
const state = () =>
  readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'utf8')]);
const before = state();

/** Allowed lines are run: nothing may be there afterwards that was not before. */
function staysAsItIs(line: string): void {
  if (decideBash(fixture, line, { cwd }).verdict !== 'allow') return;
  spawnSync('/bin/bash', ['--norc', '-c', line], { cwd, env: { PATH: '/usr/bin:/bin' }, timeout: WAIT_MS, input: '' });
  expect([line, state()]).toEqual([line, before]);
}

test('sed scripts that run unasked start and write nothing: generated scripts are run', () => {
  const piece = fc.constantFrom(
    ...[
      's/a/b/',
      's/a/touch pwned/e',
      's,x,y,w out',
      's/a/b/gp',
      '1e touch pwned',
      'e',
      'w out',
      'r b.txt',
      '1!d',
      '$p',
    ],
    ...[
      '/alpha/',
      '/x/,/e/',
      '2~1',
      '\\,x,',
      '1,+1',
      'y/ab/cd/',
      'p',
      'd',
      'n',
      'N',
      '=',
      'q',
      'x',
      'G',
      '}',
      '{',
      ';',
      '\n',
    ],
    ...[
      'a text',
      'i\\',
      'c w out',
      ':a',
      'ba',
      't',
      '#e',
      '# w out',
      ' ',
      '!',
      's/[/]/e',
      's/[w]/x/',
      's/\\//e/',
      's;a;e;w out',
      'W out',
    ],
    ...[
      's/touch/&/e',
      's/x/touch pwned/;e',
      's/a/b/ e',
      's/a/b/\nw out',
      'l',
      'F',
      'z',
      'M',
      'm',
      '\\n',
      's/a/\\\n/',
      's|a|b|e',
    ],
  );
  const anyLine = fc
    .record({
      options: fc.constantFrom(
        '',
        '-n',
        '-E',
        '-ne',
        '-s -n',
        '-i',
        '-i.bak',
        '--in-place',
        '-f a.txt',
        '--posix',
        '-nE',
      ),
      pieces: fc.array(piece, { minLength: 1, maxLength: 4 }),
      second: fc.constantFrom('', "-e 'w out'", "-e 's/a/b/e'", '-e p', '-i', "--expression='1e touch pwned'"),
      files: fc.constantFrom('a.txt', '*.txt', 'a.txt b.txt', 'a.txt -i', '-- a.txt', './*'),
    })
    .map(({ options, pieces, second, files }) => `sed ${options} '${pieces.join('')}' ${files} ${second}`);
  fc.assert(fc.property(anyLine, staysAsItIs), runs(4_000));
});

longTest('the same for awk, find, archives and other programs that run unasked', () => {
  const word = fc.constantFrom(
    ...[
      '{print $1}',
      'NR>=2',
      'NR>1 && NR<3',
      '{s+=$1} END {print s}',
      'length > 3',
      '{print > "out"}',
      '{print $1 > "out"}',
    ],
    ...[
      'BEGIN{system("touch pwned")}',
      '{print | "sh"}',
      '{"touch pwned"|getline}',
      '/"/ {system("touch pwned")} /"/',
      '$0 ~ /a|b/',
    ],
    ...[
      '{printf "%s\\n", $1 >> "out"}',
      'BEGIN{print "x",\n"y" > "out"}',
      'BEGIN{print "x" \\\n> "out"}',
      '{close("x")}',
      '@load "x"',
    ],
  );
  const tail = fc.constantFrom(
    ...[
      '-exec wc -l {} +',
      "-exec sed 'w out' {} ';'",
      "-exec sed -n 1p {} ';'",
      "-exec touch {}x ';'",
      '-exec grep -l x {} +',
    ],
    ...[
      "-exec sed {} ';'",
      "-exec sort -o {} {} ';'",
      "-exec uniq {} out ';'",
      "-exec tee out ';'",
      '-delete',
      '-fprint out',
    ],
    ...[
      "-exec head -1 {} ';' -exec rm {} ';'",
      "-exec sh -c 'touch pwned' ';'",
      "-exec cat {} ';' -o -name x",
      '-exec cp {} out +',
    ],
  );
  const anyLine = fc.oneof(
    word.map((text) => `awk '${text}' a.txt`),
    word.map((text) => `awk -F: '${text}' a.txt b.txt`),
    tail.map((text) => `find . -name '*.txt' ${text}`),
    tail.map((text) => `find deep -type f ${text}`),
    fc.constantFrom(
      'git clean -n',
      'git clean -nd',
      'git clean -fd',
      'git clean -f',
      'base64 a.txt',
      'base64 a.txt out',
    ),
    fc.constantFrom('tar tf a.tar', 'tar xf a.tar', 'tar -tf x:y', 'unzip -l a.zip', 'unzip a.zip', 'tar cf out a.txt'),
    fc.constantFrom(
      'for i in $(seq 3); do echo $i; done',
      'for i in {1..3}; do touch x$i; done',
      'for i in {3..1}; do wc a.txt; done',
    ),
  );
  fc.assert(fc.property(anyLine, staysAsItIs), runs(1_500));
});

test('everyday commands run unasked', () => {
  const lines = [
    ...[
      "sed 's/a/b/' a.txt",
      "sed -n '/a/,/b/p' a.txt",
      "sed -e 's/a/b/' -e '1d' *.txt",
      "sed '1d;$d' a.txt",
      "cat a.txt | sed 's/ /_/g'",
    ],
    ...[
      "awk 'NR>=10' a.txt",
      "awk '{s+=$1} END {print s}' a.txt",
      "awk -F: '$3 >= 10 {print $1}' a.txt",
      "awk 'length > 80' a.txt",
    ],
    ...[
      "find . -name '*.txt' -exec wc -l {} +",
      "find . -type f -exec grep -l x {} ';'",
      "find . -exec head -n 3 {} ';'",
    ],
    ...['command -v node', 'command -v node npm', 'docker --version', 'python3 --help', 'make --version', 'git --help'],
    ...[
      'git config user.name',
      'git config --global user.email',
      'git clean -n',
      'git clean -nd',
      'git diff -- *.txt',
      'git diff *.txt',
    ],
    ...[
      'base64 a.txt',
      'unzip -l a.zip',
      'tar tzf a.tgz',
      'for i in $(seq 3); do echo $i; done',
      'for i in {1..5}; do echo $i; done',
    ],
    ...[
      'npm ls',
      'npm ls --depth=0',
      'docker ps -a',
      'docker images',
      'gh pr view 12',
      'gh pr list --state=open',
      'gh pr view --json=title',
    ],
  ];
  expect(lines.filter((line) => decideBash(fixture, line, { cwd }).verdict !== 'allow')).toEqual([]);
});

test('and similar-looking ones ask', () => {
  const lines = [
    ...[
      'command node',
      'command -p node',
      'command -v $x',
      'git config user.name x',
      'git config edit',
      'git config alias.x',
      'git clean -fn -e x',
    ],
    ...[
      'git clean',
      'git clean -f',
      'git clean -i',
      'npm ls --prefix x',
      'npm ls; npm x',
      'docker ps --config x',
      'docker -H x ps',
      'gh pr view --web',
    ],
    ...["gh pr view --jq 'env'", 'gh pr list --template x', 'git log --help', './docker --version'],
    ...[
      'for i in {1..999999}; do ls; done',
      'for i in $(seq 3; rm x); do ls; done',
      'for i in $(seq $x); do ls; done',
      'base64 -o x a.txt',
    ],
    ...[
      'unzip a.zip',
      'unzip -l -d x a.zip',
      'tar tf x:y',
      'tar xf a.tar',
      'find . -exec cat x{} +',
      'find . -execdir cat {} +',
      'find / -exec cat {} +',
    ],
    ...[
      "find .. -exec cat {} ';'",
      'find . -exec cat {} /etc/passwd +',
      'sed -n 1p /etc/passwd',
      "find . -name '.e*' -exec ./cat {} +",
    ],
  ];
  expect(lines.filter((line) => decideBash(fixture, line, { cwd }).verdict === 'allow')).toEqual([]);
  // The walk comes by a file of secrets, and by a link out of the workspace.
  expect(decideBash(fixture, 'find . -exec cat {} +').verdict).toBe('ask');
  // Only the sandbox keeps the files of secrets from it.
  const secrets = "find . -name '*.pem' -exec cat {} +";
  expect(decideBash(fixture, secrets).enforce?.kind).toBe('read-only');
  expect(decideBash(fixture, secrets, { readOnlySandbox: 'none' }).verdict).toBe('ask');
});
