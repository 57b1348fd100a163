import type { AgentEvent } from '../../contracts/event.ts';
import { type Printable, printed } from '../../lib/printable.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import { type NotifyBy, notifyBy, notifySequence, titleSequence } from './announcer.ts';
import { progressSequence, type TerminalProgress } from './progress.ts';
import type { ScreenOptions } from './screen-options.ts';
import { throughTmux } from './tmux.ts';

/** What the terminal itself is told besides what is drawn: its title, the cursor's shape, how the work goes, a call. */
export type TerminalWords = {
  show(view: ViewState): void;
  hear(event: AgentEvent, view: ViewState): void;
  close(): void;
};

/** Who waits so long has looked away. */
const LONG_MS = 10_000;
/** Terminals forget work that they hear nothing of. */
const BEAT_MS = 5000;
const BAR = printed`\u001b[6 q`;
const BLOCK = printed`\u001b[2 q`;

export function createTerminalWords(
  write: (text: Printable) => void,
  options: Pick<ScreenOptions, 'title' | 'notify' | 'progress' | 'tmux' | 'glyphs' | 'now'>,
): TerminalWords {
  let title = '';
  let shape = BAR;
  let startedAtMs = options.now();
  let progress: TerminalProgress = 'none';
  let beat: ReturnType<typeof setInterval> | undefined;
  /** Inside tmux a sequence goes to the terminal outside, where tmux lets it. */
  const pass = (sequence: Printable) => write(options.tmux === undefined ? sequence : throughTmux(sequence));

  function notify(words: string, view: ViewState): void {
    const isLong = options.now() - startedAtMs >= LONG_MS;
    if (view.keys.window !== 'away' || !isLong) return;
    if (options.notify === 'tmux') return void notifyOutside(words).catch(() => undefined); // A call that fails is none.
    const sequence = notifySequence(options.notify, words);
    if (sequence !== '') write(sequence);
  }

  async function notifyOutside(words: string): Promise<void> {
    const { allowsPassthrough = false, outside } = (await options.tmux?.()) ?? {};
    const by: NotifyBy = allowsPassthrough && outside !== undefined ? notifyBy(outside) : 'bell';
    // A bell is for tmux itself, which marks the window.
    write(by === 'bell' ? notifySequence(by, words) : throughTmux(notifySequence(by, words)));
  }

  function tellProgress(next: TerminalProgress): void {
    if (options.progress === 'off' || next === progress) return;
    clearInterval(beat);
    if (next === 'busy') beat = setInterval(() => pass(progressSequence('busy')), BEAT_MS).unref();
    pass(progressSequence(next));
    progress = next;
  }

  return {
    show(view) {
      const nextShape = view.vim === undefined || view.vim.mode === 'insert' ? BAR : BLOCK;
      if (nextShape !== shape) write(nextShape);
      shape = nextShape;
      tellProgress(isBusy(view) ? 'busy' : view.rest === 'failed' ? 'failed' : 'none');
      if (options.title === 'off') return;
      const next = titleOf(view, options.glyphs);
      if (next !== title) write(titleSequence(next));
      title = next;
    },
    hear(event, view) {
      switch (event.type) {
        case 'agent_start':
          startedAtMs = options.now();
          return;
        case 'permission_request':
        case 'question':
          return notify('ouro waits for your answer', view);
        case 'agent_end':
          return notify(event.terminal.reason === 'completed' ? 'ouro has finished' : 'ouro has stopped', view);
        default:
          return;
      }
    },
    close: () => tellProgress('none'),
  };
}

function titleOf(view: ViewState, glyphs: ScreenOptions['glyphs']): string {
  if (view.asks.length > 0) return '! ouro needs you';
  if (!isBusy(view)) return 'ouro';
  const sign = glyphs === 'ascii' ? '*' : '●';
  return view.lastPrompt === '' ? `${sign} ouro` : `${sign} ouro: ${view.lastPrompt}`;
}
