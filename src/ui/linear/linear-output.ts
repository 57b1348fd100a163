import type { Interface } from 'node:readline';
import { getErrorMessage } from '../../lib/errors.ts';
import { joinPrintable, type Printable, printable } from '../../lib/printable.ts';
import { escapeUnsafeLine } from '../../lib/text/sanitize.ts';
import { isBusy, type ViewState } from '../app-state/view-state.ts';
import type { EffectScreenOutput } from '../effects/ui-effect-host.ts';
import type { ScreenTerminal } from '../open-screen.ts';
import { createAsciiOutput } from '../terminal/ascii-output.ts';
import type { TerminalOutput } from '../terminal/screen-frame-writer.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import { DEFAULT_EDITOR, editInEditor } from '../terminal/terminal-handover.ts';
import type { RenderContext } from '../text/render-context.ts';
import { ASCII_GLYPHS } from '../theme/glyphs.ts';
import { createPaint } from '../theme/paint.ts';
import { resolveTheme } from '../theme/theme.ts';
import { renderPageRows } from '../widgets/viewer/page-rows.ts';

/** Writes lines below the line being typed. While an editor uses the terminal, lines are queued. */
export type LinearWriter = ReturnType<typeof createLinearWriter>;

/** Creates the writer of the linear screen, which keeps its prompt below all output. */
export function createLinearWriter(
  reader: Interface,
  terminal: ScreenTerminal,
  { lineEditing, editor = DEFAULT_EDITOR }: LinearScreenOptions,
  view: () => ViewState,
) {
  const out = createAsciiOutput(terminal.out);
  let queued: string[] | undefined;
  let isClosed = false;

  /** Writes text unchanged at the cursor. */
  const write = (text: Printable) => void out.write(text);

  /** Writes lines; they are sanitized first. */
  function writeLines(lines: readonly string[]): void {
    queued?.push(...lines);
    if (lines.length === 0 || isClosed || queued !== undefined) return;
    write(
      printable`${reader.line === '' ? printable`\r` : printable`\r\n`}${joinPrintable(lines.map(sanitizeLinearLine))}`,
    );
    // Shows the line being typed again.
    if (!isBusy(view()) || view().dialogRequests.length > 0 || reader.line !== '') reader.prompt(true);
  }

  return {
    write,
    writeLines,
    /** Opens text in the user's editor. Returns the saved text; `undefined` after a failure, which is reported. */
    async editFile(text: string, name: string): Promise<string | undefined> {
      if (queued !== undefined) return undefined;
      queued = [];
      reader.pause();
      if (lineEditing === 'own') terminal.in.setRawMode(false);
      let saved: string | undefined;
      let problem: readonly string[] = [];
      try {
        saved = await editInEditor(text, editor, name);
      } catch (thrown) {
        problem = [getErrorMessage(thrown)];
      }
      if (lineEditing === 'own') terminal.in.setRawMode(true);
      reader.resume();
      const lines = queued;
      queued = undefined;
      writeLines([...lines, ...problem]);
      return saved;
    },
    /** Ends the line. Nothing is written afterwards. */
    close() {
      isClosed = true;
      write(printable`\r\n`);
    },
  };
}

/** Sanitizes a line and adds the line end. */
export function sanitizeLinearLine(line: string): Printable {
  return printable`${escapeUnsafeLine(line)}\r\n`;
}

/** The options of the linear screen: the reason for using it, and the line editing of the terminal. */
export type LinearScreenOptions = ScreenOptions & { readonly reason: string; readonly lineEditing: 'own' | 'none' };

/** Creates the rendering context of the linear screen: no colours, ASCII only. */
export function createLinearRenderContext(
  { columns, rows }: TerminalOutput,
  nowMs: number,
  cwd: string,
): RenderContext {
  return {
    width: Math.max(20, columns),
    rows,
    glyphs: ASCII_GLYPHS,
    nowMs,
    spinner: '',
    cwd,
    links: 'printed',
    markup: 'shown',
    highlight: undefined,
  };
}

/** Creates an output without a frame. Nothing is redrawn, so most operations do nothing. */
export function createLinearOutput(write: (text: Printable) => void, drawing: () => RenderContext): EffectScreenOutput {
  const paint = createPaint(resolveTheme('no-color', { depth: 'none', background: 'dark' }), 'none');
  const noop = () => undefined;
  return {
    setTheme: noop,
    setCustomThemes: noop,
    previewTheme: noop,
    loadHighlighting: async () => undefined,
    hasHighlighting: () => true,
    layoutPage: (page, shown) => renderPageRows(page, shown, drawing(), paint),
    getHeight: () => drawing().rows,
    write,
  };
}
