import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { insertIntoShellCommand, quoteShellVariables, quoteShellWord } from '../../../src/lib/text/shell-quotes.ts';
import { runs } from '../../support/runs.ts';

/** Returns the words that a shell passes to a program. */
function wordsOf(command: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const line = `print() { printf '%s\\0' "$@"; }; ${command}`;
  const { stdout } = spawnSync('bash', ['--norc', '-c', line], { env: { LC_ALL: 'C', ...env }, encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}

const ANY_VALUE = fc.string({
  unit: fc.constantFrom(...`a /ü'"\\$\`*?[]{}~!#&;|<>()\n-`),
  minLength: 1,
  maxLength: 12,
});

test('a value stays a part of one word, whatever it is and whatever quotes are around it', () => {
  fc.assert(
    fc.property(ANY_VALUE, (value) => {
      const command = `print ${quoteShellWord(value)} X X/run "X" "a X/b" 'X' a\\ X "it's" X "\\"X" # it's X`;
      const inserted = insertIntoShellCommand(command, (part, encode) => part.replaceAll('X', () => encode(value)));
      expect([value, inserted, wordsOf(inserted)]).toEqual([
        value,
        inserted,
        [value, value, `${value}/run`, value, `a ${value}/b`, value, `a ${value}`, "it's", value, `"${value}`],
      ]);
    }),
    runs(400),
  );
});

test('a plain value changes nothing else', () => {
  const insert = (command: string) =>
    insertIntoShellCommand(command, (part, encode) => part.replaceAll('X', encode('/opt/kit-1.0_a')));
  expect(insert(`X/run "X" 'X' > X.log`)).toBe(
    `/opt/kit-1.0_a/run "/opt/kit-1.0_a" '/opt/kit-1.0_a' > /opt/kit-1.0_a.log`,
  );
});

test.each([
  ['print $DIR/run', ['/a b/run']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  ['print ${DIR}/run -- "$DIR/x" \'$DIR\' "${DIR}"', ['/a b/run', '--', '/a b/x', '$DIR', '/a b']],
  ['print \\$DIR $DIRS $OTHER', ['$DIR', 'not', 'it', 'c', 'd']],
  ['cd /; FILE=$DIR/x; print "$FILE"', ['/a b/x']],
  ['print "$(printf "%s" $DIR)"', ['/ab']],
  ['print "$(printf %s "$DIR/x")" "`printf %s "$DIR/y"`"', ['/a b/x', '/a b/y']],
  ["# don't\nprint $DIR/x '$DIR' # isn't", ['/a b/x', '$DIR']],
])('a reference to a folder is one word: %s', (command, words) => {
  const env = { DIR: '/a b', DIRS: 'not it', OTHER: 'c d' };
  expect(wordsOf(quoteShellVariables(command, { DIR: env.DIR, UNSET: undefined }), env)).toEqual(words);
});

test.each(['print $DIR/run', 'cat <<END\n$DIR\nEND'])('a command that needs nothing stays as it is: %s', (command) => {
  const path = command.includes('<<') ? '/a b' : '/opt/kit';
  expect(quoteShellVariables(command, { DIR: path })).toBe(command);
});
