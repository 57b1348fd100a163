import type { IBufferCell, IBufferLine, Terminal } from '@xterm/headless';
import { rgbOf } from './terminal-palette.ts';

export type PictureOptions = {
  readonly theme?: 'dark' | 'light';
  /** The visible screen, or everything that was ever printed. */
  readonly rows?: 'screen' | 'all';
  readonly title?: string;
};

type Style = {
  readonly ink: string;
  readonly paper: string | undefined;
  readonly marks: string;
};
type Run = { readonly style: Style; readonly column: number; readonly cells: number; readonly text: string };

const THEMES = {
  dark: { ink: '#d4d4d4', paper: '#1e1e1e', bar: '#2b2b2b' },
  light: { ink: '#24292e', paper: '#ffffff', bar: '#e8e8e8' },
} as const;
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const CELL = { width: 8.4, height: 18, size: 14, rise: 13.5 } as const;
const MARGIN = 12;
const BAR_HEIGHT = 28;

/** Renders the content of a terminal with its colours as a self-contained SVG. */
export function terminalPicture(terminal: Terminal, options: PictureOptions = {}): string {
  const colours = THEMES[options.theme ?? 'dark'];
  const lines = linesOf(terminal, options.rows ?? 'screen');
  const top = MARGIN + (options.title === undefined ? 0 : BAR_HEIGHT);
  const width = Math.ceil(terminal.cols * CELL.width + 2 * MARGIN);
  const height = Math.ceil(lines.length * CELL.height + top + MARGIN);
  const body = lines.flatMap((line, row) =>
    runsOf(line, terminal, colours).map((run) => drawn(run, top + row * CELL.height)),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="${CELL.size}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${colours.paper}"/>`,
    ...(options.title === undefined ? [] : bar(options.title, width, colours)),
    ...body.filter((part) => part !== ''),
    '</svg>',
    '',
  ].join('\n');
}

function bar(title: string, width: number, colours: { readonly ink: string; readonly bar: string }): readonly string[] {
  const middle = BAR_HEIGHT / 2;
  return [
    `<path d="M0 ${BAR_HEIGHT}V8a8 8 0 0 1 8-8H${width - 8}a8 8 0 0 1 8 8V${BAR_HEIGHT}z" fill="${colours.bar}"/>`,
    `<text x="${width / 2}" y="${middle + 5}" text-anchor="middle" fill="${colours.ink}" opacity="0.7">${escaped(title)}</text>`,
  ];
}

function linesOf(terminal: Terminal, rows: 'screen' | 'all'): readonly IBufferLine[] {
  const buffer = terminal.buffer.active;
  const first = rows === 'screen' ? buffer.baseY : 0;
  const lines: IBufferLine[] = [];
  for (let at = first; at < buffer.baseY + terminal.rows; at += 1) {
    const line = buffer.getLine(at);
    if (line !== undefined) lines.push(line);
  }
  const last = lines.findLastIndex((line) => line.translateToString(true) !== '');
  return rows === 'screen' ? lines : lines.slice(0, last + 1);
}

/** Neighbouring cells that look alike, as one run. */
function runsOf(line: IBufferLine, terminal: Terminal, theme: { ink: string; paper: string }): readonly Run[] {
  const runs: Run[] = [];
  for (let column = 0; column < Math.min(line.length, terminal.cols); column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const style = styleOf(cell, theme);
    const text = cell.getChars() === '' ? ' ' : cell.getChars();
    const before = runs.at(-1);
    const cells = cell.getWidth();
    // Wide characters stand alone: fonts disagree about how wide they are.
    const isPlain = cells === 1 && before !== undefined && before.cells === [...before.text].length;
    if (isPlain && sameStyle(before.style, style)) {
      runs[runs.length - 1] = { ...before, cells: before.cells + cells, text: before.text + text };
    } else runs.push({ style, column, cells, text });
  }
  return runs;
}

const sameStyle = (one: Style, other: Style): boolean =>
  one.ink === other.ink && one.paper === other.paper && one.marks === other.marks;

function styleOf(cell: IBufferCell, theme: { readonly ink: string; readonly paper: string }): Style {
  const ink = cell.isFgDefault() ? undefined : rgbOf(cell.getFgColor(), cell.isFgRGB() ? 'rgb' : 'palette');
  const paper = cell.isBgDefault() ? undefined : rgbOf(cell.getBgColor(), cell.isBgRGB() ? 'rgb' : 'palette');
  const isInverse = cell.isInverse() !== 0;
  const lines = [cell.isUnderline() !== 0 && 'underline', cell.isStrikethrough() !== 0 && 'line-through'].filter(
    Boolean,
  );
  const marks = [
    cell.isBold() !== 0 && ' font-weight="bold"',
    cell.isItalic() !== 0 && ' font-style="italic"',
    cell.isDim() !== 0 && ' opacity="0.6"',
    lines.length > 0 && ` text-decoration="${lines.join(' ')}"`,
  ];
  return {
    ink: isInverse ? (paper ?? theme.paper) : (ink ?? theme.ink),
    paper: isInverse ? (ink ?? theme.ink) : paper,
    marks: marks.filter(Boolean).join(''),
  };
}

function drawn({ style, column, cells, text }: Run, top: number): string {
  const x = fixed(MARGIN + column * CELL.width);
  const width = fixed(cells * CELL.width);
  const background =
    style.paper === undefined
      ? ''
      : `<rect x="${x}" y="${fixed(top)}" width="${width}" height="${CELL.height}" fill="${style.paper}"/>`;
  const words = text.trim();
  if (words === '') return background;
  const blanks = text.length - text.trimStart().length;
  const start = fixed(MARGIN + (column + blanks) * CELL.width);
  const length = fixed((cells - (text.length - words.length)) * CELL.width);
  // The length pins every run to its columns, whatever font the viewer has.
  return `${background}<text x="${start}" y="${fixed(top + CELL.rise)}" textLength="${length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="${style.ink}"${style.marks}>${escaped(words)}</text>`;
}

const fixed = (value: number): string => String(Math.round(value * 100) / 100);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
