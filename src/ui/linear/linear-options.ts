import type { Printable } from '../../lib/printable.ts';
import type { EffectOutput } from '../effects/effect-host.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import type { TerminalOut } from '../terminal/stage.ts';
import type { Drawing } from '../text/drawing.ts';
import { ASCII_GLYPHS } from '../theme/glyphs.ts';
import { createPaint } from '../theme/paint.ts';
import { resolveTheme } from '../theme/theme.ts';
import { pageRows } from '../viewer/page-rows.ts';

/** Why lines are only added, and what the terminal can do with a line that is edited. */
export type LinearOptions = ScreenOptions & { readonly why: string; readonly lineEditing: 'own' | 'none' };

/** What lines depend on: no colours, no signs beyond ASCII. */
export function linearDrawing({ columns, rows }: TerminalOut, nowMs: number, cwd: string): Drawing {
  return {
    width: Math.max(20, columns),
    rows,
    glyphs: ASCII_GLYPHS,
    nowMs,
    spinner: '',
    cwd,
    links: 'printed',
    marks: 'shown',
    highlight: undefined,
  };
}

/** An output without a frame: nothing is ever drawn again, so most of what a screen does is nothing here. */
export function linearOutput(write: (text: Printable) => void, drawing: () => Drawing): EffectOutput {
  const paint = createPaint(resolveTheme('no-color', { depth: 'none', background: 'dark' }), 'none');
  const nothing = () => undefined;
  return {
    setTheme: nothing,
    setOwnThemes: nothing,
    tryTheme: nothing,
    loadColors: async () => undefined,
    hasColors: () => true,
    layOut: (page, shown) => pageRows(page, shown, drawing(), paint),
    height: () => drawing().rows,
    write,
  };
}
