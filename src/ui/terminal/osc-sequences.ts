import { EMPTY_PRINTABLE, markAsPrintable, type Printable, printable } from '../../lib/printable.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** The method of sending a desktop notification; `tmux`: that of the terminal in which tmux runs. */
export type NotifyMethod = 'osc9' | 'osc99' | 'osc777' | 'tmux' | 'bell' | 'off';

const MAX_TITLE_LENGTH = 60;
const MAX_NOTIFICATION_LENGTH = 200;
const BELL = printable`\u0007`;

/** Formats the sequence that sets the window title. Control characters are removed from the text. */
export function formatTitleSequence(title: string): Printable {
  return printable`\u001b]2;${sanitizeText(title, MAX_TITLE_LENGTH)}\u0007`;
}

/** Formats a notification; a bell for terminals without notifications. */
export function formatNotificationSequence(method: NotifyMethod, message: string): Printable {
  const text = sanitizeText(message, MAX_NOTIFICATION_LENGTH);
  switch (method) {
    case 'osc9':
      return printable`\u001b]9;${text}\u0007`;
    case 'osc99':
      return printable`\u001b]99;;${text}\u001b\\`;
    case 'osc777':
      return printable`\u001b]777;notify;ouro;${markAsPrintable(text.replaceAll(';', ','))}\u0007`;
    case 'tmux':
    case 'bell':
      return BELL;
    default:
      return EMPTY_PRINTABLE;
  }
}

const METHOD_BY_TERMINAL: readonly (readonly [RegExp, NotifyMethod])[] = [
  [/kitty/, 'osc99'],
  [/^iterm/, 'osc9'],
  [/ghostty|^wezterm|^foot|^rxvt-unicode/, 'osc777'],
];

/** Returns the notification method of a terminal, by its TERM name and the name it reports. */
export function chooseNotifyMethod(term: {
  readonly name: string;
  readonly program: string | undefined;
}): NotifyMethod {
  const names = [term.name, term.program ?? ''].map((name) => name.toLowerCase());
  return METHOD_BY_TERMINAL.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? 'bell';
}

function sanitizeText(text: string, length: number): Printable {
  return markAsPrintable(sanitize(text, 'line').replace(/\s+/g, ' ').trim().slice(0, length));
}

/** The progress that a terminal shows in its tab or in the task bar. */
export type TerminalProgress = 'busy' | 'failed' | 'none';

const STATES: Readonly<Record<TerminalProgress, Printable>> = {
  busy: printable`3;0`,
  failed: printable`2;100`,
  none: printable`0;0`,
};

/** Formats the progress sequence. Terminals without support may show it as a notification. */
export function formatProgressSequence(progress: TerminalProgress): Printable {
  return printable`\u001b]9;4;${STATES[progress]}\u0007`;
}

/** The facts of the environment that tell whether a terminal shows progress. */
type ProgressTerminal = {
  readonly program: string | undefined;
  readonly programVersion: string | undefined;
  /** Windows Terminal or ConEmu, detected by their environment variables. */
  readonly isWindows: boolean;
  readonly isTmux: boolean;
};

/**
 * Reports whether a terminal is known to show progress. Inside tmux this is unknown, so the answer is no, and earlier
 * versions of kitty show a notification instead, without reporting their version.
 */
export function supportsTerminalProgress({ program, programVersion, isWindows, isTmux }: ProgressTerminal): boolean {
  if (isTmux) return false;
  return isWindows || (program === 'ghostty' && isAtLeast(programVersion ?? '', 1, 2));
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return first > major || (first === major && second >= minor);
}
