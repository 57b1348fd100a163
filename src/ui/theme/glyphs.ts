/** The symbols of the screen. Each has its meaning without color; most are one column wide in Unicode. */
export type Glyphs = {
  readonly user: string;
  readonly spinner: readonly string[];
  readonly done: string;
  readonly failed: string;
  readonly stopped: string;
  readonly waiting: string;
  readonly retry: string;
  readonly queue: string;
  readonly output: string;
  readonly todo: { readonly completed: string; readonly in_progress: string; readonly pending: string };
  readonly ellipsis: string;
  readonly arrow: string;
  /** Sign before a number of removed lines. */
  readonly minus: string;
  readonly separator: string;
  /** Start of the line that ends a turn. */
  readonly rule: string;
  /** Bar at the left edge of user messages and dialogs. */
  readonly bar: string;
  readonly cursor: string;
  /** Logo beside the first lines of the banner, a row each. */
  readonly logo: readonly string[];
  readonly up: string;
  readonly down: string;
  readonly upDown: string;
  readonly branch: string;
  /** One cell of a gauge, full and empty. */
  readonly gauge: { readonly full: string; readonly empty: string };
};

/** The symbols for terminals that show Unicode. */
export const UNICODE_GLYPHS: Glyphs = {
  user: '>',
  spinner: ['◐', '◓', '◑', '◒'],
  done: '✓',
  failed: '✗',
  stopped: '■',
  waiting: '?',
  retry: '↻',
  queue: '↳',
  output: '│',
  todo: { completed: '✓', in_progress: '●', pending: '○' },
  ellipsis: '…',
  arrow: '→',
  minus: '−',
  separator: ' · ',
  rule: '── ',
  bar: '▌',
  cursor: '❯',
  logo: ['╭─╮', '╰◂╯'],
  up: '↑',
  down: '↓',
  upDown: '↑↓',
  branch: '⎇',
  gauge: { full: '▰', empty: '▱' },
};

/** The symbols for terminals that show ASCII only; some are words. */
export const ASCII_GLYPHS: Glyphs = {
  user: '>',
  spinner: ['|', '/', '-', '\\'],
  done: 'ok',
  failed: 'x',
  stopped: '[stopped]',
  waiting: '?',
  retry: 'retry',
  queue: '+',
  output: '|',
  todo: { completed: '[x]', in_progress: '[>]', pending: '[ ]' },
  ellipsis: '...',
  arrow: '->',
  minus: '-',
  separator: ' - ',
  rule: '-- ',
  bar: '|',
  cursor: '>',
  logo: [],
  up: 'up',
  down: 'down',
  upDown: 'up down',
  branch: 'on',
  gauge: { full: '#', empty: '.' },
};
