import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'unbash';
import { expect, test } from 'vitest';
import { analyzeScriptExactly } from '../../../../src/permissions/shell/exact/analyze-script-exactly.ts';
import { NO_DISK_LOOKUP } from '../../../../src/permissions/shell/exact/shell-state.ts';
import { isFullyParsed, listCharacterProblems } from '../../../../src/permissions/shell/parse/check-source.ts';
import { isWholeRun, runs } from '../../../support/runs.ts';
import { createTempFolder } from '../../../support/temp-folder.ts';
import { ALLOWED } from '../../corpus/allowed.ts';
import { ALLOWED_LINES } from '../../corpus/allowed-lines.ts';
import { ALLOWED_LOOPS } from '../../corpus/loops.ts';
import { makeFixture } from '../../fixture.ts';

const BASH = ['--noprofile', '--norc'];
const ENV = { PATH: '/usr/bin:/bin', HOME: '/nowhere', LC_ALL: 'C.UTF-8' };

/** The strict reading of a line; `undefined` when something in it is not understood. */
function read(command: string) {
  const script = parse(command);
  const reading = analyzeScriptExactly(command, script, '/', {
    ...NO_DISK_LOOKUP,
    resolveDirectory: (_, target) => target,
  });
  return reading.problems.length > 0 || !isFullyParsed(command, script) ? undefined : reading;
}

const pieces = fc.constantFrom(
  ...[
    'a',
    'b',
    'ls',
    'x=1',
    ' ',
    ' ',
    ' ',
    "'",
    '"',
    '\\',
    '$',
    '#',
    '!',
    '*',
    '~',
    '=',
    '-',
    ',',
    ':',
    '%',
    '@',
    '+',
    '^',
  ],
  ...[
    ';',
    '&&',
    '||',
    '|',
    '&',
    '\n',
    '(',
    ')',
    '{',
    '}',
    '<',
    '>',
    '>>',
    '2>&1',
    '>/dev/null',
    '<<<',
    '`',
    '[',
    ']',
    '?',
  ],
  ...[
    'if',
    'then',
    'fi',
    'for',
    'in',
    'do',
    'done',
    'case',
    'esac',
    'time',
    'function',
    '\\\n',
    "$'",
    '$"',
    '\t',
    'é',
    '0',
  ],
);

test('bash accepts whatever the exact analysis parses', () => {
  const understood = fc
    .sample(fc.array(pieces, { minLength: 1, maxLength: 12 }), { ...runs(2_400), seed: 7 })
    .map((words) => words.join(''))
    .filter((command) => listCharacterProblems(command).length === 0 && read(command) !== undefined);
  expect(understood.length).toBeGreaterThan(enoughOf(runs(2_400)));
  const script = understood.map((command, at) => `bash -n <<< ${quoted(command)} 2>/dev/null || echo ${at}`).join('\n');
  const { stdout } = spawnSync('/bin/bash', BASH, { input: script, encoding: 'utf8', env: ENV });
  const refused = stdout.split('\n').flatMap((line) => (line === '' ? [] : [understood[Number(line)]]));
  expect(refused).toEqual([]);
});

test('words are the arguments that bash passes', () => {
  const letters = fc.constantFrom(
    ...[
      'a',
      'B',
      '7',
      ' ',
      "'",
      "'",
      '"',
      '"',
      '\\',
      '\\',
      '$',
      '`',
      '~',
      '*',
      '?',
      '[',
      ']',
      '{',
      '}',
      ',',
      '.',
      '/',
      '=',
    ],
    ...['!', '#', '%', '@', '^', '-', '+', ':', '\\\n', '\t', 'é', '\u00e4'],
  );
  const samples = fc
    .sample(fc.array(letters, { minLength: 1, maxLength: 10 }), { ...runs(6_000), seed: 11 })
    .map((word) => `printf '%s\\0' ${word.join('')}`)
    .filter((command) => listCharacterProblems(command).length === 0)
    .flatMap((command) => {
      const [part, ...more] = read(command)?.commands ?? [];
      const plain = part?.argv.every(({ kind, home }) => kind === 'literal' && home === 'none') === true;
      return plain && more.length === 0 && part.redirects.length === 0
        ? [{ command, words: part.argv.slice(2).map(({ text }) => text) }]
        : [];
    });
  expect(samples.length).toBeGreaterThan(enoughOf(runs(6_000)));
  const script = samples.map(({ command }) => `${command}\nprintf '\\1\\0'`).join('\n');
  const { stdout } = spawnSync('/bin/bash', BASH, { input: script, encoding: 'utf8', env: ENV });
  const received = stdout.split('\u0001\0').slice(0, -1);
  // Without a word printf prints one empty string.
  const wrong = samples.filter(
    ({ words }, at) => (words.length === 0 ? '\0' : `${words.join('\0')}\0`) !== received[at],
  );
  expect(wrong.map(({ command, words }) => ({ command, words }))).toEqual([]);
  expect(received).toHaveLength(samples.length);
});

test('a loop is expanded as in bash', () => {
  const letters = fc.constantFrom(...['a', 'b', ' ', ' ', "'", '"', '\\', '$', '~', '-', '.', '/', '=', ':', 'é']);
  const braced = `\${f}`;
  const inside = fc.oneof(
    letters,
    fc.constantFrom('*', '$f', '"$f"', `"${braced}"`, braced, '$g', "'$f'", '$f', '"$f"'),
  );
  const loop = fc.tuple(
    fc.array(letters, { minLength: 1, maxLength: 8 }),
    fc.array(inside, { minLength: 1, maxLength: 6 }),
  );
  const samples = fc
    .sample(loop, { ...runs(6_000), seed: 5 })
    .map(([list, word]) => `for f in ${list.join('')}; do printf '%s\\0' ${word.join('')}; done`)
    .flatMap((command) => {
      const parts = read(command)?.commands;
      const argv = parts?.map((part) => part.argv) ?? [[]];
      const plain = argv.flat().every(({ kind, home }) => kind === 'literal' && home === 'none');
      const printed = argv.map((words) => (words.length === 2 ? [''] : words.slice(2).map(({ text }) => text)));
      return parts !== undefined && plain ? [{ command, words: printed.flat() }] : [];
    });
  expect(samples.length).toBeGreaterThan(enoughOf(runs(6_000)));
  const script = samples.map(({ command }) => `${command}\nprintf '\\1\\0'`).join('\n');
  const { stdout } = spawnSync('/bin/bash', BASH, { input: script, encoding: 'utf8', env: ENV });
  const received = stdout.split('\u0001\0').slice(0, -1);
  expect(samples.filter(({ words }, at) => words.map((word) => `${word}\0`).join('') !== received[at])).toEqual([]);
});

test('commands that run unasked change nothing', () => {
  const { home } = makeFixture();
  const place = createTempFolder();
  cpSync(home, place, { recursive: true, verbatimSymlinks: true });
  const ws = join(place, 'ws');
  const commands = [...ALLOWED, ...ALLOWED_LINES, ...ALLOWED_LOOPS]
    .filter((command) => !/\bsleep\b/.test(command))
    .filter((_, at) => isWholeRun || at % 5 === 0);
  const before = snapshot(place);
  const script = commands.map((command) => `(cd ${quoted(ws)} || exit; eval ${quoted(command)})`).join('\n');
  spawnSync('/bin/bash', [...BASH, '-c', script], {
    cwd: ws,
    env: { ...ENV, HOME: place, GIT_OPTIONAL_LOCKS: '0', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 14_000,
  });
  expect(snapshot(place)).toEqual(before);
});

/** A tenth has to be understood, or too little was compared. */
function enoughOf({ numRuns }: { readonly numRuns: number }): number {
  return numRuns / 10;
}

/** Every entry below a folder with what is in it. */
function snapshot(folder: string): readonly string[] {
  return entriesBelow(folder)
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const entry = lstatSync(path);
      const content = entry.isFile() ? readFileSync(path, 'utf8') : entry.isSymbolicLink() ? readlinkSync(path) : '';
      return `${name} ${entry.mode.toString(8)} ${content}`;
    });
}

/** Links are entries too, and are not gone into. */
function entriesBelow(folder: string, prefix = ''): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    return entry.isDirectory() ? [name, ...entriesBelow(join(folder, entry.name), `${name}/`)] : [name];
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
