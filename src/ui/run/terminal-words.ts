import type { AgentEvent } from '../../contracts/event.ts';
import { notifySequence, titleSequence } from '../terminal/announcer.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import type { ScreenOptions } from './screen-options.ts';

/** What the terminal itself is told besides what is drawn: its title, the cursor's shape, that somebody is needed. */
export type TerminalWords = {
  show(view: ViewState): void;
  hear(event: AgentEvent, view: ViewState): void;
};

/** Who waits so long has looked away. */
const LONG_MS = 10_000;
const BAR = '\u001b[6 q';
const BLOCK = '\u001b[2 q';

export function createTerminalWords(
  write: (text: string) => void,
  options: Pick<ScreenOptions, 'title' | 'notify' | 'glyphs' | 'now'>,
): TerminalWords {
  let title = '';
  let shape = BAR;
  let startedAtMs = options.now();

  function notify(words: string, view: ViewState): void {
    const isLong = options.now() - startedAtMs >= LONG_MS;
    if (view.keys.window !== 'away' || !isLong) return;
    const sequence = notifySequence(options.notify, words);
    if (sequence !== '') write(sequence);
  }

  return {
    show(view) {
      const nextShape = view.vim === undefined || view.vim.mode === 'insert' ? BAR : BLOCK;
      if (nextShape !== shape) write(nextShape);
      shape = nextShape;
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
  };
}

function titleOf(view: ViewState, glyphs: ScreenOptions['glyphs']): string {
  if (view.asks.length > 0) return '! ouro needs you';
  if (!isBusy(view)) return 'ouro';
  const sign = glyphs === 'ascii' ? '*' : '●';
  return view.lastPrompt === '' ? `${sign} ouro` : `${sign} ouro: ${view.lastPrompt}`;
}
