import type { ScreenOutput } from '../terminal/screen-output.ts';
import type { Drawing } from '../text/drawing.ts';
import { createPaint } from '../theme/paint.ts';
import { resolveTheme } from '../theme/theme.ts';
import { pageRows } from '../viewer/page-rows.ts';

/** An output without a frame: nothing is ever drawn again, so most of what a screen does is nothing here. */
export function createLinearOutput(write: (text: string) => void, drawing: () => Drawing): ScreenOutput {
  const paint = createPaint(resolveTheme('no-color', { depth: 'none', background: 'dark' }), 'none');
  const nothing = () => undefined;
  return {
    put: (view) => view,
    drawing,
    repaint: nothing,
    setTheme: nothing,
    setOwnThemes: nothing,
    setBackground: nothing,
    toAscii: nothing,
    tryTheme: nothing,
    loadColors: async () => undefined,
    hasColors: () => true,
    layOut: (page, shown) => pageRows(page, shown, drawing(), paint),
    height: () => drawing().rows,
    write,
    stepAside: nothing,
    comeBack: nothing,
    close: nothing,
  };
}
