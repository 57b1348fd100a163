import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compileStarPattern,
  createGlobMatcher,
  hasTooManyWildcards,
  parseGlob,
} from '../../../src/lib/patterns/glob.ts';
import { runs } from '../../support/runs.ts';

const matcher = (glob: string) => createGlobMatcher(parseGlob(glob, { braces: 'alternatives', doubleStar: 'star' }));

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'in/a.ts', false],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'in/deep/a.ts', true],
  ['src/**', 'src/in/a', true],
  ['src/**', 'src', false],
  ['src/**/a', 'src/a', true],
  ['src/**/a', 'srcs/a', false],
  ['a**b', 'a/b', false],
  ['a?c', 'a😀c', true],
  ['a?c', 'a/c', false],
  ['{a,b{c,d}}.js', 'bd.js', true],
  ['{a,b{c,d}}.js', 'b.js', false],
  ['{a,}b', 'b', true],
  ['{a', '{a', true],
  ['a}', 'a}', true],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[]x]', ']', true],
  ['[a', '[a', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['[z-a]', 'm', false],
])('%s matches %s: %s', (glob, text, expected) => {
  expect(matcher(glob)(text)).toBe(expected);
});

test('two stars inside a name match any text if enabled, and so do paths below', () => {
  const rule = createGlobMatcher(parseGlob('src/a**z', { braces: 'letters', doubleStar: 'any-text' }), 'or-below');
  expect(['src/a/in/z', 'src/az/below', 'src/a', '{'].map(rule)).toEqual([true, true, false, false]);
});

const sign = fc.constantFrom('a', 'b', '/', '.');

test('stars, question marks and folders match like an equivalent regular expression', () => {
  const piece = fc.constantFrom('a', 'b', '/', '*', '?', '**/', '[ab]', '[!a]', '{a,b/}', '{*,a}');
  const meanings: Readonly<Record<string, string>> = {
    '*': '[^/]*',
    '?': '[^/]',
    '[ab]': '[ab]',
    '[!a]': '[^a/]',
    '{a,b/}': '(?:a|b/)',
    '{*,a}': '(?:[^/]*|a)',
  };
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.array(sign, { maxLength: 8 }), (pieces, signs) => {
      // Two stars are a folder only where a name begins.
      const parts = pieces.filter((each, at) => each !== '**/' || at === 0 || (pieces[at - 1] ?? '').endsWith('/'));
      const glob = parts.join('');
      if (parts.some((each, at) => each === '*' && parts[at + 1]?.startsWith('*'))) return;
      if (/\*\*(?!\/)|[^/]\*\*\/|\{[^}]*\*\*/.test(glob)) return;
      const source = parts.map((each) => (each === '**/' ? '(?:.*/)?' : (meanings[each] ?? each))).join('');
      const text = signs.join('');
      expect([glob, text, matcher(glob)(text)]).toEqual([glob, text, new RegExp(`^${source}$`, 's').test(text)]);
    }),
    runs(3000),
  );
});

test('no pattern is slow, whatever it contains and whatever it matches against', () => {
  const long = `${'a'.repeat(250)}b`;
  const piece = fc.constantFrom('*a', '**/', '*', '?*', '{a,*}', '[ab]*', '{*a,**/}', 'a', '{{a,*},*}');
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 50 }), (pieces) => {
      const glob = `${pieces.join('')}c`;
      if (hasTooManyWildcards(glob)) return;
      const from = process.threadCpuUsage().user;
      for (const text of [long, 'a/'.repeat(100)]) {
        matcher(glob)(text);
        compileStarPattern(glob)(text);
      }
      expect([glob, process.threadCpuUsage().user - from < 300_000]).toEqual([glob, true]);
    }),
    runs(300),
  );
});
