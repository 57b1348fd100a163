import { drawScreen } from '../components/draw-screen.ts';
import { createPrinter } from '../history/printer.ts';
import type { Drawing } from '../text/drawing.ts';
import type { Highlight } from '../text/line.ts';
import { ASCII_GLYPHS, UNICODE_GLYPHS } from '../theme/glyphs.ts';
import { createPaint } from '../theme/paint.ts';
import { type OwnTheme, resolveOwnTheme, resolveTheme, THEME_NAMES } from '../theme/theme.ts';
import type { ViewState } from '../view/view-state.ts';
import { type Shown, type ViewerPage, type ViewerRow, withRows } from '../view/viewer-state.ts';
import { createAlternateScreen } from '../viewer/alternate-screen.ts';
import { drawViewer } from '../viewer/draw-viewer.ts';
import { pageRows } from '../viewer/page-rows.ts';
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
  write(text: string): void;
  stepAside(): void;
  comeBack(view: ViewState): void;
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
  const terminal = inAscii(out, () => glyphs === ASCII_GLYPHS);
  const stage = createStage(terminal, onResized);
  const alternate = createAlternateScreen((text) => terminal.write(text));
  const printer = createPrinter(options.prose, options.title);
  let { background } = options;
  let ownThemes: ReadonlyMap<string, OwnTheme> = new Map();
  const painter = (name: string) => {
    const own = ownThemes.get(name);
    const around = { depth: options.depth, background };
    const wanted = THEME_NAMES.find((one) => one === name) ?? 'auto';
    return createPaint(own === undefined ? resolveTheme(wanted, around) : resolveOwnTheme(own, around), options.depth);
  };
  let chosen: string = options.theme;
  let paint = painter(chosen);
  let highlight: Highlight | undefined;
  let colors: 'none' | 'tried' = 'none';
  let isOnPage = false;
  let pageWidth = 0;

  function drawing(): Drawing {
    const nowMs = options.now();
    const step = options.motion === 'full' ? Math.floor(nowMs / SPINNER_MS) % glyphs.spinner.length : 0;
    return {
      width: terminal.columns,
      rows: terminal.rows,
      glyphs,
      nowMs,
      spinner: glyphs.spinner[step] ?? '',
      cwd: cwd(),
      links: options.links,
      marks: options.depth === 'none' ? 'shown' : 'hidden',
      highlight,
    };
  }

  const frameOf = (view: ViewState) => drawScreen(view, drawing(), printer.carry(), paint);

  function layOut(page: ViewerPage, shown: Shown): readonly ViewerRow[] {
    pageWidth = terminal.columns;
    return pageRows(page, shown, drawing(), paint);
  }

  /** A page has the whole screen; what finishes meanwhile waits to be printed. */
  function putPage(view: ViewState): ViewState {
    if (view.overlay?.kind !== 'viewer') return view;
    if (!isOnPage) {
      stage.stepAside();
      alternate.enter();
      isOnPage = true;
    }
    const { viewer } = view.overlay;
    const fitting =
      pageWidth === terminal.columns ? viewer : withRows(viewer, layOut(viewer.page, viewer.shown), terminal.rows);
    alternate.show(drawViewer(fitting, drawing(), paint));
    return { ...view, overlay: { ...view.overlay, viewer: fitting } };
  }

  function leavePage(view: ViewState): void {
    if (!isOnPage) return;
    isOnPage = false;
    alternate.leave();
    stage.comeBack(frameOf(view));
  }

  return {
    put(view) {
      if (view.overlay?.kind === 'viewer') return putPage(view);
      leavePage(view);
      const lines = printer.print(view.outbox, drawing(), paint);
      const left = view.outbox.length === 0 ? view : { ...view, outbox: [] };
      const frame = frameOf(left);
      if (lines.length > 0) stage.commit(lines, frame);
      else stage.show(frame);
      return left;
    },
    drawing,
    repaint: () => stage.clear(),
    setTheme(name) {
      chosen = name;
      paint = painter(name);
    },
    setOwnThemes(themes) {
      ownThemes = themes;
      paint = painter(chosen);
    },
    setBackground(next) {
      background = next;
      paint = painter(chosen);
    },
    toAscii() {
      glyphs = ASCII_GLYPHS;
    },
    tryTheme(name) {
      paint = painter(name ?? chosen);
    },
    async loadColors() {
      try {
        highlight ??= await (await import('../markdown/highlight.ts')).loadHighlight();
      } finally {
        colors = 'tried';
      }
    },
    hasColors: () => colors === 'tried',
    layOut,
    height: () => terminal.rows,
    write: (text) => void terminal.write(text),
    stepAside: () => stage.stepAside(),
    comeBack: (view) => stage.comeBack(frameOf(view)),
    close() {
      if (isOnPage) alternate.leave();
      stage.close();
    },
  };
}
