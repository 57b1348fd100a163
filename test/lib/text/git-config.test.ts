import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseGitConfig } from '../../../src/lib/text/git-config.ts';
import { longTest } from '../../support/long-test.ts';
import { runs } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const file = join(createTempFolder(), 'config');

/** What git makes of the bytes: a row for every key, or `refused`. */
function gitsRows(bytes: Buffer): readonly string[] | 'refused' {
  writeFileSync(file, bytes);
  const { status, stdout } = spawnSync('git', ['config', '--file', file, '--list', '-z'], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\0').slice(0, -1).map(spaced) : 'refused';
}

function ourRows(bytes: Buffer): readonly string[] | 'refused' {
  const config = parseGitConfig(bytes.toString('utf8'));
  if (!config.ok) return 'refused';
  return config.entries.map(({ section, subsection, name, value }) => {
    // Before its first section git knows keys of one word.
    const head = section === '' && subsection === undefined ? [] : [section];
    const key = [...head, ...(subsection === undefined ? [] : [subsection]), name].join('.');
    return spaced(value === undefined ? key : `${key}\n${value}`);
  });
}

/** Newer versions of git keep a tab in a value, older ones make a space of it. */
function spaced(row: string): string {
  return row.replace(/[\t\r]/g, ' ');
}

const TRICKS = [
  ...['\\', '\\', '\\', '\\\\', '\\"', '\\n', '\\t', '\\b', '\\x', '"', '"', '#', ';', '#', ' ', '\t', '=', ' = '],
  ...[
    '\n',
    '\n',
    '\n',
    '\r\n',
    '\r',
    '\\\n',
    '\\\r\n',
    '[',
    ']',
    '.',
    '-',
    '!',
    '\v',
    '\f',
    '\u00e9',
    '\u2028',
    '\ufeff',
  ],
];
const WORDS = ['a', 'Clean', 'x-1', '1', 'true', 'touch /tmp/x', 'path', '_'];
const HEADS = [
  '[core]\n',
  '[Diff]',
  '[a.B]',
  '[filter "E\\"v\\\\i]l"]\n',
  '[a "b"] ',
  '[ "x"]',
  '[]',
  '[a ]',
  '[x "#"]',
];
const LINES = [
  'external = evil\n',
  'clean=evil',
  '# note \\\n',
  'k = v ; note \\\n',
  'k = "v\\\\" \\\\\n',
  'alone\n',
  'k=\\\n',
];

const anyText = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...TRICKS) },
      { weight: 2, arbitrary: fc.constantFrom(...WORDS) },
      { weight: 1, arbitrary: fc.constantFrom(...HEADS) },
      { weight: 3, arbitrary: fc.constantFrom(...LINES) },
    ),
    { maxLength: 16 },
  )
  .map((pieces) => pieces.join(''));
/** Values of one line, so that most files are ones that git takes. */
const anyValid = fc
  .array(
    fc
      .tuple(fc.constantFrom('k=', 'k = ', '# ', ';'), fc.array(fc.constantFrom(...TRICKS.slice(0, 18), ...WORDS)))
      .map(([start, value]) => `${start}${value.join('')}`),
    { maxLength: 6 },
  )
  .map((lines) => `[core]\n${lines.join('\n')}\n`);

test('the output of git config is parsed for any file, and errors of git are errors', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyValid), (text) => {
      const bytes = Buffer.from(text);
      expect(ourRows(bytes)).toEqual(gitsRows(bytes));
    }),
    runs(1_000),
  );
});

test.each([
  ['a backslash at the end of a comment', '[core]\n# note \\\n[diff]\nexternal = evil\n', ['diff.external\nevil']],
  ['an escaped backslash at the end', '[a]\nk = v\\\\\n[diff]\nexternal = evil\n', ['a.k\nv\\', 'diff.external\nevil']],
  ['a comment behind a value', '[a]\nk = v # \\\nb = "#;" ; \\\n', ['a.k\nv', 'a.b\n#;']],
  ['a value that goes on', '[a]\r\nk = v\\\r\n  w\r\n', ['a.k\nv  w']],
  ['a key behind its section', '\ufeff[Diff]EXTERNAL=evil', ['diff.external\nevil']],
  ['a section written in the old way', '[Filter.Evil]Clean=x', ['filter.evil.clean\nx']],
  ['a key without a section', 'k = v', ['k\nv']],
  ['a backslash as the last byte', '[a]k=v\\', ['a.k\nv']],
])('%s is parsed as git does', (_, text, rows) => {
  expect(ourRows(Buffer.from(text))).toEqual(rows);
  expect(gitsRows(Buffer.from(text))).toEqual(rows);
});

test('files with a NUL byte and files that are too long are refused', () => {
  expect(parseGitConfig('[a]k=v\0w').ok).toBe(false);
  expect(parseGitConfig(`[a]k=${'v'.repeat(250_000)}`).ok).toBe(false);
});

test('invalid UTF-8 hides nothing', () => {
  const config = parseGitConfig(
    Buffer.from('[a "\xe2"]k = "\xf0\x9f" # \xe2\\\nb = \xc3\n', 'latin1').toString('utf8'),
  );
  expect(config.ok && config.entries.map(({ name }) => name)).toEqual(['k', 'b']);
});

longTest.each(['[a]k=v\n'.repeat(35_000), `[a]k=${'"x" '.repeat(60_000)}`, `[a "${'\\a'.repeat(120_000)}"]k`])(
  'a long file is read to its end',
  (text) => {
    expect(parseGitConfig(text).ok).toBe(true);
  },
);
