import { markAsPrintable, type Printable } from '../printable.ts';
import { truncate } from './format.ts';

/**
 * The kinds of untrusted text. `output`: output of programs; escape sequences are removed. `foreign`: texts of servers,
 * also for the model; invisible characters are removed too. `prompt`: text that the user decides on; nothing is
 * removed, invisible characters are escaped as `<U+…>`. `line`: the same on one line, for names and titles.
 */
export type SanitizeProfile = 'output' | 'foreign' | 'prompt' | 'line';

/**
 * A complete escape sequence in 7-bit or 8-bit form: CSI sequences, strings (titles, clipboard, …) and short escapes.
 * An unterminated string ends with its line, so that it does not hide the following lines.
 */
const ESCAPE_SEQUENCE =
  /(?:\x1b+\[|\x9b)[\0-\x09\x0b-\x17\x19\x1c-\x3f]*[@-~]?|(?:\x1b+[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\n\x18\x1a\x1b\x9c]*(?:\x07|\x9c|\x1b\\)?|\x1b+(?:[ -/]+[0-~]?|[0-~])?/g;
/** Control characters except tab and newline. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Bidi marks, zero-width characters, tags and unusual separators, without the joiners of emoji and scripts. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Sanitizes untrusted text for the terminal. All untrusted text must pass a function of this file. */
export function sanitize(text: string, profile: SanitizeProfile): Printable {
  if (profile === 'output') return markAsPrintable(text.replaceAll(ESCAPE_SEQUENCE, '').replaceAll(CONTROL, ''));
  if (profile === 'foreign') return markAsPrintable(sanitize(text.toWellFormed(), 'output').replaceAll(INVISIBLE, ''));
  const escaped = collapseRuns(escapeCharacters(text.replaceAll('\r\n', '\n')));
  return markAsPrintable(profile === 'line' ? escaped.replaceAll('\n', '⏎').replaceAll('\t', ' ') : escaped);
}

/** Characters that move the cursor, start an escape sequence or reorder text. */
const UNSAFE_IN_LINE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Returns a text for one line unchanged if all of it is safe; otherwise with unsafe characters escaped. */
export function escapeUnsafeLine(text: string): Printable {
  return UNSAFE_IN_LINE.test(text) ? sanitize(text, 'line') : markAsPrintable(text);
}

/** Formats a name or description of a list item: on one line, invisible characters escaped. */
export function escapeDisplayName(text: string): Printable {
  return sanitize(text.replaceAll(/(?<!\s)\s*\n\s*/g, ' '), 'line');
}

/** Formats a line of code of a change that the user decides on: invisible characters are escaped. */
export function escapeCodeLine(text: string): Printable {
  return markAsPrintable(escapeCharacters(text.replace(/\r$/, ''), HIDDEN_CHARACTERS, isJoiner));
}

/** Control characters and invisible characters. */
const UNSAFE_IN_PAGE = new RegExp(`${CONTROL.source}|${INVISIBLE.source}`, 'u');

/** Formats laid out text of several lines: escape sequences are removed, invisible characters are escaped. */
export function escapeMultilineText(text: string): Printable {
  return UNSAFE_IN_PAGE.test(text)
    ? markAsPrintable(escapeCharacters(sanitize(text, 'output'), INVISIBLE))
    : markAsPrintable(text);
}

/** Control characters and bidi controls, as a cheap first test. */
const UNSAFE_ON_SCREEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Sanitizes program output for the UI: also removes bidi controls and text before a carriage return. */
export function sanitizeForScreen(text: string): Printable {
  if (!UNSAFE_ON_SCREEN.test(text)) return markAsPrintable(text);
  const overwritten = text.replaceAll('\r\n', '\n').replace(/^.*\r(?!$)/gm, '');
  return markAsPrintable(sanitize(overwritten, 'output').replace(BIDI_CONTROLS, ''));
}

/** Escapes characters as `<U+…>`, except joiners that `isVisible` accepts after the text before them. */
function escapeCharacters(text: string, hidden = HIDDEN_CHARACTERS, isVisible = isEmojiSelector): string {
  return text.replace(hidden, (char, at: number) => {
    if (JOINERS.test(char) && isVisible(char, text.slice(Math.max(0, at - 3), at))) return char;
    return `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

const JOINERS = /[\ufe0f\u200c\u200d]/;

function isEmojiSelector(char: string, before: string): boolean {
  return char === '\ufe0f' && /\p{Extended_Pictographic}$/u.test(before);
}

/** Returns whether the joiner follows an emoji, or a letter of a script that uses joiners. */
function isJoiner(_char: string, before: string): boolean {
  if (/[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u.test(before)) return true;
  return /(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}\p{M}]$/u.test(before);
}

/** Replaces long runs of blanks, which push text out of sight, by their length. */
function collapseRuns(text: string): string {
  return text
    .replace(/[ \t]{21,}/g, (run) => ` ⟨${run.length} spaces⟩ `)
    .replace(/\n(?:[ \t]*\n){4,}/g, (run) => `\n⟨${run.split('\n').length - 2} blank lines⟩\n`);
}

/** All characters that are invisible, reorder text or look like a space, except tab and newline. */
export const HIDDEN_CHARACTERS =
  /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|[\0-\x08\x0b-\x1f\x7f-\x9f]|\u00a0|\u034f|[\u115f\u1160]|\u1680|[\u17b4\u17b5]|[\u180b-\u180f]|[\u2000-\u200a]|\u202f|\u205f|[\u3000\u3164]|[\ufe00-\ufe0f]|\uffa0|\ufffc|\u2800|[\u{e0100}-\u{e01ef}]/gu;

const PRIVILEGED_TAG =
  /<(?=\/?\s*(?:system|reminder|assistant|user|human|tool|function|antml|resource)[\w:-]*[\s/>])/gi;

/** Sanitizes text of a server for the model: tags that could pass for system or user messages are escaped. */
export function sanitizeUntrusted(text: string): string {
  return sanitize(text, 'foreign').replaceAll(PRIVILEGED_TAG, '&lt;');
}

/** Sanitizes text of a server to one line of limited length, for names and descriptions. */
export function sanitizeUntrustedLine(text: string, maxChars: number): string {
  const line = sanitizeUntrusted(text).replaceAll(/\s+/g, ' ').trim();
  return truncate(line, maxChars);
}
