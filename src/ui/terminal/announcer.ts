import { asPrintable, NOTHING_PRINTED, type Printable, printed } from '../../lib/printable.ts';
import { sanitize } from '../../lib/text/sanitize.ts';

/** How this terminal is told that somebody is needed; `tmux`: as the terminal it is shown in would be. */
export type NotifyBy = 'osc9' | 'osc99' | 'osc777' | 'tmux' | 'bell' | 'off';

const TITLE_LENGTH = 60;
const NOTICE_LENGTH = 200;
const BELL = printed`\u0007`;

/** The sequence that sets the window's title; nothing of a sequence survives in the words. */
export function titleSequence(words: string): Printable {
  return printed`\u001b]2;${clean(words, TITLE_LENGTH)}\u0007`;
}

/** The sequence for a notification; terminals that know none ring. */
export function notifySequence(by: NotifyBy, words: string): Printable {
  const text = clean(words, NOTICE_LENGTH);
  switch (by) {
    case 'osc9':
      return printed`\u001b]9;${text}\u0007`;
    case 'osc99':
      return printed`\u001b]99;;${text}\u001b\\`;
    case 'osc777':
      return printed`\u001b]777;notify;ouro;${asPrintable(text.replaceAll(';', ','))}\u0007`;
    case 'tmux':
    case 'bell':
      return BELL;
    default:
      return NOTHING_PRINTED;
  }
}

const BY_NAME: readonly (readonly [RegExp, NotifyBy])[] = [
  [/kitty/, 'osc99'],
  [/^iterm/, 'osc9'],
  [/ghostty|^wezterm|^foot|^rxvt-unicode/, 'osc777'],
];

/** The way a terminal is known to show notifications, by its name and by what it calls itself. */
export function notifyBy(term: { readonly name: string; readonly program: string | undefined }): NotifyBy {
  const names = [term.name, term.program ?? ''].map((name) => name.toLowerCase());
  return BY_NAME.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ?? 'bell';
}

function clean(words: string, length: number): Printable {
  return asPrintable(sanitize(words, 'line').replace(/\s+/g, ' ').trim().slice(0, length));
}
