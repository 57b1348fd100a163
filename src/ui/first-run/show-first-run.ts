import type { FirstRunAnswer, FirstRunQuestion, LocalModels } from '../../contracts/first-run.ts';
import { messageOf } from '../../lib/errors.ts';
import { truncateEnd } from '../../lib/truncate.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { lineText } from '../lines/line.ts';
import { renderLines } from '../lines/render-lines.ts';
import { eraseAfterResize } from '../terminal/erase-after-resize.ts';
import { createKeyboard, type TerminalIn } from '../terminal/keyboard.ts';
import type { TerminalOut } from '../terminal/stage.ts';
import { type ColorDepth, resolveTheme } from '../theme.ts';
import { createPaint } from '../theme-paint.ts';
import { firstRunLines } from './first-run-lines.ts';
import { type FirstRunState, firstRunState, settled } from './first-run-state.ts';
import { offered, pressFirstRun, typedAhead } from './press-first-run.ts';

/** What the first screen needs of the world. */
export type FirstRunParts = {
  readonly out: TerminalOut;
  readonly in: TerminalIn;
  readonly depth: ColorDepth;
  readonly background: 'dark' | 'light';
  /** Asks the usual loopback ports. */
  readonly findLocal: () => Promise<readonly LocalModels[]>;
  /** The models of one server, named as `--model` takes them. */
  readonly modelsOf: (address: string) => Promise<readonly string[]>;
};

/** The first screen while it is open. */
export type FirstRun = {
  readonly answered: Promise<FirstRunAnswer | 'leave'>;
  close(): void;
};

/** Long enough to empty the keyboard's buffer: what was in it before anything could be read was not meant for us. */
const DRAIN_MS = 10;

/** Asks what has to be settled before the first question, on a few lines that go away again. */
export function showFirstRun(question: FirstRunQuestion, parts: FirstRunParts): FirstRun {
  const { promise: answered, resolve } = Promise.withResolvers<FirstRunAnswer | 'leave'>();
  const paint = createPaint(resolveTheme('auto', parts), parts.depth);
  let state = firstRunState(question);
  let shown: readonly string[] = [];
  let isOpen = true;
  let isShown = false;

  function draw(next: FirstRunState): void {
    state = next;
    const answer = settled(state);
    if (answer !== undefined) resolve(answer);
    if (!isOpen || !isShown) return;
    const { columns, rows } = parts.out;
    const lines = firstRunLines(state, rows).slice(0, Math.max(1, rows - 1));
    const cut = lines.map((line) => fitted(lineText(line), columns));
    const painted = lines.flatMap((line, at) =>
      cut[at] === lineText(line)
        ? renderLines([line], { width: columns, paint, zone: 'live', links: 'printed' })
        : [cut[at] ?? ''],
    );
    const before = erased(columns);
    shown = cut;
    parts.out.write(`${before}${painted.join('\r\n')}`);
  }

  /** The cursor stands at the end of the last row. */
  function erased(columns: number): string {
    if (shown.length === 0) return '';
    const y = shown.length - 1;
    return `${eraseAfterResize({ widths: shown, caret: { x: 0, y } }, columns)}${y === 0 ? '' : `\u001b[${y}A`}\r`;
  }

  function hear(events: readonly InputEvent[]): void {
    // Several keys in one go were typed ahead; one alone is an answer.
    const isAhead = !isShown || (state.page.kind === 'choices' && events.length > 1);
    for (const event of events) {
      const isLeaving = event.type === 'key' && event.chord === 'ctrl+c';
      if (isAhead && !isLeaving) {
        draw(typedAhead(state, event));
        continue;
      }
      const pressed = pressFirstRun(state, event);
      if (pressed.kind === 'leave') {
        resolve('leave');
        return;
      }
      draw(pressed.state);
      if (pressed.kind === 'ask_server') void askServer(pressed.address); // It tells its own failures.
    }
  }

  async function askServer(address: string): Promise<void> {
    try {
      const models = await parts.modelsOf(address);
      draw(offered(state, models));
    } catch (thrown) {
      draw({ ...state, note: messageOf(thrown) });
    }
  }

  const onResize = () => draw(state);
  const keyboard = createKeyboard(parts.in, hear);
  parts.out.write('\u001b[?2004h');
  keyboard.open();
  parts.out.on('resize', onResize);
  setTimeout(() => {
    isShown = true;
    draw(state);
  }, DRAIN_MS);
  if (question.key === 'missing') {
    // Nobody waits: the line changes when somebody answers.
    void parts.findLocal().then((servers) => draw({ ...state, servers }));
  }

  return {
    answered,
    close() {
      if (!isOpen) return;
      isOpen = false;
      parts.out.off('resize', onResize);
      keyboard.close();
      parts.out.write(`${erased(parts.out.columns)}\u001b[?2004l`);
    },
  };
}

function fitted(text: string, columns: number): string {
  return truncateEnd(text, Math.max(1, columns - 2));
}
