/** The semantic colors of the screen. All text except the output of a status line script is drawn in these. */
export const THEME_TOKENS = [
  'text',
  'dim',
  'accent',
  'brand',
  'user',
  'ok',
  'warn',
  'error',
  'add',
  'del',
  'addBg',
  'delBg',
  'band',
  'code',
  'select',
] as const;

/** The name of a semantic color. */
export type ThemeToken = (typeof THEME_TOKENS)[number];

/** A color by its ANSI name; the terminal decides about its shade. */
export type AnsiColor = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** The style of a token: a color, attributes, or both. Empty: the default text style of the terminal. */
export type ThemeTokenStyle = {
  readonly color?: `#${string}` | AnsiColor;
  readonly bold?: true;
  readonly dim?: true;
  readonly inverse?: true;
};

/** The style of a piece of text: a semantic color, and attributes that also show without color. */
export type TextStyle = {
  readonly token?: ThemeToken;
  readonly background?: 'addBg' | 'delBg' | 'band';
  readonly bold?: true;
  /** Emphasis on a colored background: bold, and underlined where the background has no color. */
  readonly emphasis?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
  /** Raw SGR parameters (`38;5;30`), which replace all other attributes. */
  readonly sgrCodes?: string;
};

/** A theme: its name and the style of each token. */
export type Theme = { readonly name: ThemeName; readonly styles: Readonly<Record<ThemeToken, ThemeTokenStyle>> };

/** A theme of the user: a base theme and the styles that differ from it. */
export type CustomTheme = {
  readonly base: ThemeName | 'auto';
  readonly styles: Readonly<Partial<Record<ThemeToken, ThemeTokenStyle>>>;
};

/** The names of the built-in themes; `cvd` is for color vision deficiency. */
export const THEME_NAMES = ['dark', 'light', 'dark-cvd', 'light-cvd', 'ansi', 'no-color'] as const;

/** The name of a built-in theme. */
export type ThemeName = (typeof THEME_NAMES)[number];

/** The number of colors a terminal shows. */
export type ColorDepth = 'none' | '16' | '256' | 'truecolor';

/** The properties of a terminal that a theme depends on. */
export type TerminalColors = { readonly depth: ColorDepth; readonly background: 'dark' | 'light' };

const DARK: Theme['styles'] = {
  text: {},
  dim: { color: '#9AA0A6' },
  accent: { color: '#7AA2F7' },
  brand: { color: '#E5B550' },
  user: { color: '#C0CAF5', bold: true },
  ok: { color: '#7FC97F' },
  warn: { color: '#E0AF68' },
  error: { color: '#F7768E' },
  add: { color: '#9ECE6A' },
  del: { color: '#F7768E' },
  addBg: { color: '#1F3A24' },
  delBg: { color: '#43202A' },
  band: { color: '#282C34' },
  code: { color: '#BB9AF7' },
  select: { inverse: true },
};

const LIGHT: Theme['styles'] = {
  text: {},
  dim: { color: '#5F6368' },
  accent: { color: '#2456C9' },
  brand: { color: '#8A6200' },
  user: { color: '#1F2430', bold: true },
  ok: { color: '#187A34' },
  warn: { color: '#8A5A00' },
  error: { color: '#B3261E' },
  add: { color: '#116329' },
  del: { color: '#82071E' },
  addBg: { color: '#DAFBE1' },
  delBg: { color: '#FFEBE9' },
  band: { color: '#EEF0F4' },
  code: { color: '#6F42C1' },
  select: { inverse: true },
};

const DARK_CVD: Theme['styles'] = {
  ...DARK,
  ok: { color: '#6CB6FF' },
  error: { color: '#FF9E64' },
  add: { color: '#79C0FF' },
  del: { color: '#FFB077' },
  addBg: { color: '#12304F' },
  delBg: { color: '#4A2A12' },
};

const LIGHT_CVD: Theme['styles'] = {
  ...LIGHT,
  ok: { color: '#0B5CAD' },
  error: { color: '#A84300' },
  add: { color: '#0A3069' },
  del: { color: '#7A3500' },
  addBg: { color: '#DDF4FF' },
  delBg: { color: '#FFE9D6' },
};

const ANSI: Theme['styles'] = {
  text: {},
  dim: { dim: true },
  accent: { color: 'cyan' },
  brand: { color: 'yellow' },
  user: { bold: true },
  ok: { color: 'green' },
  warn: { color: 'yellow' },
  error: { color: 'red' },
  add: { color: 'green' },
  del: { color: 'red' },
  addBg: {},
  delBg: {},
  band: {},
  code: { color: 'magenta' },
  select: { inverse: true },
};

const NO_COLOR: Theme['styles'] = {
  text: {},
  dim: { dim: true },
  accent: { bold: true },
  brand: { bold: true },
  user: { bold: true },
  ok: {},
  warn: { bold: true },
  error: { bold: true },
  add: {},
  del: { dim: true },
  addBg: {},
  delBg: {},
  band: {},
  code: {},
  select: { inverse: true },
};

const THEME_STYLES: Readonly<Record<ThemeName, Theme['styles']>> = {
  dark: DARK,
  light: LIGHT,
  'dark-cvd': DARK_CVD,
  'light-cvd': LIGHT_CVD,
  ansi: ANSI,
  'no-color': NO_COLOR,
};

/** Resolves a theme name: `auto` follows the background, and terminals with few colors get a theme without others. */
export function resolveTheme(requested: ThemeName | 'auto', { depth, background }: TerminalColors): Theme {
  if (depth === 'none') return { name: 'no-color', styles: NO_COLOR };
  const name = requested === 'auto' ? background : requested;
  if (name === 'no-color' || (depth !== '16' && name !== 'ansi')) return { name, styles: THEME_STYLES[name] };
  // Cyan is unreadable on white, blue on black.
  return { name: 'ansi', styles: background === 'light' ? { ...ANSI, accent: { color: 'blue' } } : ANSI };
}

/** Resolves a custom theme on top of its base theme. Terminals with few colors get the base theme only. */
export function resolveCustomTheme({ base, styles }: CustomTheme, terminal: TerminalColors): Theme {
  const theme = resolveTheme(base, terminal);
  const isColorful = terminal.depth === '256' || terminal.depth === 'truecolor';
  return isColorful ? { ...theme, styles: { ...theme.styles, ...styles } } : theme;
}
