/** Widgets on the terminal; loaded where one is drawn. */

export { joinPrintable } from '../lib/printable.ts';
export { detectTerminalRendering } from '../ui/terminal/detect-rendering.ts';
export { PrintableText } from '../ui/text/Rows.tsx';
export { type RenderContext, ScreenContext, useScreenContext } from '../ui/text/render-context.ts';
export { ASCII_GLYPHS, UNICODE_GLYPHS } from '../ui/theme/glyphs.ts';
export { createThemePaint } from '../ui/theme/paint.ts';
export type { ColorDepth } from '../ui/theme/theme.ts';
