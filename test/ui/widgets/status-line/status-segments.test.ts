import { expect, test } from 'vitest';
import type { StyledSpan } from '../../../../src/ui/text/line.ts';
import { parseStatusScriptLine } from '../../../../src/ui/widgets/status-line/status-segments.ts';

test('colors of a script are kept, other sequences are removed', () => {
  const link = '\u001b]8;;http://evil\u0007here\u001b]8;;\u0007';
  const line = `\u001b[0m\u001b[38;5;30mModel:\u00a0opus\u001b[39m | \u001b[1;31mhot\u001b[m \u001b[2J${link}\r\u009b5n\u202e`;
  expect(parseStatusScriptLine(line)).toEqual<readonly StyledSpan[]>([
    { text: 'Model: opus', style: { sgrCodes: '38;5;30' } },
    { text: ' | ', style: { sgrCodes: '38;5;30;39' } },
    { text: 'hot', style: { sgrCodes: '38;5;30;39;1;31' } },
    { text: ' here<U+202E>', style: { token: 'dim' } },
  ]);
});
