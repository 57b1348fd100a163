/** The signs of the screen. Each says what it says without colour; all are one column wide. */
export type Glyphs = {
  readonly user: string;
  readonly spinner: readonly string[];
  readonly done: string;
  readonly failed: string;
  readonly stopped: string;
  readonly wait: string;
  readonly retry: string;
  readonly queue: string;
  readonly output: string;
  readonly todo: { readonly completed: string; readonly in_progress: string; readonly pending: string };
  readonly more: string;
  readonly arrow: string;
  /** Before what was taken away. */
  readonly minus: string;
  readonly separator: string;
  readonly mark: string;
  /** At the left edge: what is yours, and what asks. */
  readonly bar: string;
  readonly cursor: string;
  /** Beside the first lines of a start. */
  readonly sign: readonly string[];
  readonly up: string;
  readonly down: string;
  readonly upDown: string;
  readonly branch: string;
  /** A part of a gauge, full and empty. */
  readonly gauge: { readonly full: string; readonly empty: string };
};

export const UNICODE_GLYPHS: Glyphs = {
  user: '>',
  spinner: ['◐', '◓', '◑', '◒'],
  done: '✓',
  failed: '✗',
  stopped: '■',
  wait: '?',
  retry: '↻',
  queue: '↳',
  output: '│',
  todo: { completed: '✓', in_progress: '●', pending: '○' },
  more: '…',
  arrow: '→',
  minus: '−',
  separator: ' · ',
  mark: '── ',
  bar: '▌',
  cursor: '❯',
  sign: ['╭─╮', '╰◂╯'],
  up: '↑',
  down: '↓',
  upDown: '↑↓',
  branch: '⎇',
  gauge: { full: '▰', empty: '▱' },
};

export const ASCII_GLYPHS: Glyphs = {
  user: '>',
  spinner: ['|', '/', '-', '\\'],
  done: 'ok',
  failed: 'x',
  stopped: '[stopped]',
  wait: '?',
  retry: 'retry',
  queue: '+',
  output: '|',
  todo: { completed: '[x]', in_progress: '[>]', pending: '[ ]' },
  more: '...',
  arrow: '->',
  minus: '-',
  separator: ' - ',
  mark: '-- ',
  bar: '|',
  cursor: '>',
  sign: [],
  up: 'up',
  down: 'down',
  upDown: 'up down',
  branch: 'on',
  gauge: { full: '#', empty: '.' },
};
