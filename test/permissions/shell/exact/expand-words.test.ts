import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'unbash';
import { expect, test } from 'vitest';
import { analyzeScriptExactly } from '../../../../src/permissions/shell/exact/analyze-script-exactly.ts';
import { NO_DISK_LOOKUP } from '../../../../src/permissions/shell/exact/shell-state.ts';
import { runs } from '../../../support/runs.ts';
import { decideBash, makeFixture } from '../../fixture.ts';

const BASH = ['--noprofile', '--norc', '-c'];

test('braces expand as in bash', () => {
  const piece = fc.constantFrom(...'{{{}}},,ab19.-'.split(''), '..', '{1..3}', '{a,b}', '{c..a}', '=', '/', ':', '0');
  const samples = fc
    .sample(fc.array(piece, { minLength: 2, maxLength: 8 }), { ...runs(3_000), seed: 3 })
    .map((pieces) => `printf '%s\\0' x${pieces.join('')}`)
    .flatMap((command) => {
      const { commands, problems } = analyzeScriptExactly(command, parse(command), '/', NO_DISK_LOOKUP);
      const isPlain = commands[0]?.argv.every(({ kind }) => kind === 'literal') === true;
      return problems.length === 0 && isPlain
        ? [{ command, words: commands[0]?.argv.slice(2).map(({ text }) => text) }]
        : [];
    });
  expect(samples.some(({ words = [] }) => words.length > 2)).toBe(true);
  const script = samples.map(({ command }) => `${command}; printf '\\1\\0'`).join('\n');
  const { stdout } = spawnSync('/bin/bash', [...BASH, script], { encoding: 'utf8' });
  const received = stdout.split('\u0001\0').slice(0, -1);
  expect(samples.filter(({ words = [] }, at) => `${words.join('\0')}\0` !== received[at])).toEqual([]);
});

const PLAIN = ['a.ts', 'x/d.ts', 'y/z/e.md', 'b.ts', 'f.ts'];
const ODD = ['b c.ts', '-n', '*.md', 'x/.env', '.env', 'key.pem', 'é.ts', "q'.ts", 'y/a\nb'];
const names = fc
  .tuple(fc.subarray(PLAIN), fc.subarray(ODD, { maxLength: 1 }))
  .map(([plain, odd]) => [...plain, ...odd]);
const LISTING = [
  'git ls-files',
  "git ls-files '*.ts'",
  'git ls-files x y',
  'git diff --name-only',
  'find .',
  'find x y -type f',
  "find . -name '*.ts'",
  "find x -iname '*.TS' -o -name '.e*'",
];
const USING = [
  (names: string) => `cat $(${names})`,
  (names: string) => `head -n 1 $(${names}) a.ts`,
  (names: string) => `grep -h SECRET $(${names})`,
  (names: string) => `${names} | while read -r f; do cat "$f"; done`,
  (names: string) => `${names} | while IFS= read -r f; do cat $f; done`,
];

test('whatever file names a repository has, commands that run unasked show no secret', () => {
  const line = fc.tuple(names, names, fc.constantFrom(...LISTING), fc.constantFrom(...USING));
  let allowed = 0;
  for (const [tracked, others, listing, using] of fc.sample(line, { ...runs(60), seed: 11 })) {
    const fixture = makeFixture();
    rmSync(fixture.ws, { recursive: true });
    mkdirSync(fixture.ws);
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: fixture.ws, stdio: 'ignore' });
    git('init', '-q');
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(fixture.ws, name)), { recursive: true });
      writeFileSync(join(fixture.ws, name), text);
    };
    for (const name of [...others, ...tracked]) write(name, /env|pem/.test(name) ? 'SECRET\n' : 'plain\n');
    if (tracked.length > 0) git('add', '--', ...tracked);
    // What git shows as changed.
    for (const name of tracked.filter((each) => !/env|pem/.test(each))) write(name, 'changed\n');
    const command = using(listing);
    if (decideBash(fixture, command).verdict !== 'allow') continue;
    allowed += 1;
    const env = { PATH: '/usr/bin:/bin', HOME: fixture.home };
    const ran = spawnSync('/bin/bash', [...BASH, command], { cwd: fixture.ws, encoding: 'utf8', input: '', env });
    expect({ command, tracked, shown: ran.stdout.includes('SECRET') }).toEqual({ command, tracked, shown: false });
  }
  expect(allowed).toBeGreaterThan(0);
});
