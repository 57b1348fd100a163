import { z } from 'zod';
import type { ThemeFile } from '../../contracts/face/screen-settings.ts';
import { messageOf } from '../../lib/errors.ts';
import { type Look, type OwnTheme, THEME_NAMES, THEME_TOKENS } from './theme.ts';

const color = z.union([
  z.templateLiteral(['#', z.string().regex(/^[0-9a-f]{6}$/i)]),
  z.enum(['red', 'green', 'yellow', 'blue', 'magenta', 'cyan']),
]);
const on = z.literal(true).optional();
const look = z.union([
  color.transform((one): Look => ({ color: one })),
  z.strictObject({ color: color.optional(), bold: on, dim: on, inverse: on }).transform(given),
]);
const base = z.enum(['auto', ...THEME_NAMES]).default('auto');
const looks = z.partialRecord(z.enum(THEME_TOKENS), look);

/** A theme as it stands in a file: `base` and any of the tokens; or a sentence about what is wrong with it. */
export function readOwnTheme({
  path,
  text,
}: ThemeFile): { readonly ok: true; readonly theme: OwnTheme } | { readonly ok: false; readonly why: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, why: `${path} is no JSON (${messageOf(thrown)}), so the theme in it is left out.` };
  }
  const head = z.looseObject({ base }).safeParse(value);
  if (!head.success) return { ok: false, why: `${path} is no theme: ${wrong(head.error, 'base')}` };
  const { base: under, ...rest } = head.data;
  const unknown = Object.keys(rest).find((name) => !THEME_TOKENS.some((token) => token === name));
  if (unknown !== undefined) {
    return { ok: false, why: `${path} is no theme: there is no "${unknown}". There are: ${THEME_TOKENS.join(', ')}.` };
  }
  const colors = looks.safeParse(rest);
  if (!colors.success) return { ok: false, why: `${path} is no theme: ${wrong(colors.error, '')}` };
  return { ok: true, theme: { base: under, looks: colors.data } };
}

function wrong(error: z.ZodError, otherwise: string): string {
  const name = String(error.issues[0]?.path[0] ?? otherwise);
  return name === 'base'
    ? `base is one of auto, ${THEME_NAMES.join(', ')}.`
    : `${name} is a colour like "#7aa2f7" or "cyan", or {"color": …, "bold": true}.`;
}

function given({
  color: own,
  bold,
  dim,
  inverse,
}: {
  color?: Look['color'];
  bold?: true;
  dim?: true;
  inverse?: true;
}): Look {
  return {
    ...(own === undefined ? {} : { color: own }),
    ...(bold && { bold }),
    ...(dim && { dim }),
    ...(inverse && { inverse }),
  };
}
