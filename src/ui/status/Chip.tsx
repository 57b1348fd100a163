import { sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { Painted } from '../text/Painted.tsx';
import { useLook } from '../text/use-look.ts';
import type { ThemeToken } from '../theme/theme.ts';

/** The permission modes as they are shown; a mode without a row here shows its own name. */
const CHIPS: Readonly<Record<string, { readonly word: string; readonly token: ThemeToken }>> = {
  default: { word: 'ask', token: 'accent' },
  acceptEdits: { word: 'edits', token: 'warn' },
  plan: { word: 'plan', token: 'code' },
  auto: { word: 'auto', token: 'warn' },
  dontAsk: { word: "don't ask", token: 'accent' },
  bypassPermissions: { word: 'all!', token: 'error' },
};

/** The permission mode, in its colour. */
export function Chip({ mode }: { readonly mode: string }) {
  const { paint } = useLook();
  return (
    <Painted>
      {paint(` ${wordOf(mode)} `, { token: CHIPS[mode]?.token ?? 'accent', bold: true, inverse: true })}
    </Painted>
  );
}

/** How many columns it takes. */
export function chipWidth(mode: string): number {
  return textWidth(wordOf(mode)) + 2;
}

function wordOf(mode: string): string {
  return CHIPS[mode]?.word ?? sanitize(mode, 'line');
}
