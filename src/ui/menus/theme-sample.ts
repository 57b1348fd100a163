import { diffLines } from '../history/diff-lines.ts';
import { codeBlockLines } from '../markdown/code-block.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';

const DIFF = {
  oldStart: 7,
  oldLines: 1,
  newStart: 7,
  newLines: 1,
  lines: [
    { kind: 'del', text: 'const limit = 10;' },
    { kind: 'add', text: 'const limit = 100;' },
  ],
} as const;
const CODE = "const words = ['ten', limit]; // a list";
/** Rows the whole of it needs, and the least of it, with some choices above. */
const ROOM = { whole: 14, least: 7 };

/** A little of everything that has a colour, to choose a theme by: as much as leaves room for the choices. */
export function themeSample(drawing: Drawing, rows: number): readonly LogicalLine[] {
  if (rows < ROOM.least) return [];
  return rows < ROOM.whole ? smallSample(drawing) : wholeSample(drawing);
}

function wholeSample(drawing: Drawing): readonly LogicalLine[] {
  const { glyphs, width, highlight } = drawing;
  return [
    terminalLine(
      { text: glyphs.bar, style: { token: 'brand', background: 'band' } },
      { text: ' what you say ', style: { token: 'user', background: 'band' } },
      plain('   what is answered, with '),
      toned('code', 'code'),
    ),
    ...codeLines(CODE, highlight),
    terminalLine(toned('ok', glyphs.done), plain(' done   '), toned('error', `${glyphs.failed} failed: no connection`)),
    ...diffLines({ hunks: [DIFF] }, width),
    terminalLine(...dialog('Make this change?', drawing), toned('dim', '   esc no, and stop')),
  ];
}

/** An error and a dialog, a line of code, and both sides of a diff. */
function smallSample(drawing: Drawing): readonly LogicalLine[] {
  return [
    terminalLine(toned('error', `${drawing.glyphs.failed} failed`), plain('   '), ...dialog('Change it?', drawing)),
    ...codeLines(CODE, drawing.highlight),
    terminalLine({ text: '- limit = 10;', style: { token: 'del', background: 'delBg' } }, plain('  '), {
      text: '+ limit = 100;',
      style: { token: 'add', background: 'addBg' },
    }),
  ];
}

/** Without the line that names the language: every row is one for a choice. */
function codeLines(source: string, highlight: Drawing['highlight']): readonly LogicalLine[] {
  return codeBlockLines({ kind: 'code', language: 'ts', source, part: 'last', gap: 'none' }, '', highlight).lines;
}

function dialog(question: string, { glyphs }: Drawing): readonly Span[] {
  return [
    toned('warn', `${glyphs.bar} `),
    { text: question, style: { bold: true } },
    { text: `  ${glyphs.cursor} 1  y  Yes, once`, style: { token: 'brand', bold: true } },
  ];
}
