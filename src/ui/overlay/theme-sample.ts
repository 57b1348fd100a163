import type { Drawing } from '../drawing.ts';
import { diffLines } from '../history/diff-lines.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../lines/line.ts';

/** A little of everything that has a colour, to choose a theme by. */
export function themeSample(drawing: Drawing): readonly LogicalLine[] {
  const { glyphs, width } = drawing;
  const hunk = {
    oldStart: 7,
    oldLines: 1,
    newStart: 7,
    newLines: 1,
    lines: [
      { kind: 'del', text: 'const limit = 10;' },
      { kind: 'add', text: 'const limit = 100;' },
    ],
  } as const;
  return [
    terminalLine(
      toned('user', `${glyphs.user} what you say`),
      plain('   what is answered, with '),
      toned('code', 'code'),
    ),
    terminalLine(toned('ok', glyphs.done), plain(' done   '), toned('error', `${glyphs.failed} failed: no connection`)),
    ...diffLines({ hunks: [hunk] }, width),
    terminalLine(
      { text: `${glyphs.wait} Allow this edit?`, style: { token: 'warn', bold: true, inverse: true } },
      toned('accent', '  y'),
      plain('  once'),
      toned('dim', '   esc says no'),
    ),
  ];
}
