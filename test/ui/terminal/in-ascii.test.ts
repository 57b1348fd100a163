import { expect, test } from 'vitest';
import { asPrintable } from '../../../src/lib/printable.ts';
import { inAscii } from '../../../src/ui/terminal/in-ascii.ts';

test('our own signs within words are ASCII where that is wanted, as wide as they were; what others wrote goes through', () => {
  const written: string[] = [];
  let isOn = true;
  const terminal = { columns: 80, rows: 24, write: (text: string) => written.push(text), on: () => {}, off: () => {} };
  const out = inAscii(terminal, () => isOn);
  const words = asPrintable('1 file · +3 −2 … │ ── → ● naïve ✓ 说明');
  out.write(words);
  isOn = false;
  out.write(words);
  expect(written).toEqual(['1 file - +3 -2 . | -- > * naïve ✓ 说明', words]);
});
