import { Chalk, type ChalkInstance } from 'chalk';
import { markAsPrintable, type Printable } from '../../lib/printable.ts';
import { escapeUnsafeLine } from '../../lib/text/sanitize.ts';
import {
  type ColorDepth,
  type CustomTheme,
  resolveCustomTheme,
  resolveTheme,
  type TextStyle,
  THEME_NAMES,
  type Theme,
  type ThemeTokenStyle,
} from './theme.ts';

/** Wraps text in the escape sequences of a style. Control characters in the text become visible characters. */
export type Paint = (text: string, style: TextStyle | undefined) => Printable;

/** Placeholder text that chalk styles, so that the sequence before it can be cut out. */
const PLACEHOLDER = 'x';
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

/** Creates the paint function of a theme for one color depth. Computed escape sequences are cached per style. */
export function createPaint(theme: Theme, depth: ColorDepth): Paint {
  const chalk = new Chalk({ level: LEVELS[depth] });
  const openings = new Map<string, string>();
  return (raw, style) => {
    // All text on the screen passes here, so unsanitized text of any caller is sanitized here.
    const text = escapeUnsafeLine(raw);
    if (style === undefined || text === '') return text;
    const key = getStyleKey(style);
    let opening = openings.get(key);
    if (opening === undefined) {
      opening = computeOpening(style, theme, depth, chalk);
      openings.set(key, opening);
    }
    return opening === '' ? text : markAsPrintable(opening + text + RESET);
  };
}

function getStyleKey(style: TextStyle): string {
  const { token, background, bold, emphasis, dim, italic, underline, strike, inverse, sgrCodes } = style;
  return [token, background, bold, emphasis, dim, italic, underline, strike, inverse, sgrCodes].join();
}

/**
 * Returns the sequence that chalk writes before text of this style, merged into one: chalk closes each attribute on its
 * own, which costs 12 bytes more for a bold colored word.
 */
function computeOpening(style: TextStyle, theme: Theme, depth: ColorDepth, chalk: ChalkInstance): string {
  if (style.sgrCodes !== undefined) return depth === 'none' ? '' : `\u001b[${style.sgrCodes}m`;
  const backgroundColor = style.background === undefined ? undefined : theme.styles[style.background].color;
  const isColored = backgroundColor !== undefined && depth !== 'none' && depth !== '16';
  const token = isColored ? style.token : (getLineToken(style) ?? style.token);
  const tokenStyle: ThemeTokenStyle = token === undefined ? {} : theme.styles[token];
  const effective = {
    ...style,
    bold: style.bold ?? style.emphasis ?? tokenStyle.bold,
    underline: style.underline ?? (isColored ? undefined : style.emphasis),
    dim: style.dim ?? tokenStyle.dim,
    inverse: style.inverse ?? tokenStyle.inverse,
    strikethrough: style.strike,
  };
  let painter = ATTRIBUTES.reduce((all, name) => (effective[name] === true ? all[name] : all), chalk);
  painter = applyColor(painter, tokenStyle.color, depth, 'color');
  painter = applyColor(painter, backgroundColor, depth, 'bgColor');
  const [opening = ''] = painter(PLACEHOLDER).split(PLACEHOLDER);
  return opening.replaceAll('m\u001b[', ';');
}

/** Without a background, the text of a changed line has the color of the change and no syntax colors. */
function getLineToken({ background }: TextStyle): 'add' | 'del' | undefined {
  if (background === 'addBg') return 'add';
  return background === 'delBg' ? 'del' : undefined;
}

function applyColor(
  painter: ChalkInstance,
  color: ThemeTokenStyle['color'],
  depth: ColorDepth,
  layer: 'color' | 'bgColor',
): ChalkInstance {
  if (color === undefined || depth === 'none') return painter;
  if (!isHex(color)) return painter[layer === 'color' ? color : BACKGROUNDS[color]];
  if (depth === '16') return painter;
  if (depth === 'truecolor') return layer === 'color' ? painter.hex(color) : painter.bgHex(color);
  const nearest = nearest256(...parseHexColor(color));
  return layer === 'color' ? painter.ansi256(nearest) : painter.bgAnsi256(nearest);
}

function isHex(color: string): color is `#${string}` {
  return color.startsWith('#');
}

/** Returns red, green and blue of a `#rrggbb` color, each 0 to 255. @internal Exported for tests. */
export function parseHexColor(hex: string): readonly [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Finds the nearest color of the 6×6×6 cube or the gray ramp. Chalk assumes equal steps, unlike terminals. */
function nearest256(red: number, green: number, blue: number): number {
  const steps = [0, 95, 135, 175, 215, 255];
  const step = (value: number) => {
    const distances = steps.map((level) => Math.abs(level - value));
    return distances.indexOf(Math.min(...distances));
  };
  const [r, g, b] = [step(red), step(green), step(blue)];
  const grayIndex = Math.max(0, Math.min(23, Math.round(((red + green + blue) / 3 - 8) / 10)));
  const grayLevel = 8 + grayIndex * 10;
  const redError = (steps[r] ?? 0) - red;
  const cubeDistance = redError ** 2 + ((steps[g] ?? 0) - green) ** 2 + ((steps[b] ?? 0) - blue) ** 2;
  const grayDistance = (grayLevel - red) ** 2 + (grayLevel - green) ** 2 + (grayLevel - blue) ** 2;
  return grayDistance < cubeDistance ? 232 + grayIndex : 16 + 36 * r + 6 * g + b;
}

/** The selected theme and the color abilities of the terminal. */
export type ThemeChoice = {
  /** Name of a built-in theme, of a custom theme, or `auto`. */
  readonly name: string;
  /** Custom themes of the user by name. They replace built-in themes of the same name. */
  readonly customThemes: ReadonlyMap<string, CustomTheme>;
  readonly background: 'dark' | 'light';
  readonly depth: ColorDepth;
};

/** Creates the paint function for the selected theme. An unknown name means `auto`. */
export function createThemePaint({ name, customThemes, background, depth }: ThemeChoice): Paint {
  const terminal = { depth, background };
  const theme = customThemes.get(name);
  const builtIn = THEME_NAMES.find((themeName) => themeName === name) ?? 'auto';
  return createPaint(
    theme === undefined ? resolveTheme(builtIn, terminal) : resolveCustomTheme(theme, terminal),
    depth,
  );
}
