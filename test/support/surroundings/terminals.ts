import { ANSWER, LINES, SCREEN, type Surrounding } from './surrounding.ts';

const KINDS = [
  'unknown-terminal',
  'linux',
  'vt100',
  'vt52',
  'ansi',
  'screen',
  'tmux-256color',
  'xterm',
  'xterm-kitty',
  'cons25',
  'eterm-color',
  'x'.repeat(1000),
  'xterm 256',
  '../../etc/passwd',
];

const SIZES = [
  [1, 1],
  [1, 24],
  [80, 1],
  [2, 2],
  [5, 5],
  [10, 3],
  [20, 5],
  [40, 10],
  [40, 30],
  [80, 6],
  [80, 24],
  [100, 30],
  [120, 40],
  [200, 50],
  [500, 200],
  [1000, 10],
  [20, 200],
] as const;

/** Kinds and sizes of terminals. */
export const TERMINALS: readonly Surrounding[] = [
  { name: 'no TERM', env: { TERM: undefined } },
  { name: 'an empty TERM', env: { TERM: '' } },
  { name: 'TERM=dumb', env: { TERM: 'dumb' }, outcome: LINES },
  ...KINDS.map(
    (kind): Surrounding => ({ name: `TERM=${kind.slice(0, 30)}`, env: { TERM: kind, COLORTERM: undefined } }),
  ),
  { name: 'a missing TERMINFO', env: { TERMINFO: '/dev/null/nowhere', TERMINFO_DIRS: '/dev/null/nowhere' } },
  { name: 'a terminal that answers no question', terminal: 'mute' },
  ...SIZES.map(([cols, rows]): Surrounding => ({ name: `a terminal of ${cols}x${rows}`, size: [cols, rows] })),
  { name: 'a terminal without a size', start: 'stty rows 0 columns 0; exec "$@"' },
  { name: 'COLUMNS and LINES that are wrong', env: { COLUMNS: '-1', LINES: '0' } },
  { name: 'COLUMNS and LINES that are huge', env: { COLUMNS: '99999', LINES: '99999' } },
  { name: 'a terminal in raw mode', start: 'stty raw -echo; exec "$@"' },
  { name: 'a terminal that sends no carriage return', start: 'stty -icrnl -onlcr; exec "$@"' },
  { name: 'a terminal of seven bits', start: 'stty cs7 parenb istrip; exec "$@"' },
  { name: 'a terminal with flow control', start: 'stty ixon ixoff ixany; exec "$@"' },
  { name: 'a terminal that stops output of the background', start: 'stty tostop; exec "$@"' },
  {
    name: 'a terminal with other control keys',
    start: 'stty intr undef quit undef susp undef eof undef erase ^H; exec "$@"',
  },
];

/** The kinds of standard streams. */
export const STREAMS: readonly Surrounding[] = [
  { name: 'a screen with stderr closed', start: 'exec "$@" 2>&-' },
  { name: 'a screen with stderr in /dev/null', start: 'exec "$@" 2>/dev/null' },
  { name: 'a screen with stderr in /dev/full', start: 'exec "$@" 2>/dev/full' },
  { name: 'a screen with stderr in a file', start: 'exec "$@" 2>errors' },
  {
    name: 'a screen with stderr in a pipe without a reader',
    start: 'mkfifo p; cat <p >/dev/null & exec 2>p; kill $!; exec "$@"',
  },
  { name: 'a screen with stdin as the terminal for writing, too', start: 'exec "$@" <>/dev/tty >&0 2>&0' },
  { name: 'a screen with further open descriptors', start: 'exec 3</dev/null 4>/dev/null 9<>/dev/tty; exec "$@"' },
  {
    name: 'a screen with 200 open descriptors',
    start: 'exec bash -c \'for i in {10..210}; do eval "exec $i</dev/null"; done; exec "$@"\' sh "$@"',
    needs: { program: 'bash' },
  },
  ...(
    [
      ['stdin closed', '<&-'],
      ['stdin from /dev/null', '</dev/null'],
      ['stdin from /dev/full', '< /dev/full'],
      ['an empty file as stdin', '</dev/null'],
      ['a folder as stdin', '</'],
      ['stdin that can only be written', '0>/dev/null'],
      ['stderr closed', '2>&-'],
      ['stderr in /dev/full', '2>/dev/full'],
      ['stderr as stdout', '</dev/null 2>&1'],
      ['stdin and stderr closed', '<&- 2>&-'],
    ] as const
  ).map(
    ([name, streams]): Surrounding => ({
      name: `an answer with ${name}`,
      start: `exec "$@" ${streams}`,
      outcome: ANSWER,
    }),
  ),
  { name: 'an answer with a prompt from a pipe', start: ': | "$@" | cat', outcome: ANSWER },
  { name: 'an answer with a socket as stdout', start: '"$@" | cat', outcome: ANSWER },
  {
    name: 'an answer without a terminal',
    start: 'exec setsid -w "$@" </dev/null',
    outcome: ANSWER,
    needs: { program: 'setsid' },
  },
  { name: 'an answer under nohup', start: 'exec nohup "$@" </dev/null 2>/dev/null', outcome: ANSWER },
  { name: 'an answer in the background', start: '"$@" </dev/null & wait $!', outcome: ANSWER },
  {
    name: 'an answer as cron starts it',
    start:
      'cd "$HOME"; exec env -i HOME="$HOME" PATH=/usr/bin:/bin SHELL=/bin/sh LOGNAME=x ANTHROPIC_BASE_URL="$ANTHROPIC_BASE_URL" ANTHROPIC_API_KEY=k "$@" </dev/null',
    outcome: ANSWER,
  },
  {
    name: 'a screen in a program that records it',
    start: 'exec script -qec "$(printf "\'%s\' " "$@")" /dev/null',
    outcome: SCREEN,
    needs: { program: 'script' },
  },
];
