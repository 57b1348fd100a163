import type { AgentEvent } from '../../contracts/event.ts';
import { needsHighlighter } from '../app-state/needs-highlighter.ts';
import { isBusy, type ViewState } from '../app-state/view-state.ts';
import { applyElapsedTime, findNextTimedChangeMs } from '../input/handle-input.ts';
import type { InputContext } from '../input/input-result.ts';
import type { ScreenOptions } from './screen-options.ts';
import { type ScreenOutput, SPINNER_INTERVAL_MS } from './screen-output.ts';

/** The dependencies of the frame scheduler. */
type FrameSchedulerDeps = {
  readonly output: Pick<ScreenOutput, 'render' | 'hasHighlighting' | 'loadHighlighting' | 'isBlocked'>;
  readonly motion: ScreenOptions['motion'];
  readonly getView: () => ViewState;
  readonly setView: (view: ViewState) => void;
  readonly getContext: () => InputContext;
  /** Reports whether another program uses the terminal, so that nothing may be drawn. */
  readonly isHandedOver: () => boolean;
  readonly onDrawn: (view: ViewState) => void;
};

/** Redraw interval while only elapsed times change. */
const SLOW_INTERVAL_MS = 1000;

/** Creates the frame scheduler of a screen. It draws at once, soon after an event, and when time alone changes it. */
export function createFrameScheduler({
  output,
  motion,
  getView,
  setView,
  getContext,
  isHandedOver,
  onDrawn,
}: FrameSchedulerDeps) {
  const timer = createDrawThrottle(show);
  let clockTimer: ReturnType<typeof setTimeout> | undefined;
  let isLoadingColors = false;
  let isClosed = false;

  /** Draws the view. The first frame with code waits until syntax highlighting is loaded. */
  function show(): void {
    timer.cancel();
    if (isClosed || isHandedOver()) return;
    // The frame is dropped as a whole. Finished lines stay in the view, and the next frame prints them.
    if (output.isBlocked()) {
      clearTimeout(clockTimer);
      clockTimer = setTimeout(show, FRAME_MS);
      return;
    }
    if (!output.hasHighlighting() && needsHighlighter(getView())) {
      if (!isLoadingColors) void output.loadHighlighting().then(show, show);
      isLoadingColors = true;
      return;
    }
    draw();
  }

  function draw(): void {
    setView(output.render(getView()));
    onDrawn(getView());
    scheduleNext();
  }

  /** Schedules the next frame, if something on the screen changes with time. */
  function scheduleNext(): void {
    clearTimeout(clockTimer);
    const now = getContext();
    const due = findNextTimedChangeMs(getView(), now);
    const interval = getRedrawIntervalMs(getView(), motion);
    const waits = [
      ...(interval === undefined ? [] : [interval]),
      ...(due === undefined ? [] : [Math.max(1, due - now.nowMs + 1)]),
    ];
    if (waits.length === 0) return;
    clockTimer = setTimeout(
      () => {
        setView(applyElapsedTime(getView(), getContext()));
        show();
      },
      Math.min(...waits),
    );
  }

  return {
    show,
    schedule: timer.schedule,
    /** Draws a last frame and stops. */
    close() {
      timer.cancel();
      if (!isHandedOver() && !output.isBlocked()) draw();
      isClosed = true;
      clearTimeout(clockTimer);
    },
  };
}

/**
 * Returns the redraw interval of a busy screen: slow while only a question is open, otherwise that of the spinner.
 * @internal Exported for tests.
 */
export function getRedrawIntervalMs(view: ViewState, motion: FrameSchedulerDeps['motion']): number | undefined {
  if (!isBusy(view)) return undefined;
  const isRunning = view.pieces.some((piece) => piece.kind === 'tool' && piece.entry.state.status === 'running');
  // Only the elapsed time changes while the screen waits for an answer.
  if (view.activity.status === 'waiting_for_answer' && !isRunning) return SLOW_INTERVAL_MS;
  return motion === 'full' && view.keys.window !== 'away' ? SPINNER_INTERVAL_MS : SLOW_INTERVAL_MS;
}

/** Ten frames a second are smooth enough for streamed text, and each frame has a cost. */
const FRAME_MS = 100;
/** Shortest delay after an event, so that one frame shows the events that usually follow. */
const GATHER_MS = 50;
/** Short delay for a new status. The end of a run usually follows within it, so that one frame shows both. */
const STATUS_MS = 20;

/** Events of questions to the user. */
const QUESTION_EVENTS: ReadonlySet<string> = new Set([
  'permission_request',
  'permission_answer',
  'question',
  'question_answer',
]);
/** Further events that the user waits to see. */
const AWAITED_EVENTS: ReadonlySet<string> = new Set(['agent_end', 'queue', 'mode']);

/**
 * Creates a timer that draws after urgent events at once, and after other events at most ten times a second.
 *
 * @internal Exported for tests.
 */
export function createDrawThrottle(draw: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;

  function schedule(event: AgentEvent): void {
    const isStatus = event.type === 'status';
    if (!isStatus && !isUrgent(event)) {
      timer ??= setTimeout(draw, Math.max(GATHER_MS, drawnAt + FRAME_MS - performance.now()));
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(draw, isStatus ? STATUS_MS : 0);
  }

  return {
    schedule,
    /** Cancels the scheduled drawing, as the screen is drawn now. */
    cancel() {
      clearTimeout(timer);
      timer = undefined;
      drawnAt = performance.now();
    },
  };
}

function isUrgent(event: AgentEvent): boolean {
  // Other events of a sub-agent are shown by its tool call.
  if (event.type === 'subagent')
    return event.event.type === 'subagent' ? isUrgent(event.event) : QUESTION_EVENTS.has(event.event.type);
  if (event.type === 'message_end') return event.message.role === 'user';
  return QUESTION_EVENTS.has(event.type) || AWAITED_EVENTS.has(event.type);
}
