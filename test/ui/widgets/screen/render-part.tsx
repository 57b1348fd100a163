import { render } from 'ink-testing-library';
import type { ReactElement } from 'react';
import { markAsPrintable } from '../../../../src/lib/printable.ts';
import { type RenderContext, ScreenContext, type ScreenContextValue } from '../../../../src/ui/text/render-context.ts';

import { UNICODE_GLYPHS } from '../../../../src/ui/theme/glyphs.ts';

/** A terminal of eighty columns at a moment that is known. */
export const DRAWING: RenderContext = {
  width: 80,
  rows: 24,
  glyphs: UNICODE_GLYPHS,
  nowMs: 10_000,
  spinner: '◐',
  cwd: '/home/me/proj',
  links: 'printed',
  markup: 'hidden',
  highlight: undefined,
};

/** The rows of a part of the screen, without colours. */
export function renderPart(part: ReactElement, drawing: Partial<RenderContext> = {}): readonly string[] {
  const look: ScreenContextValue = { context: { ...DRAWING, ...drawing }, paint: markAsPrintable };
  const frame = withHeight(() => {
    const { lastFrame, unmount } = render(<ScreenContext value={look}>{part}</ScreenContext>);
    const drawn = lastFrame() ?? '';
    unmount();
    return drawn;
  });
  return frame === '' ? [] : frame.split('\n').map((row) => row.trimEnd());
}

/** The terminal of the library has no height, which Ink would ask two programs for at each drawing. */
function withHeight<T>(draw: () => T): T {
  const { COLUMNS, LINES } = process.env;
  Object.assign(process.env, { COLUMNS: '100', LINES: '100' });
  try {
    return draw();
  } finally {
    setOrDelete('COLUMNS', COLUMNS);
    setOrDelete('LINES', LINES);
  }
}

function setOrDelete(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
