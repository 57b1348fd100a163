import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { parse } from 'unbash';
import { expect, test } from 'vitest';
import { analyzeScriptExactly } from '../../../../src/permissions/shell/exact/analyze-script-exactly.ts';
import { NO_DISK_LOOKUP } from '../../../../src/permissions/shell/exact/shell-state.ts';
import { runs } from '../../../support/runs.ts';

const name = fc.constantFrom('f', 'g', 'h');
const shown = fc.constantFrom('f', 'f', 'f', 'g').map((one) => `printf '%s\\0' "$${one}"`);
const fed = fc.constantFrom("<<< 'x y'", "<<< 'z'", '< /dev/null');

/** Loops within loops, one after the other, that print their variables. */
const { script } = fc.letrec<{ script: string; step: string }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3 },
    shown,
    fc
      .tuple(name, fc.constantFrom('a b', 'c', '{1..2}'), tie('script'))
      .map(([one, list, body]) => `for ${one} in ${list}; do ${body}; done`),
    fc.tuple(name, fed, tie('script')).map(([one, from, body]) => `while read -r ${one}; do ${body}; done ${from}`),
    tie('script').map((body) => `{ ${body}; }`),
  ),
  script: fc.array(tie('step'), { minLength: 1, maxLength: 3 }).map((steps) => steps.join('; ')),
}));

test('whatever values loops assign, the exact analysis has the words bash passes', () => {
  const samples = fc.sample(script, { ...runs(1_500), seed: 17 }).flatMap((inner) => {
    const command = `for f in 1 2; do ${inner}; done`;
    const { commands, problems } = analyzeScriptExactly(command, parse(command), '/', NO_DISK_LOOKUP);
    const argv = commands.map((part) => part.argv).filter((words) => words.length > 0);
    const isKnown = problems.length === 0 && argv.flat().every(({ kind }) => kind === 'literal');
    return isKnown ? [{ command, words: argv.map((words) => words[2]?.text ?? '') }] : [];
  });
  expect(samples.length).toBeGreaterThan(0);
  // A variable that no loop has set is not there: each line in a shell of its own.
  const lines = samples.map(({ command }) => `( ${command} ); printf '\\1\\0'`).join('\n');
  const { stdout } = spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', lines], { encoding: 'utf8' });
  const received = stdout.split('\u0001\0').slice(0, -1);
  // A loop that reads goes round as often as there are lines, so it may print less than was looked at.
  const wrong = samples.filter(({ command, words }, at) => {
    const said = (received[at] ?? '').split('\0').slice(0, -1);
    return command.includes('while') ? said.some((word) => !words.includes(word)) : `${said}` !== `${words}`;
  });
  expect(wrong).toEqual([]);
});
