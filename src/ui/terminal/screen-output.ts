import { createElement } from 'react';
import type { Printable } from '../../lib/printable.ts';
import { planScreen, type ScreenPlan } from '../components/plan-screen.ts';
import { Screen } from '../components/Screen.tsx';
import { createPrinter } from '../history/printer.ts';
import type { Drawing } from '../text/drawing.ts';
import type { Highlight } from '../text/line.ts';
import { ASCII_GLYPHS, type Glyphs, UNICODE_GLYPHS } from '../theme/glyphs.ts';
import type { OwnTheme } from '../theme/theme.ts';
import { paintOf, type ThemeChoice } from '../theme/theme-choice.ts';
import { waitingItems } from '../view/history-item.ts';
import type { Overlay } from '../view/overlay.ts';
import type { ViewState } from '../view/view-state.ts';
import type { Shown, ViewerPage, ViewerRow } from '../view/viewer-state.ts';
import { createAlternateScreen } from '../viewer/alternate-screen.ts';
import { inAscii } from './in-ascii.ts';
import type { ScreenOptions } from './screen-options.ts';
import { createStage, type TerminalOut } from './stage.ts';

/** Where a view becomes bytes. */
export type ScreenOutput = {
  /** Prints what is finished, draws what is not, in one go; answers with the view that is left. */
  put(view: ViewState): ViewState;
  /** What a frame of this moment would depend on. */
  drawing(): Drawing;
  repaint(): void;
  setTheme(name: string): void;
  /** The themes a person has written. */
  setOwnThemes(themes: ReadonlyMap<string, OwnTheme>): void;
  /** The terminal has said, or changed, how bright its background is. */
  setBackground(background: 'dark' | 'light'): void;
  /** The terminal draws our signs wider than they are counted: from now on they are ASCII. */
  toAscii(): void;
  /** Draws with a theme for the time being; without a name, with the chosen one. */
  tryTheme(name: string | undefined): void;
  /** Loads what colours code, if it is not there. */
  loadColors(): Promise<void>;
  /** Whether code can be drawn in colour; also where that was tried and failed. */
  hasColors(): boolean;
  /** The rows of a page at the present width. */
  layOut(page: ViewerPage, shown: Shown): readonly ViewerRow[];
  height(): number;
  /** How much of what is asked can be read. */
  inSight(view: ViewState): 'all' | 'call' | 'part';
  write(text: Printable): void;
  stepAside(): void;
  comeBack(): void;
  close(): void;
};

/** So long one picture of the spinner stands. */
export const SPINNER_MS = 250;

/** Draws on a terminal; `cwd` is asked for at every frame. */
export function createScreenOutput(
  out: TerminalOut,
  options: ScreenOptions,
  cwd: () => string,
  onResized: () => void,
): ScreenOutput {
  let glyphs = options.glyphs === 'ascii' ? ASCII_GLYPHS : UNICODE_GLYPHS;
  const { background, depth } = options;
  let choice: ThemeChoice = { name: options.theme, own: new Map(), background, depth };
  let paint = paintOf(choice);
  let highlight: Highlight | undefined;
  let hasTriedColors = false;
  const terminal = inAscii(out, () => glyphs === ASCII_GLYPHS);
  const stage = createStage(terminal, onResized, options.tooWide);
  const printer = createPrinter(options.prose, options.title);

  const drawing = (): Drawing => ({
    ...drawingOf(options, glyphs),
    width: terminal.columns,
    rows: terminal.rows,
    cwd: cwd(),
    highlight,
  });
  const alternate = createAlternateScreen(terminal.write, drawing, () => paint);
  const choose = (changed: Partial<ThemeChoice>) => {
    choice = { ...choice, ...changed };
    paint = paintOf(choice);
  };

  /** A page has the whole screen; what finishes meanwhile waits to be printed. */
  function putPage(view: ViewState, overlay: Extract<Overlay, { kind: 'viewer' }>): ViewState {
    if (!alternate.isOpen()) stage.stepAside();
    return { ...view, overlay: { ...overlay, viewer: alternate.show(overlay.viewer) } };
  }

  return {
    put(view) {
      if (view.overlay?.kind === 'viewer') return putPage(view, view.overlay);
      if (alternate.isOpen()) {
        alternate.leave();
        stage.comeBack();
      }
      const now = drawing();
      const lines = printer.print(waitingItems(view.outbox), now, paint);
      const left = view.outbox === undefined ? view : { ...view, outbox: undefined };
      const plan = planScreen(left, now, printer.carry());
      stage.show({ ...sceneOf(left, plan), look: { drawing: now, paint } }, lines);
      return left;
    },
    drawing,
    repaint: stage.clear,
    setTheme: (theme) => choose({ name: theme }),
    setOwnThemes: (own) => choose({ own }),
    setBackground: (next) => choose({ background: next }),
    tryTheme(theme) {
      paint = paintOf({ ...choice, name: theme ?? choice.name });
    },
    toAscii() {
      glyphs = ASCII_GLYPHS;
    },
    async loadColors() {
      try {
        highlight ??= await (await import('../markdown/highlight.ts')).loadHighlight();
      } finally {
        hasTriedColors = true;
      }
    },
    hasColors: () => hasTriedColors,
    layOut: alternate.layOut,
    height: () => terminal.rows,
    inSight: (view) => planScreen(view, drawing(), printer.carry()).question?.inSight ?? 'all',
    write: (text) => void terminal.write(text),
    stepAside: stage.stepAside,
    comeBack: stage.comeBack,
    close() {
      alternate.leave();
      stage.close();
    },
  };
}

function sceneOf(view: ViewState, plan: ScreenPlan) {
  return { screen: createElement(Screen, { view, plan }), caret: plan.caret };
}

/** What of a drawing depends on the options and the moment. */
function drawingOf({ now, motion, links, depth, times = 'off' }: ScreenOptions, glyphs: Glyphs) {
  const nowMs = now();
  const step = motion === 'full' ? Math.floor(nowMs / SPINNER_MS) % glyphs.spinner.length : 0;
  const marks = depth === 'none' ? ('shown' as const) : ('hidden' as const);
  return { glyphs, nowMs, spinner: glyphs.spinner[step] ?? '', links, marks, times };
}
