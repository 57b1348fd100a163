import { expect, test } from 'vitest';
import { markAsPrintable } from '../../../src/lib/printable.ts';
import { createAsciiOutput } from '../../../src/ui/terminal/ascii-output.ts';

test('glyphs inside text are ASCII where required, with the same width; other text is unchanged', () => {
  const written: string[] = [];
  let isOn = true;
  const terminal = { columns: 80, rows: 24, write: (text: string) => written.push(text), on: () => {}, off: () => {} };
  const out = createAsciiOutput(terminal, () => isOn);
  const words = markAsPrintable('1 file · +3 −2 … │ ── → ● naïve ✓ 说明');
  out.write(words);
  isOn = false;
  out.write(words);
  expect(written).toEqual(['1 file - +3 -2 . | -- > * naïve ✓ 说明', words]);
});
