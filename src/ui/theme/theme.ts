/** The colours of the screen, by meaning. Nothing is drawn in a colour that is not one of these. */
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

export type ThemeToken = (typeof THEME_TOKENS)[number];

export type AnsiColor = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** How a token looks: a colour, attributes, or both; an empty look is the terminal's own text. */
export type Look = {
  readonly color?: `#${string}` | AnsiColor;
  readonly bold?: true;
  readonly dim?: true;
  readonly inverse?: true;
};

/** How a piece of text looks: a colour by meaning, and attributes that survive without colour. */
export type Style = {
  readonly token?: ThemeToken;
  readonly background?: 'addBg' | 'delBg' | 'band';
  readonly bold?: true;
  /** Stands out of a coloured background by being bold; where there is none, by a line below it too. */
  readonly mark?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
  /** Somebody's own numbers for the terminal (`38;5;30`), in the place of all others. */
  readonly colors?: string;
};

export type Theme = { readonly name: ThemeName; readonly looks: Readonly<Record<ThemeToken, Look>> };

/** What a person has changed of a theme. */
export type OwnTheme = {
  readonly base: ThemeName | 'auto';
  readonly looks: Readonly<Partial<Record<ThemeToken, Look>>>;
};

export const THEME_NAMES = ['dark', 'light', 'dark-cvd', 'light-cvd', 'ansi', 'no-color'] as const;

export type ThemeName = (typeof THEME_NAMES)[number];

/** How many colours a terminal shows. */
export type ColorDepth = 'none' | '16' | '256' | 'truecolor';

/** What has to be known about a terminal to choose a theme for it. */
export type ThemeSurroundings = { readonly depth: ColorDepth; readonly background: 'dark' | 'light' };

const DARK: Theme['looks'] = {
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

const LIGHT: Theme['looks'] = {
  text: {},
  dim: { color: '#5F6368' },
  accent: { color: '#2456C9' },
  brand: { color: '#8A6200' },
  user: { color: '#1F2430', bold: true },
  ok: { color: '#1A7F37' },
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

const DARK_CVD: Theme['looks'] = {
  ...DARK,
  ok: { color: '#6CB6FF' },
  error: { color: '#FF9E64' },
  add: { color: '#79C0FF' },
  del: { color: '#FFB077' },
  addBg: { color: '#12304F' },
  delBg: { color: '#4A2A12' },
};

const LIGHT_CVD: Theme['looks'] = {
  ...LIGHT,
  ok: { color: '#0B5CAD' },
  error: { color: '#A84300' },
  add: { color: '#0A3069' },
  del: { color: '#7A3500' },
  addBg: { color: '#DDF4FF' },
  delBg: { color: '#FFE9D6' },
};

const ANSI: Theme['looks'] = {
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

const NO_COLOR: Theme['looks'] = {
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

const LOOKS: Readonly<Record<ThemeName, Theme['looks']>> = {
  dark: DARK,
  light: LIGHT,
  'dark-cvd': DARK_CVD,
  'light-cvd': LIGHT_CVD,
  ansi: ANSI,
  'no-color': NO_COLOR,
};

/** The theme to draw with: `auto` follows the background, and no theme asks a terminal for colours it lacks. */
export function resolveTheme(wanted: ThemeName | 'auto', { depth, background }: ThemeSurroundings): Theme {
  if (depth === 'none') return { name: 'no-color', looks: NO_COLOR };
  const name = wanted === 'auto' ? background : wanted;
  if (name === 'no-color' || (depth !== '16' && name !== 'ansi')) return { name, looks: LOOKS[name] };
  // Cyan is unreadable on white, and blue on black.
  return { name: 'ansi', looks: background === 'light' ? { ...ANSI, accent: { color: 'blue' } } : ANSI };
}

/** A theme of one's own over the one it begins with; where there are few colours, only that one. */
export function resolveOwnTheme({ base, looks }: OwnTheme, surroundings: ThemeSurroundings): Theme {
  const theme = resolveTheme(base, surroundings);
  const isColorful = surroundings.depth === '256' || surroundings.depth === 'truecolor';
  return isColorful ? { ...theme, looks: { ...theme.looks, ...looks } } : theme;
}
