import { z } from 'zod';
import type { ThemeFile } from '../../contracts/frontend/frontend-settings.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import {
  type CustomTheme,
  THEME_NAMES,
  THEME_TOKENS,
  type ThemeName,
  type ThemeToken,
  type ThemeTokenStyle,
} from './theme.ts';

const colorSchema = z.union([
  z.templateLiteral(['#', z.string().regex(/^[0-9a-f]{6}$/i)]),
  z.enum(['red', 'green', 'yellow', 'blue', 'magenta', 'cyan']),
]);
const flag = z.literal(true).optional();
const styleSchema = z.union([
  colorSchema.transform((value): ThemeTokenStyle => ({ color: value })),
  z.strictObject({ color: colorSchema.optional(), bold: flag, dim: flag, inverse: flag }).transform(omitUndefined),
]);
const baseSchema = z.enum(['auto', ...THEME_NAMES]).default('auto');
const stylesSchema = z.partialRecord(z.enum(THEME_TOKENS), styleSchema);

/** Parses a theme file (`base` and tokens, or a theme of Claude Code), or returns an error message. */
export function parseThemeFile({
  path,
  text,
}: ThemeFile): { readonly ok: true; readonly theme: CustomTheme } | { readonly ok: false; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `Theme file ${path} is ignored: invalid JSON (${getErrorPhrase(error)}).` };
  }
  const foreign = foreignSchema.safeParse(value);
  if (foreign.success) return { ok: true, theme: convertForeignTheme(foreign.data) };
  const head = z.looseObject({ base: baseSchema }).safeParse(value);
  if (!head.success)
    return { ok: false, problem: `Theme file ${path} is ignored: ${describeError(head.error, 'base')}` };
  const { base: baseName, ...rest } = head.data;
  const unknown = Object.keys(rest).find((name) => !THEME_TOKENS.some((token) => token === name));
  if (unknown !== undefined) {
    return {
      ok: false,
      problem: `Theme file ${path} is ignored: unknown key "${unknown}". Valid keys: base, ${THEME_TOKENS.join(', ')}.`,
    };
  }
  const colors = stylesSchema.safeParse(rest);
  if (!colors.success)
    return { ok: false, problem: `Theme file ${path} is ignored: ${describeError(colors.error, '')}` };
  return { ok: true, theme: { base: baseName, styles: colors.data } };
}

/** A theme of Claude Code, as plugins publish it: a base and the colors that differ from it. */
const foreignSchema = z.looseObject({ base: z.string().default('dark'), overrides: z.record(z.string(), z.unknown()) });

const FOREIGN_BASES: Readonly<Record<string, ThemeName>> = {
  light: 'light',
  'dark-daltonized': 'dark-cvd',
  'light-daltonized': 'light-cvd',
  'dark-ansi': 'ansi',
  'light-ansi': 'ansi',
};

/** Tokens of Claude Code with the same role here; other tokens are ignored. */
const FOREIGN_TOKENS: Readonly<Record<string, readonly ThemeToken[]>> = {
  claude: ['brand', 'accent'],
  text: ['text'],
  inactive: ['dim'],
  success: ['ok'],
  warning: ['warn'],
  error: ['error'],
  diffAdded: ['addBg'],
  diffRemoved: ['delBg'],
};

function convertForeignTheme({ base, overrides }: z.output<typeof foreignSchema>): CustomTheme {
  const styles = Object.entries(overrides).flatMap(([name, value]) => {
    const color = Object.hasOwn(FOREIGN_TOKENS, name) ? parseForeignColor(String(value)) : undefined;
    return color === undefined ? [] : (FOREIGN_TOKENS[name] ?? []).map((token) => [token, { color }] as const);
  });
  return { base: FOREIGN_BASES[base] ?? 'dark', styles: Object.fromEntries(styles) };
}

/** Parses `#rrggbb`, `#rgb`, `rgb(r,g,b)` or `ansi:name`; `undefined` for colors that have no counterpart. */
function parseForeignColor(text: string): ThemeTokenStyle['color'] {
  const [, short] = /^#([0-9a-f]{3})$/i.exec(text) ?? [];
  const [, ...channels] = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text) ?? [];
  const hex =
    short === undefined
      ? channels.map((channel) => Math.min(255, Number(channel)).toString(16).padStart(2, '0')).join('')
      : [...short].map((digit) => digit + digit).join('');
  const name = text.replace(/^ansi:(\w+?)(?:Bright)?$/, '$1');
  const parsed = colorSchema.safeParse(hex === '' ? name : `#${hex}`);
  return parsed.success ? parsed.data : undefined;
}

function describeError(error: z.ZodError, otherwise: string): string {
  const name = String(error.issues[0]?.path[0] ?? otherwise);
  return name === 'base'
    ? `base must be one of auto, ${THEME_NAMES.join(', ')}.`
    : `${name} must be a color like "#7aa2f7" or "cyan", or {"color": …, "bold": true}.`;
}
