import { render } from 'ink';
import { createElement } from 'react';
import type { Drawing } from '../text/drawing.ts';
import { LookContext } from '../text/use-look.ts';
import { ASCII_GLYPHS, UNICODE_GLYPHS } from '../theme/glyphs.ts';
import type { ColorDepth } from '../theme/theme.ts';
import { paintOf } from '../theme/theme-choice.ts';
import { type BatchPicture, BatchScreen } from './BatchScreen.tsx';

export type BatchScreenLook = {
  readonly depth: ColorDepth;
  readonly background: 'dark' | 'light';
  readonly glyphs: 'unicode' | 'ascii';
};

/** The screen of a batch while it is open. */
export type OpenBatchScreen = { readonly show: (picture: BatchPicture) => void; readonly close: () => void };

/** Frames a second at most: what changes faster nobody can read. */
const MOST_FRAMES = 8;

/** Opens the screen on a terminal; it stays below what was printed before and leaves nothing behind. */
export function openBatchScreen(out: NodeJS.WriteStream, look: BatchScreenLook): OpenBatchScreen {
  const glyphs = look.glyphs === 'unicode' ? UNICODE_GLYPHS : ASCII_GLYPHS;
  const paint = paintOf({ name: 'auto', own: new Map(), background: look.background, depth: look.depth });
  let frame = 0;

  function screenOf(picture: BatchPicture) {
    const rows = out.rows ?? 24;
    frame += 1;
    const drawing: Drawing = {
      width: out.columns ?? 80,
      rows,
      glyphs,
      nowMs: Date.now(),
      spinner: glyphs.spinner[frame % glyphs.spinner.length] ?? '',
      cwd: '',
      links: 'printed',
      marks: 'shown',
      highlight: undefined,
    };
    const screen = createElement(BatchScreen, { picture, rows: rows - 1 });
    return createElement(LookContext, { value: { drawing, paint } }, screen);
  }

  let opened: ReturnType<typeof render> | undefined;
  return {
    show(picture) {
      const screen = screenOf(picture);
      if (opened === undefined)
        opened = render(screen, { stdout: out, exitOnCtrlC: false, patchConsole: false, maxFps: MOST_FRAMES });
      else opened.rerender(screen);
    },
    close() {
      opened?.clear();
      opened?.unmount();
    },
  };
}
