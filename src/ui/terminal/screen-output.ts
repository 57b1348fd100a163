import { createElement } from 'react';
import type { Printable } from '../../lib/printable.ts';
import type { Overlay } from '../app-state/overlay.ts';
import type { ViewState } from '../app-state/view-state.ts';
import type { HighlightCode } from '../text/line.ts';
import type { RenderContext } from '../text/render-context.ts';
import { ASCII_GLYPHS, type Glyphs, UNICODE_GLYPHS } from '../theme/glyphs.ts';
import { createThemePaint, type ThemeChoice } from '../theme/paint.ts';
import type { CustomTheme } from '../theme/theme.ts';
import { listUnprintedItems } from '../widgets/history/history-item.ts';
import { createHistoryPrinter } from '../widgets/history/history-lines.ts';
import { layoutScreen, type ScreenLayout } from '../widgets/screen/layout-screen.ts';
import { Screen } from '../widgets/screen/Screen.tsx';
import { createAlternateScreen } from '../widgets/viewer/alternate-screen.ts';
import { createAsciiOutput } from './ascii-output.ts';
import { createScreenFrameWriter, type FrameContent, type TerminalOutput } from './screen-frame-writer.ts';
import type { ScreenOptions } from './screen-options.ts';

/** The output of a screen: renders views to the terminal. */
export type ScreenOutput = ReturnType<typeof createScreenOutput>;

/** Duration of one frame of the spinner. */
export const SPINNER_INTERVAL_MS = 250;

/** Creates the output for a terminal. `cwd` is read for every frame. */
export function createScreenOutput(
  out: TerminalOutput,
  options: ScreenOptions,
  cwd: () => string,
  onResized: () => void,
) {
  let glyphs = options.glyphs === 'ascii' ? ASCII_GLYPHS : UNICODE_GLYPHS;
  const { background, depth } = options;
  let choice: ThemeChoice = { name: options.theme, customThemes: new Map(), background, depth };
  let paint = createThemePaint(choice);
  let highlight: HighlightCode | undefined;
  let isHighlightSettled = false;
  const terminal = createAsciiOutput(out, () => glyphs === ASCII_GLYPHS);
  const host = createScreenFrameWriter(terminal, onResized, options.resizeMode);
  const printer = createHistoryPrinter(options.proseWrap, options.title);

  /** Returns the rendering context of this moment. */
  const getDrawing = (): RenderContext => ({
    ...createDrawing(options, glyphs),
    width: terminal.columns,
    rows: terminal.rows,
    cwd: cwd(),
    highlight,
  });
  const alternate = createAlternateScreen(terminal.write, getDrawing, () => paint);
  const choose = (changed: Partial<ThemeChoice>) => {
    choice = { ...choice, ...changed };
    paint = createThemePaint(choice);
  };

  /** Shows a page on the whole screen. Items that finish meanwhile are printed afterwards. */
  function putPage(view: ViewState, overlay: Extract<Overlay, { kind: 'viewer' }>): ViewState {
    if (!alternate.isOpen()) host.pause();
    return { ...view, overlay: { ...overlay, viewer: alternate.show(overlay.viewer) } };
  }

  return {
    /** Prints finished items and draws the rest in one update. Returns the view without the printed items. */
    render(view: ViewState): ViewState {
      if (view.overlay?.kind === 'viewer') return putPage(view, view.overlay);
      if (alternate.isOpen()) {
        alternate.leave();
        host.resume();
      }
      const now = getDrawing();
      const lines = printer.print(listUnprintedItems(view.outbox), now, paint);
      const rest: ViewState = view.outbox === undefined ? view : { ...view, outbox: undefined };
      const plan = layoutScreen(rest, now, printer.getState());
      host.show({ ...createScene(rest, plan), look: { context: now, paint } }, lines);
      return rest;
    },
    getDrawing,
    /** Erases the frame, so that the next one is drawn from scratch. */
    repaint: host.clear,
    setTheme: (theme: string) => choose({ name: theme }),
    /** Sets the user's custom themes. */
    setCustomThemes: (customThemes: ReadonlyMap<string, CustomTheme>) => choose({ customThemes }),
    /** Sets the background that the terminal has reported. */
    setBackground: (next: 'dark' | 'light') => choose({ background: next }),
    /** Previews a theme; without a name, restores the chosen one. */
    previewTheme(theme: string | undefined) {
      paint = createThemePaint({ ...choice, name: theme ?? choice.name });
    },
    /** Uses ASCII symbols from now on, as the terminal draws the others too wide. */
    switchToAscii() {
      glyphs = ASCII_GLYPHS;
    },
    /** Loads the syntax highlighting, if it is not loaded. */
    async loadHighlighting() {
      try {
        highlight ??= await (await import('../widgets/markdown/highlight.ts')).loadHighlighter();
      } finally {
        isHighlightSettled = true;
      }
    },
    /** Reports whether the syntax highlighting is loaded, or loading it has failed. */
    hasHighlighting: (): boolean => isHighlightSettled,
    /** Lays out a page at the present width. */
    layoutPage: alternate.layOut,
    getHeight: (): number => terminal.rows,
    /** Returns whether the terminal is behind; nothing should be rendered then. */
    isBlocked: (): boolean => terminal.isBlocked?.() === true,
    /** Returns how much of the open question is visible. */
    getQuestionVisibility: (view: ViewState): 'all' | 'call' | 'part' =>
      layoutScreen(view, getDrawing(), printer.getState()).dialog?.inSight ?? 'all',
    write: (text: Printable): void => void terminal.write(text),
    /** Erases the frame and draws nothing until `resume`. */
    pause: host.pause,
    /** Draws again. */
    resume: host.resume,
    close() {
      alternate.leave();
      host.close();
    },
  };
}

function createScene(view: ViewState, layout: ScreenLayout): Omit<FrameContent, 'look'> {
  return { screen: createElement(Screen, { view, layout }), caret: layout.caret };
}

/** Creates the part of the rendering context that depends on the options and the time. */
function createDrawing(
  { now, motion, links, depth, times: timestamps = 'off' }: ScreenOptions,
  glyphs: Glyphs,
): Omit<RenderContext, 'width' | 'rows' | 'cwd' | 'highlight'> {
  const nowMs = now();
  const step = motion === 'full' ? Math.floor(nowMs / SPINNER_INTERVAL_MS) % glyphs.spinner.length : 0;
  const markup = depth === 'none' ? 'shown' : 'hidden';
  return { glyphs, nowMs, spinner: glyphs.spinner[step] ?? '', links, markup, timestamps };
}
