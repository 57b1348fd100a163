import { z } from 'zod';
import type { ThemeFile } from '../../contracts/frontend/frontend-settings.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { type CustomTheme, THEME_NAMES, THEME_TOKENS, type TokenStyle } from './theme.ts';

const colorSchema = z.union([
  z.templateLiteral(['#', z.string().regex(/^[0-9a-f]{6}$/i)]),
  z.enum(['red', 'green', 'yellow', 'blue', 'magenta', 'cyan']),
]);
const flag = z.literal(true).optional();
const styleSchema = z.union([
  colorSchema.transform((value): TokenStyle => ({ color: value })),
  z.strictObject({ color: colorSchema.optional(), bold: flag, dim: flag, inverse: flag }).transform(omitUndefined),
]);
const baseSchema = z.enum(['auto', ...THEME_NAMES]).default('auto');
const stylesSchema = z.partialRecord(z.enum(THEME_TOKENS), styleSchema);

/** Parses a theme file: `base` and any of the tokens. Returns an error message for a file that is not a theme. */
export function parseThemeFile({
  path,
  text,
}: ThemeFile): { readonly ok: true; readonly theme: CustomTheme } | { readonly ok: false; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `Theme file ${path} is ignored: invalid JSON (${getErrorMessage(error)}).` };
  }
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

function describeError(error: z.ZodError, otherwise: string): string {
  const name = String(error.issues[0]?.path[0] ?? otherwise);
  return name === 'base'
    ? `base must be one of auto, ${THEME_NAMES.join(', ')}.`
    : `${name} must be a color like "#7aa2f7" or "cyan", or {"color": …, "bold": true}.`;
}

function omitUndefined({
  color,
  bold,
  dim,
  inverse,
}: {
  color?: TokenStyle['color'];
  bold?: true;
  dim?: true;
  inverse?: true;
}): TokenStyle {
  return {
    ...(color === undefined ? {} : { color }),
    ...(bold && { bold }),
    ...(dim && { dim }),
    ...(inverse && { inverse }),
  };
}
