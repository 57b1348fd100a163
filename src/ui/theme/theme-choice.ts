import { createPaint, type Paint } from './paint.ts';
import { type ColorDepth, type OwnTheme, resolveOwnTheme, resolveTheme, THEME_NAMES } from './theme.ts';

/** What decides about the colours of a screen. */
export type ThemeChoice = {
  /** One of ours, `auto`, or one of the person's own. */
  readonly name: string;
  readonly own: ReadonlyMap<string, OwnTheme>;
  readonly background: 'dark' | 'light';
  readonly depth: ColorDepth;
};

/** The painter for a choice; a name that nobody knows means `auto`. */
export function paintOf({ name, own, background, depth }: ThemeChoice): Paint {
  const around = { depth, background };
  const theme = own.get(name);
  const ours = THEME_NAMES.find((one) => one === name) ?? 'auto';
  return createPaint(theme === undefined ? resolveTheme(ours, around) : resolveOwnTheme(theme, around), depth);
}
