import type { AgentEvent } from '../../contracts/event.ts';
import { nextChange, passTime } from '../press/press.ts';
import type { PressContext } from '../press/press-context.ts';
import { holdsCode } from '../view/holds-code.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import { createFrameTimer } from './frame-timer.ts';
import type { ScreenOptions } from './screen-options.ts';
import { type ScreenOutput, SPINNER_MS } from './screen-output.ts';

/** Draws a view: at once, soon after an event, and again whenever time alone changes it. */
export type Frames = {
  show(): void;
  schedule(event: AgentEvent): void;
  /** Draws a last time. */
  close(): void;
};

export type FramesPort = {
  readonly output: Pick<ScreenOutput, 'put' | 'hasColors' | 'loadColors'>;
  readonly motion: ScreenOptions['motion'];
  readonly view: () => ViewState;
  readonly replace: (view: ViewState) => void;
  readonly context: () => PressContext;
  /** While somebody else has the terminal, nothing is drawn. */
  readonly isLent: () => boolean;
  readonly onDrawn: (view: ViewState) => void;
};

const CALM_MS = 1000;

export function createFrames({ output, motion, view, replace, context, isLent, onDrawn }: FramesPort): Frames {
  const timer = createFrameTimer(show);
  let clock: ReturnType<typeof setTimeout> | undefined;
  let isLoadingColors = false;
  let isClosed = false;

  /** Prints what is finished and draws what is not, in one go. The first code waits for its colours. */
  function show(): void {
    timer.cancel();
    if (isClosed || isLent()) return;
    if (!output.hasColors() && holdsCode(view())) {
      if (!isLoadingColors) void output.loadColors().then(show, show);
      isLoadingColors = true;
      return;
    }
    draw();
  }

  function draw(): void {
    replace(output.put(view()));
    onDrawn(view());
    wind();
  }

  /** The one clock: it only runs while something on screen changes with time. */
  function wind(): void {
    clearTimeout(clock);
    const now = context();
    const due = nextChange(view(), now);
    const pulse = pulseMs(view(), motion);
    const waits = [
      ...(pulse === undefined ? [] : [pulse]),
      ...(due === undefined ? [] : [Math.max(1, due - now.nowMs + 1)]),
    ];
    if (waits.length === 0) return;
    clock = setTimeout(
      () => {
        replace(passTime(view(), context()));
        show();
      },
      Math.min(...waits),
    );
  }

  return {
    show,
    schedule: timer.schedule,
    close() {
      timer.cancel();
      if (!isLent()) draw();
      isClosed = true;
      clearTimeout(clock);
    },
  };
}

/**
 * How often a screen changes by itself. While a person is waited for and nothing else runs, it only counts.
 * @internal Exported for tests.
 */
export function pulseMs(view: ViewState, motion: FramesPort['motion']): number | undefined {
  if (!isBusy(view)) return undefined;
  const isRunning = view.pieces.some((piece) => piece.kind === 'tool' && piece.entry.state.status === 'running');
  // How long somebody is waited for goes on being counted; nothing else moves.
  if (view.activity.status === 'waiting_for_answer' && !isRunning) return CALM_MS;
  return motion === 'full' && view.keys.window !== 'away' ? SPINNER_MS : CALM_MS;
}
