import type { AnsiColor, ColorDepth, Look, Style, Theme } from './theme.ts';

/** Text with the escape sequences of a style around it; text without style comes back as it is. */
export type Paint = (text: string, style: Style | undefined) => string;

const ANSI_CODES: Readonly<Record<AnsiColor, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
};
const RESET = '\u001b[0m';

/** A painter for one theme on one terminal. It keeps the sequences it has worked out. */
export function createPaint(theme: Theme, depth: ColorDepth): Paint {
  const known = new Map<string, string>();
  return (text, style) => {
    if (style === undefined || text === '') return text;
    const key = keyOf(style);
    let opening = known.get(key);
    if (opening === undefined) {
      opening = openingOf(style, theme, depth);
      known.set(key, opening);
    }
    return opening === '' ? text : opening + text + RESET;
  };
}

function keyOf(style: Style): string {
  const { token, background, bold, dim, italic, underline, strike, inverse } = style;
  return [token, background, bold, dim, italic, underline, strike, inverse].join();
}

function openingOf(style: Style, theme: Theme, depth: ColorDepth): string {
  const look: Look = style.token === undefined ? {} : theme.looks[style.token];
  const codes: (number | string)[] = [];
  if (style.bold || look.bold) codes.push(1);
  if (style.dim || look.dim) codes.push(2);
  if (style.italic) codes.push(3);
  if (style.underline) codes.push(4);
  if (style.inverse || look.inverse) codes.push(7);
  if (style.strike) codes.push(9);
  const foreground = colorCodes(look.color, depth, 'foreground');
  if (foreground !== undefined) codes.push(foreground);
  const background = style.background && colorCodes(theme.looks[style.background].color, depth, 'background');
  if (background !== undefined) codes.push(background);
  return codes.length === 0 ? '' : `\u001b[${codes.join(';')}m`;
}

function colorCodes(color: Look['color'], depth: ColorDepth, layer: 'foreground' | 'background'): string | undefined {
  if (color === undefined || depth === 'none') return undefined;
  if (!isHex(color)) return String(ANSI_CODES[color] + (layer === 'background' ? 10 : 0));
  const selector = layer === 'background' ? 48 : 38;
  const [red, green, blue] = channelsOf(color);
  if (depth === 'truecolor') return `${selector};2;${red};${green};${blue}`;
  return depth === '256' ? `${selector};5;${nearest256(red, green, blue)}` : undefined;
}

function isHex(color: string): color is `#${string}` {
  return color.startsWith('#');
}

/** Red, green and blue of a `#rrggbb` colour, 0 to 255. */
export function channelsOf(hex: string): readonly [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** The nearest colour of the 6×6×6 cube or the grey ramp. */
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
