import { stripVTControlCharacters } from 'node:util';
import { textWidth } from '../../lib/text/text-width.ts';

const SGR = /\u001b\[([\d;]*)m/g;
/** What stands before the first character: styles, and marks for the terminal. */
const LEAD = /^(?:\u001b\][^\u0007]*\u0007|\u001b\[[\d;]*m)*/;
/** One colour or style of a sequence; a colour takes several numbers. */
const CODE = /[34]8;(?:2;\d+;\d+;\d+|5;\d+)|\d+/g;
const BACKGROUND = /^(?:48;.*|4[0-7]|10[0-7])$/;
const ERASE = '\u001b[K';
const RESET = '\u001b[m';
/** Text whose width every terminal agrees on: ASCII, and our own signs. */
const CERTAIN = /^[\x20-\x7e▌│◐◓◑◒✓✗❯·…─↳▰▱⎇]*$/;

/** A row over one that is empty. One that begins with a background is filled with it to the end of the screen. */
export function filledRow(row: string, columns = Number.POSITIVE_INFINITY): string {
  const band = bandOf(row);
  if (band === '') return row;
  const width = textWidth(stripVTControlCharacters(row));
  // Behind a full row the cursor still stands on its last column: erasing would take that away.
  const rest = width > columns && width % columns !== 0 ? `${band}${ERASE}` : '';
  return `${band}${ERASE}${row}${rest}${RESET}`;
}

/** A row over another one; the cursor is in its first column. What both begin with, and end with, stays as it stands. */
export function changedRow(before: string, after: string): string {
  const same = commonStart(before, after);
  if (same === undefined) return `${ERASE}${filledRow(after)}`;
  const { columns, opened } = same;
  const move = columns === 0 ? '' : `\u001b[${columns + 1}G`;
  const middle = changedMiddle(before, after, same.length);
  if (middle !== undefined) return `${move}${opened}${middle}`;
  const band = bandOf(after);
  const isShorter = textWidth(stripVTControlCharacters(after)) < textWidth(stripVTControlCharacters(before));
  const rest = isShorter ? `${band}${ERASE}${band === '' ? '' : RESET}` : '';
  return `${move}${opened}${after.slice(same.length)}${rest}`;
}

/** The sequence for the background of a band; empty where a row is none. */
function bandOf(row: string): string {
  const lead = LEAD.exec(row)?.[0] ?? '';
  const codes = [...lead.matchAll(SGR)].flatMap(([, numbers = '']) => numbers.match(CODE) ?? []);
  const background = codes.find((code) => BACKGROUND.test(code));
  return background === undefined ? '' : `\u001b[${background}m`;
}

/** How much two rows share at their beginning, and the style that is open there; undefined where that is uncertain. */
function commonStart(
  before: string,
  after: string,
): { readonly length: number; readonly columns: number; readonly opened: string } | undefined {
  if (bandOf(before) !== bandOf(after)) return undefined;
  let length = 0;
  while (length < after.length && before[length] === after[length]) length += 1;
  const begun = after.lastIndexOf('\u001b', length - 1);
  if (begun !== -1 && !after.slice(begun, length).includes('m')) length = begun;
  const shared = after.slice(0, length);
  const text = stripVTControlCharacters(shared);
  // What follows must not change the last character that is kept.
  const next = [stripVTControlCharacters(before.slice(length)), stripVTControlCharacters(after.slice(length))];
  if (!CERTAIN.test(text) || next.some((rest) => !CERTAIN.test(rest.slice(0, 1)))) return undefined;
  return { length, columns: text.length, opened: openStyles(shared) };
}

/** What differs between a start and an end that both share, where it is as wide; else undefined. */
function changedMiddle(before: string, after: string, start: number): string | undefined {
  const most = Math.min(before.length, after.length) - start;
  let shared = 0;
  while (shared < most && before.at(-1 - shared) === after.at(-1 - shared)) shared += 1;
  const sequence = after.lastIndexOf('\u001b', after.length - shared - 1);
  const isCut = sequence >= start && !after.slice(sequence, after.length - shared).includes('m');
  // A sequence that only ends alike is written as a whole.
  const end = shared - (isCut ? after.indexOf('m', sequence) + 1 - (after.length - shared) : 0);
  const [old, next] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const [oldText, text] = [stripVTControlCharacters(old), stripVTControlCharacters(next)];
  const follows = stripVTControlCharacters(after.slice(after.length - end)).slice(0, 1);
  if (end <= 0 || oldText.length !== text.length || ![oldText, text, follows].every((one) => CERTAIN.test(one)))
    return undefined;
  const opened = openStyles(after.slice(0, after.length - end));
  if (opened !== openStyles(before.slice(0, before.length - end))) return undefined;
  return opened === '' ? next : `${next}${RESET}`;
}

/** The styles that are on behind a text, each by its own sequence, as Ink writes them. */
function openStyles(text: string): string {
  const open = new Map<string, string>();
  for (const [sequence, codes = ''] of text.matchAll(SGR)) {
    const code = Number.parseInt(codes, 10) || 0;
    if (code === 0) open.clear();
    else if (ENDS[code] !== undefined) for (const kind of ENDS[code]) open.delete(kind);
    else open.set(kindOf(code), sequence);
  }
  return [...open.values()].join('');
}

const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ['1', '2'],
  23: ['3'],
  24: ['4'],
  27: ['7'],
  29: ['9'],
  39: ['color'],
  49: ['background'],
};

function kindOf(code: number): string {
  if (code < 10) return String(code);
  return (code >= 40 && code < 50) || code >= 100 ? 'background' : 'color';
}
