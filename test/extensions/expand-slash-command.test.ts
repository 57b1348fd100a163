import { expect, test } from 'vitest';
import { splitArguments } from '../../src/extensions/expand-slash-command.ts';
import { fastestMs } from '../support/fastest.ts';

test.each([
  ['', []],
  ['  a  b\n c ', ['a', 'b', 'c']],
  [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
  [`"quoted \\"in\\" side" x`, ['quoted "in" side', 'x']],
  [`"c:\\\\dir" 'c:\\dir'`, ['c:\\dir', 'c:\\dir']],
  [`"" ''`, ['', '']],
  [`it's Bob's "half`, [`it's`, `Bob's`, '"half']],
  [`city="New York" when='to day' x=1`, ['city=New York', 'when=to day', 'x=1']],
  [`"a"b 'c'd`, ['"a"b', `'c'd`]],
  ['$HOME `x` $(y)', ['$HOME', '`x`', '$(y)']],
  ['"two\nlines"', ['two\nlines']],
])('%j is %j', (text, words) => {
  expect(splitArguments(text)).toEqual(words);
});

test('a long line of quotes is fast', () => {
  const split = () => {
    splitArguments('"'.repeat(50_000));
    splitArguments(`"${'\\'.repeat(50_000)}`);
    splitArguments(`${'a'.repeat(50_000)}="`);
  };
  expect(fastestMs(2_000, split)).toBeLessThan(2_000);
});
