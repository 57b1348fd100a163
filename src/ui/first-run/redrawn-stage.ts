import { createElement } from 'react';
import { printed } from '../../lib/printable.ts';
import { inAscii } from '../terminal/in-ascii.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import { createStage, type TerminalOut } from '../terminal/stage.ts';
import { ASCII_GLYPHS, UNICODE_GLYPHS } from '../theme/glyphs.ts';
import { paintOf } from '../theme/theme-choice.ts';
import { FirstRun } from './FirstRun.tsx';
import type { FirstRunStage } from './first-run-stage.ts';
import { caretOf, planFirstRun } from './plan-first-run.ts';

export type StageLook = Pick<ScreenOptions, 'depth' | 'background' | 'glyphs' | 'tooWide'>;

/** A frame that is drawn anew with every change, and goes away again. */
export function redrawnStage(out: TerminalOut, look: StageLook, onResized: () => void): FirstRunStage {
  const terminal = inAscii(out, () => look.glyphs === 'ascii');
  const stage = createStage(terminal, onResized, look.tooWide);
  const paint = paintOf({ name: 'auto', own: new Map(), background: look.background, depth: look.depth });
  const glyphs = look.glyphs === 'ascii' ? ASCII_GLYPHS : UNICODE_GLYPHS;
  out.write(printed`\u001b[?2004h`);

  return {
    show(state) {
      const plan = planFirstRun(state);
      const drawing = {
        width: out.columns,
        rows: out.rows,
        glyphs,
        nowMs: 0,
        spinner: '',
        cwd: '',
        links: 'printed',
        marks: 'hidden',
        highlight: undefined,
      } as const;
      stage.show({
        screen: createElement(FirstRun, { plan }),
        caret: caretOf(state, plan),
        look: { drawing, paint },
      });
    },
    close() {
      stage.close();
      out.write(printed`\u001b[?2004l`);
    },
  };
}
