import { Chalk, type ChalkInstance } from 'chalk';
import { asPrintable, type Printable } from '../../lib/printable.ts';
import { printableLine } from '../../lib/text/sanitize.ts';
import type { ColorDepth, Look, Style, Theme } from './theme.ts';

/** Text with the escape sequences of a style around it; control characters and the like in it are spelled out. */
export type Paint = (text: string, style: Style | undefined) => Printable;

/** Stands for the text while chalk is asked for what belongs before it. */
const MARK = 'x';
const RESET = '\u001b[0m';
const LEVELS = { none: 1, '16': 1, '256': 2, truecolor: 3 } as const;
const BACKGROUNDS = {
  red: 'bgRed',
  green: 'bgGreen',
  yellow: 'bgYellow',
  blue: 'bgBlue',
  magenta: 'bgMagenta',
  cyan: 'bgCyan',
} as const;
const ATTRIBUTES = ['bold', 'dim', 'italic', 'underline', 'inverse', 'strikethrough'] as const;

/** A painter for one theme on one terminal. It keeps the sequences it has worked out. */
export function createPaint(theme: Theme, depth: ColorDepth): Paint {
  const chalk = new Chalk({ level: LEVELS[depth] });
  const known = new Map<string, string>();
  return (given, style) => {
    // The one door to the screen: whoever forgets to clean a text has it cleaned here.
    const text = printableLine(given);
    if (style === undefined || text === '') return text;
    const key = keyOf(style);
    let opening = known.get(key);
    if (opening === undefined) {
      opening = openingOf(style, theme, depth, chalk);
      known.set(key, opening);
    }
    return opening === '' ? text : asPrintable(opening + text + RESET);
  };
}

function keyOf(style: Style): string {
  const { token, background, bold, mark, dim, italic, underline, strike, inverse, colors } = style;
  return [token, background, bold, mark, dim, italic, underline, strike, inverse, colors].join();
}

/** What chalk writes before a text of this style, as one sequence. */
function openingOf(style: Style, theme: Theme, depth: ColorDepth, chalk: ChalkInstance): string {
  if (style.colors !== undefined) return depth === 'none' ? '' : `\u001b[${style.colors}m`;
  const look: Look = style.token === undefined ? {} : theme.looks[style.token];
  const behind = style.background === undefined ? undefined : theme.looks[style.background].color;
  const isColored = behind !== undefined && depth !== 'none' && depth !== '16';
  const wanted = {
    ...style,
    bold: style.bold ?? style.mark ?? look.bold,
    underline: style.underline ?? (isColored ? undefined : style.mark),
    dim: style.dim ?? look.dim,
    inverse: style.inverse ?? look.inverse,
    strikethrough: style.strike,
  };
  let painter = ATTRIBUTES.reduce((all, name) => (wanted[name] === true ? all[name] : all), chalk);
  painter = colored(painter, look.color, depth, 'color');
  painter = colored(painter, behind, depth, 'bgColor');
  const [opening = ''] = painter(MARK).split(MARK);
  return opening.replaceAll('m\u001b[', ';');
}

function colored(
  painter: ChalkInstance,
  color: Look['color'],
  depth: ColorDepth,
  layer: 'color' | 'bgColor',
): ChalkInstance {
  if (color === undefined || depth === 'none') return painter;
  if (!isHex(color)) return painter[layer === 'color' ? color : BACKGROUNDS[color]];
  if (depth === '16') return painter;
  if (depth === 'truecolor') return layer === 'color' ? painter.hex(color) : painter.bgHex(color);
  const nearest = nearest256(...channelsOf(color));
  return layer === 'color' ? painter.ansi256(nearest) : painter.bgAnsi256(nearest);
}

function isHex(color: string): color is `#${string}` {
  return color.startsWith('#');
}

/**
 * Red, green and blue of a `#rrggbb` colour, 0 to 255.
 * @internal Exported for tests.
 */
export function channelsOf(hex: string): readonly [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** The nearest colour of the 6×6×6 cube or the grey ramp; chalk rounds to equal steps, which terminals do not have. */
function nearest256(red: number, green: number, blue: number): number {
  const steps = [0, 95, 135, 175, 215, 255];
  const step = (value: number) => {
    const distances = steps.map((level) => Math.abs(level - value));
    return distances.indexOf(Math.min(...distances));
  };
  const [r, g, b] = [step(red), step(green), step(blue)];
  const grey = Math.max(0, Math.min(23, Math.round(((red + green + blue) / 3 - 8) / 10)));
  const greyLevel = 8 + grey * 10;
  const cubeError = (steps[r] ?? 0) - red;
  const cube = cubeError ** 2 + ((steps[g] ?? 0) - green) ** 2 + ((steps[b] ?? 0) - blue) ** 2;
  const ramp = (greyLevel - red) ** 2 + (greyLevel - green) ** 2 + (greyLevel - blue) ** 2;
  return ramp < cube ? 232 + grey : 16 + 36 * r + 6 * g + b;
}
