import { expect, test } from 'vitest';
import { scriptSpans } from '../../../src/ui/status/script-spans.ts';

test('a script’s own colours are kept, what else it would do to the terminal is not', () => {
  const link = '\u001b]8;;http://evil\u0007here\u001b]8;;\u0007';
  const line = `\u001b[0m\u001b[38;5;30mModel:\u00a0opus\u001b[39m | \u001b[1;31mhot\u001b[m \u001b[2J${link}\r\u009b5n\u202e`;
  expect(scriptSpans(line)).toEqual([
    { text: 'Model: opus', style: { colors: '38;5;30' } },
    { text: ' | ', style: { colors: '38;5;30;39' } },
    { text: 'hot', style: { colors: '38;5;30;39;1;31' } },
    { text: ' here<U+202E>', style: { token: 'dim' } },
  ]);
});
