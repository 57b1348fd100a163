import { expect, test } from 'vitest';
import { isNightRun, isWholeRun, partOf, someOf } from '../support/runs.ts';
import { SHORT_TEXTS } from './short-texts.ts';
import { findSlowText, listPatterns } from './slow-patterns.ts';
import { readSources } from './sources.ts';

/** Every pattern of the sources is tried with many texts. */
const LONG = { timeout: 20 * 60_000 };

test('no long text takes a regular expression more than linear time', LONG, () => {
  const typescript = Object.entries(readSources()).filter(([path]) => /\.tsx?$/.test(path));
  const sources = isWholeRun ? partOf(typescript, 8) : someOf(typescript, 60);
  const places = sources.flatMap(([path, text]) =>
    listPatterns(path, text).map((pattern): readonly [string, RegExp] => [`${path}: ${pattern}`, pattern]),
  );
  const slow = [...new Map(places)].flatMap(([name, pattern]) => (findSlowText(pattern) === undefined ? [] : [name]));
  const listed = SHORT_TEXTS.flatMap(({ path, patterns }) => patterns.map((pattern) => `${path}: ${pattern}`));
  // Make it linear, limit the text where it enters, or list the limit in short-texts.ts.
  expect(slow.filter((name) => !listed.includes(name))).toEqual([]);
  if (isNightRun) expect(listed.filter((name) => !slow.includes(name))).toEqual([]);
});

test.each([
  [/(a+)+$/, 'repetitions in repetitions'],
  [/\s+$/, 'a search for a run at the end'],
  [/^\s*(.*?):\s*(.*)$/m, 'lines of which each begins with the blanks of the next'],
  [/<!--[\s\S]*?-->/, 'a search for an end that is missing'],
  [/\$\{[^}]*\}/g, 'a start of several characters'],
  [/\bwant (.+) got (.+)$/m, 'words before a repetition'],
  [/(?<=\bkill\s+)\d+/, 'a repetition in a lookbehind'],
  [/,(?![^(]*\))/, 'a repetition in a lookahead'],
  [/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, 'a reference to a group'],
  [/^-?[a-z]*[xer][a-z]*$/, 'two repetitions of the same letters'],
  [/^(?:a|a)*$/, 'alternatives for the same text'],
  [/\/\*.*$/, 'a line end that stops a search'],
  [/^ *\r?\n? *x/m, 'blanks around an optional character'],
])('%s is found: %s', (pattern) => {
  expect(findSlowText(pattern)).toBeDefined();
});

test.each([
  [/(?<!\s)\s+$/, 'a run at the end that begins once'],
  [/^\s+/, 'a run at the beginning'],
  [/^([^:]*):(.*)$/, 'two repetitions of different characters'],
  [/<[^<>]*>/g, 'a search that ends where the next begins'],
  [/"(?:\\.|[^"\\])*"/y, 'a literal at a fixed position'],
  [/(?:,|^)([^,]*)/g, 'fields'],
  [/\b\w{1,10}:\d+/g, 'a limited repetition'],
  [/^.*foo/s, 'a greedy search from the beginning'],
  [/[^\n]*\n|[^\n]+/g, 'lines'],
  [/(?<!\p{L})\p{L}+\d/iu, 'letters'],
  [/x.{0,60}y/, 'a limited distance'],
])('%s is linear: %s', (pattern) => {
  expect(findSlowText(pattern)).toBeUndefined();
});

test('patterns are found wherever a source builds one', () => {
  const source = [
    'const a = /x+/gu;',
    "const b = new RegExp('^y+$', 'm');",
    `const c = RegExp(\`z+\${a.source}\`);`,
    "const d = new RegExp([String.raw`\\s+$`, 'w'].join('|'));",
  ].join('\n');
  expect(listPatterns('a.ts', source).map(String)).toEqual(['/x+/gu', '/^y+$/m', '/z+a/', '/\\s+$/', '/w/', '/|/']);
});
