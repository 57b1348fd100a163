import { sanitize } from '../../lib/sanitize.ts';

/** How this terminal is told that somebody is needed. */
export type NotifyBy = 'osc9' | 'osc99' | 'osc777' | 'bell' | 'off';

const TITLE_LENGTH = 60;

/** The sequence that sets the window's title; nothing of a sequence survives in the words. */
export function titleSequence(words: string): string {
  return `\u001b]2;${clean(words).slice(0, TITLE_LENGTH)}\u0007`;
}

/** The sequence for a notification; terminals that know none ring. */
export function notifySequence(by: NotifyBy, words: string): string {
  const text = clean(words);
  switch (by) {
    case 'osc9':
      return `\u001b]9;${text}\u0007`;
    case 'osc99':
      return `\u001b]99;;${text}\u001b\\`;
    case 'osc777':
      return `\u001b]777;notify;ouro;${text.replaceAll(';', ',')}\u0007`;
    case 'bell':
      return '\u0007';
    default:
      return '';
  }
}

/** The way a terminal is known to show notifications, by its name. */
export function notifyBy(term: { readonly name: string; readonly program: string | undefined }): NotifyBy {
  if (term.name.includes('kitty')) return 'osc99';
  switch (term.program) {
    case 'iTerm.app':
      return 'osc9';
    case 'ghostty':
    case 'WezTerm':
      return 'osc777';
    default:
      return 'bell';
  }
}

function clean(words: string): string {
  return sanitize(words, 'line').replace(/\s+/g, ' ').trim();
}
