import { Box } from 'ink';
import { createElement } from 'react';
import { printable } from '../../../lib/printable.ts';
import { createAsciiOutput } from '../../terminal/ascii-output.ts';
import { createScreenFrameWriter, type TerminalOutput } from '../../terminal/screen-frame-writer.ts';
import type { ScreenOptions } from '../../terminal/screen-options.ts';
import { BACKGROUND_QUERY, followsBackground } from '../../terminal/terminal-modes.ts';
import { Rows } from '../../text/Rows.tsx';
import type { RenderContext } from '../../text/render-context.ts';
import { ASCII_GLYPHS, UNICODE_GLYPHS } from '../../theme/glyphs.ts';
import { createThemePaint } from '../../theme/paint.ts';
import { Dialog } from '../permission-dialog/Dialog.tsx';
import { type FirstRunLayout, layoutFirstRun } from './layout-first-run.ts';
import type { FirstRunRenderer } from './line-renderer.ts';

/** The first-run screen: the program, the folder, and the open question. @internal Exported for tests. */
export function FirstRun({ layout: { head, dialog } }: { readonly layout: FirstRunLayout }) {
  return (
    <Box flexDirection="column">
      <Rows rows={head} />
      <Dialog layout={dialog} />
    </Box>
  );
}

/** The properties of the terminal that the screen depends on. */
export type FirstRunRendererOptions = Pick<ScreenOptions, 'depth' | 'background' | 'glyphs' | 'resizeMode'>;

/** Creates the output that redraws the screen with every change, and erases it at the end. */
export function createFirstRunRenderer(
  out: TerminalOutput,
  options: FirstRunRendererOptions,
  onResized: () => void,
): FirstRunRenderer {
  const terminal = createAsciiOutput(out, () => options.glyphs === 'ascii');
  const host = createScreenFrameWriter(terminal, onResized, options.resizeMode);
  const createPaint = (background: FirstRunRendererOptions['background']) =>
    createThemePaint({ name: 'auto', customThemes: new Map(), background, depth: options.depth });
  let paint = createPaint(options.background);
  const glyphs = options.glyphs === 'ascii' ? ASCII_GLYPHS : UNICODE_GLYPHS;
  const query = followsBackground({ depth: options.depth, theme: 'auto' }) ? BACKGROUND_QUERY : printable``;
  out.write(printable`\u001b[?2004h${query}`);

  return {
    show(state) {
      const layout = layoutFirstRun(state);
      const context: RenderContext = {
        width: out.columns,
        rows: out.rows,
        glyphs,
        nowMs: 0,
        spinner: '',
        cwd: '',
        links: 'printed',
        markup: 'hidden',
        highlight: undefined,
      };
      host.show({
        screen: createElement(FirstRun, { layout: layout }),
        caret: layout.caret,
        look: { context, paint },
      });
    },
    setBackground(background) {
      paint = createPaint(background);
    },
    close() {
      host.close();
      out.write(printable`\u001b[?2004l`);
    },
  };
}
