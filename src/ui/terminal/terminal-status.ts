import type { AgentEvent } from '../../contracts/event.ts';
import { type Printable, printable } from '../../lib/printable.ts';
import { isBusy, type ViewState } from '../app-state/view-state.ts';
import {
  chooseNotifyMethod,
  formatNotificationSequence,
  formatProgressSequence,
  formatTitleSequence,
  type NotifyMethod,
  type TerminalProgress,
} from './osc-sequences.ts';
import type { ScreenOptions } from './screen-options.ts';
import { wrapForTmux } from './tmux.ts';

/** Shorter runs send no notification. */
const MIN_NOTIFY_MS = 10_000;
/** The progress is repeated in this interval, as terminals clear it otherwise. */
const PROGRESS_REPEAT_MS = 5000;
const BAR_CURSOR = printable`\u001b[6 q`;
const BLOCK_CURSOR = printable`\u001b[2 q`;

/** Creates the status shown by the terminal itself: window title, cursor shape, progress, notifications. */
export function createTerminalStatus(
  write: (text: Printable) => void,
  options: Pick<ScreenOptions, 'title' | 'notify' | 'progress' | 'tmux' | 'glyphs' | 'now'>,
) {
  let title = '';
  let shape = BAR_CURSOR;
  let startedAtMs = options.now();
  let progress: TerminalProgress = 'none';
  let repeatTimer: ReturnType<typeof setInterval> | undefined;
  /** Writes a sequence to the outer terminal, through tmux where tmux is used. */
  const writeThrough = (sequence: Printable) => write(options.tmux === undefined ? sequence : wrapForTmux(sequence));

  function notify(message: string, view: ViewState): void {
    const isLong = options.now() - startedAtMs >= MIN_NOTIFY_MS;
    if (view.keys.window !== 'away' || !isLong) return;
    if (options.notify === 'tmux') return void notifyThroughTmux(message).catch(() => undefined); // A failed notification is not reported.
    const sequence = formatNotificationSequence(options.notify, message);
    if (sequence !== '') write(sequence);
  }

  async function notifyThroughTmux(message: string): Promise<void> {
    const { allowsPassthrough = false, outerTerminal } = (await options.tmux?.()) ?? {};
    const method: NotifyMethod =
      allowsPassthrough && outerTerminal !== undefined ? chooseNotifyMethod(outerTerminal) : 'bell';
    // The bell is meant for tmux itself, which then marks the window.
    write(
      method === 'bell'
        ? formatNotificationSequence(method, message)
        : wrapForTmux(formatNotificationSequence(method, message)),
    );
  }

  function updateProgress(next: TerminalProgress): void {
    if (options.progress === 'off' || next === progress) return;
    clearInterval(repeatTimer);
    if (next === 'busy')
      repeatTimer = setInterval(() => writeThrough(formatProgressSequence('busy')), PROGRESS_REPEAT_MS).unref();
    writeThrough(formatProgressSequence(next));
    progress = next;
  }

  return {
    /** Updates title, cursor shape and progress after a frame. */
    update(view: ViewState) {
      const nextShape = view.vim === undefined || view.vim.mode === 'insert' ? BAR_CURSOR : BLOCK_CURSOR;
      if (nextShape !== shape) write(nextShape);
      shape = nextShape;
      updateProgress(isBusy(view) ? 'busy' : view.lastRunEnd === 'failed' ? 'failed' : 'none');
      if (options.title === 'off') return;
      const next = formatTitle(view, options.glyphs);
      if (next !== title) write(formatTitleSequence(next));
      title = next;
    },
    /** Notifies the user of an event if the window is in the background. */
    handleEvent(event: AgentEvent, view: ViewState) {
      switch (event.type) {
        case 'agent_start':
          startedAtMs = options.now();
          return;
        case 'permission_request':
        case 'question':
          return notify('ouro is waiting for your answer', view);
        case 'agent_end':
          return notify(event.terminal.reason === 'completed' ? 'ouro has finished' : 'ouro has stopped', view);
        default:
          return;
      }
    },
    close: () => updateProgress('none'),
  };
}

function formatTitle(view: ViewState, glyphs: ScreenOptions['glyphs']): string {
  if (view.dialogRequests.length > 0) return '! ouro is waiting for you';
  if (!isBusy(view)) return 'ouro';
  const symbol = glyphs === 'ascii' ? '*' : '●';
  return view.lastPrompt === '' ? `${symbol} ouro` : `${symbol} ouro: ${view.lastPrompt}`;
}
