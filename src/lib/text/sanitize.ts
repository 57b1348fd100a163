import { asPrintable, type Printable } from '../printable.ts';

/**
 * `output`: what programs print; escape sequences vanish. `foreign`: what a server says, to the model too; characters
 * that do not show vanish as well. `prompt`: what somebody decides on; nothing vanishes, what would not show is
 * spelled out. `line`: the same in one line, for names and titles.
 */
export type SanitizeProfile = 'output' | 'foreign' | 'prompt' | 'line';

/**
 * A whole sequence for the terminal, in its forms of seven and eight bits: control sequences, strings (titles, the
 * clipboard, …) and short escapes. A string that does not end must not swallow the lines behind it.
 */
const SEQUENCE =
  /(?:\x1b+\[|\x9b)[\0-\x09\x0b-\x17\x19\x1c-\x3f]*[@-~]?|(?:\x1b+[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\n\x18\x1a\x1b\x9c]*(?:\x07|\x9c|\x1b\\)?|\x1b+(?:[ -/]+[0-~]?|[0-~])?/g;
/** Control characters but tab and newline. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Bidi marks, zero-width characters, tags and odd separators; the joiners of emoji and alphabets are not among them. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The one exit of foreign text to the screen. */
export function sanitize(text: string, profile: SanitizeProfile): Printable {
  if (profile === 'output') return asPrintable(text.replaceAll(SEQUENCE, '').replaceAll(CONTROL, ''));
  if (profile === 'foreign') return asPrintable(sanitize(text.toWellFormed(), 'output').replaceAll(INVISIBLE, ''));
  const spelled = foldRuns(spellOut(text.replaceAll('\r\n', '\n')));
  return asPrintable(profile === 'line' ? spelled.replaceAll('\n', '⏎').replaceAll('\t', ' ') : spelled);
}

/** What would move the cursor, begin a sequence or turn text around. */
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Words for one line, as they are; where something in them would not show as itself, it is spelled out. */
export function printableLine(text: string): Printable {
  return UNSHOWABLE.test(text) ? sanitize(text, 'line') : asPrintable(text);
}

/** A name, or words about one, in a list that somebody chooses from: on one line, and what would not show is spelled out. */
export function printableName(text: string): Printable {
  return sanitize(text.replaceAll(/\s*\n\s*/g, ' '), 'line');
}

/** A line of a change somebody decides on: as it is, but for what would not show; that is spelled out. */
export function printableCode(text: string): Printable {
  return asPrintable(spellOut(text.replace(/\r$/, ''), HIDDEN_CHARACTERS, isJoining));
}

/** What of a page hides, steers or turns text around. */
const STEERING = new RegExp(`${CONTROL.source}|${INVISIBLE.source}`, 'u');

/** Words of several lines, laid out already: sequences vanish, and whatever hides or turns text around is spelled out. */
export function printablePage(text: string): Printable {
  return STEERING.test(text) ? asPrintable(spellOut(sanitize(text, 'output'), INVISIBLE)) : asPrintable(text);
}

const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** `output` for text that is drawn by us: nothing turns it around either, and what a carriage return hid stays hidden. */
export function sanitizeScreen(text: string): Printable {
  if (!SUSPICIOUS.test(text)) return asPrintable(text);
  const overwritten = text.replaceAll('\r\n', '\n').replace(/^.*\r(?!$)/gm, '');
  return asPrintable(sanitize(overwritten, 'output').replace(DIRECTIONS, ''));
}

function spellOut(text: string, hidden = HIDDEN_CHARACTERS, isShowing = isPartOfSign): string {
  return text.replace(hidden, (char, at: number) => {
    if (JOINS.test(char) && isShowing(char, text.slice(Math.max(0, at - 3), at))) return char;
    return `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

const JOINS = /[\ufe0f\u200c\u200d]/;

function isPartOfSign(char: string, before: string): boolean {
  return char === '\ufe0f' && /\p{Extended_Pictographic}$/u.test(before);
}

/** Joins parts of one picture, or letters of an alphabet that does so. */
function isJoining(_char: string, before: string): boolean {
  if (/[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u.test(before)) return true;
  return /(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}\p{M}]$/u.test(before);
}

/** Long runs push text out of sight, so they are counted instead of drawn. */
function foldRuns(text: string): string {
  return text
    .replace(/[ \t]{21,}/g, (run) => ` ⟨${run.length} spaces⟩ `)
    .replace(/\n(?:[ \t]*\n){4,}/g, (run) => `\n⟨${run.split('\n').length - 2} blank lines⟩\n`);
}

/** Every character that does not show, reorders text, or passes for a plain space; tab and newline are not among them. */
export const HIDDEN_CHARACTERS =
  /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|[\0-\x08\x0b-\x1f\x7f-\x9f]|\u00a0|\u034f|[\u115f\u1160]|\u1680|[\u17b4\u17b5]|[\u180b-\u180f]|[\u2000-\u200a]|\u202f|\u205f|[\u3000\u3164]|[\ufe00-\ufe0f]|\uffa0|\u2800|[\u{e0100}-\u{e01ef}]/gu;

const AUTHORITY = /<(?=\/?\s*(?:system|reminder|assistant|user|human|tool|function|antml|resource)[\w:-]*[\s/>])/gi;

/** Words of a server for the model: tags that speak with an authority no server has are shown as text. */
export function untrustedText(text: string): string {
  return sanitize(text, 'foreign').replaceAll(AUTHORITY, '&lt;');
}

/** The same in one line of a bounded length, for names and descriptions. */
export function untrustedLine(text: string, maxChars: number): string {
  const line = untrustedText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1).toWellFormed()}…` : line;
}
