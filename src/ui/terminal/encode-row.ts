import { stripVTControlCharacters } from 'node:util';
import { getTextWidth } from '../../lib/text/text-width.ts';

const SGR = /\u001b\[([\d;]*)m/g;
/** Styles and OSC sequences before the first character. */
const LEAD = /^(?:\u001b\][^\u0007]*\u0007|\u001b\[[\d;]*m)*/;
/** One colour or style of an SGR sequence; a colour consists of several numbers. */
const CODE = /[34]8;(?:2;\d+;\d+;\d+|5;\d+)|\d+/g;
const BACKGROUND = /^(?:48;.*|4[0-7]|10[0-7])$/;
const ERASE = '\u001b[K';
const RESET = '\u001b[m';
/** Text that has the same width in every terminal: ASCII and the symbols of the interface. */
const KNOWN_WIDTH = /^[\x20-\x7e▌│◐◓◑◒✓✗❯·…─↳▰▱⎇]*$/;

/** Returns the bytes for a row in place of an empty one. A leading background fills the row to its end. */
export function encodeNewRow(row: string, columns = Number.POSITIVE_INFINITY): string {
  const band = getBand(row);
  if (band === '') return row;
  const width = getTextWidth(stripVTControlCharacters(row));
  // After a full row the cursor is still on its last column, which erasing would clear.
  const rest = width > columns && width % columns !== 0 ? `${band}${ERASE}` : '';
  return `${band}${ERASE}${row}${rest}${RESET}`;
}

/** Returns the bytes that change one row into another, from the first column. The shared start and end are kept. */
export function encodeRowChange(before: string, after: string): string {
  const shared = findSharedStart(before, after);
  if (shared === undefined) return `${ERASE}${encodeNewRow(after)}`;
  const { columns, opened } = shared;
  const move = columns === 0 ? '' : `\u001b[${columns + 1}G`;
  const middle = diffMiddle(before, after, shared.length);
  if (middle !== undefined) return `${move}${opened}${middle}`;
  const band = getBand(after);
  const isShorter = getTextWidth(stripVTControlCharacters(after)) < getTextWidth(stripVTControlCharacters(before));
  const rest = isShorter ? `${band}${ERASE}${band === '' ? '' : RESET}` : '';
  return `${move}${opened}${after.slice(shared.length)}${rest}`;
}

/** Returns the sequence of the background that a row begins with; empty without one. */
function getBand(row: string): string {
  const lead = LEAD.exec(row)?.[0] ?? '';
  const codes = [...lead.matchAll(SGR)].flatMap(([, numbers = '']) => numbers.match(CODE) ?? []);
  const background = codes.find((code) => BACKGROUND.test(code));
  return background === undefined ? '' : `\u001b[${background}m`;
}

/** Returns the shared start of two rows and the styles active at its end; undefined where widths are uncertain. */
function findSharedStart(
  before: string,
  after: string,
): { readonly length: number; readonly columns: number; readonly opened: string } | undefined {
  if (getBand(before) !== getBand(after)) return undefined;
  let length = 0;
  while (length < after.length && before[length] === after[length]) length += 1;
  const sequence = after.lastIndexOf('\u001b', length - 1);
  if (sequence !== -1 && !after.slice(sequence, length).includes('m')) length = sequence;
  const shared = after.slice(0, length);
  const text = stripVTControlCharacters(shared);
  // The following character must not combine with the last shared one.
  const next = [stripVTControlCharacters(before.slice(length)), stripVTControlCharacters(after.slice(length))];
  if (!KNOWN_WIDTH.test(text) || next.some((rest) => !KNOWN_WIDTH.test(rest.slice(0, 1)))) return undefined;
  return { length, columns: text.length, opened: getOpenStyles(shared) };
}

/** Returns the differing part between a shared start and end, if both versions are equally wide; else undefined. */
function diffMiddle(before: string, after: string, start: number): string | undefined {
  const most = Math.min(before.length, after.length) - start;
  let shared = 0;
  while (shared < most && before.at(-1 - shared) === after.at(-1 - shared)) shared += 1;
  const sequence = after.lastIndexOf('\u001b', after.length - shared - 1);
  const isCut = sequence >= start && !after.slice(sequence, after.length - shared).includes('m');
  // A sequence of which only the end is shared is written as a whole.
  const end = shared - (isCut ? after.indexOf('m', sequence) + 1 - (after.length - shared) : 0);
  const [old, next] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const [oldText, text] = [stripVTControlCharacters(old), stripVTControlCharacters(next)];
  const follows = stripVTControlCharacters(after.slice(after.length - end)).slice(0, 1);
  if (end <= 0 || oldText.length !== text.length || ![oldText, text, follows].every((part) => KNOWN_WIDTH.test(part)))
    return undefined;
  const opened = getOpenStyles(after.slice(0, after.length - end));
  if (opened !== getOpenStyles(before.slice(0, before.length - end))) return undefined;
  return opened === '' ? next : `${next}${RESET}`;
}

/** Returns the styles active at the end of a text, one sequence for each, as Ink writes them. */
function getOpenStyles(text: string): string {
  const open = new Map<string, string>();
  for (const [sequence, codes = ''] of text.matchAll(SGR)) {
    const code = Number.parseInt(codes, 10) || 0;
    if (code === 0) open.clear();
    else if (RESETS[code] !== undefined) for (const kind of RESETS[code]) open.delete(kind);
    else open.set(getStyleKind(code), sequence);
  }
  return [...open.values()].join('');
}

/** The styles that a resetting code ends. */
const RESETS: Readonly<Record<number, readonly string[]>> = {
  22: ['1', '2'],
  23: ['3'],
  24: ['4'],
  27: ['7'],
  29: ['9'],
  39: ['color'],
  49: ['background'],
};

function getStyleKind(code: number): string {
  if (code < 10) return String(code);
  return (code >= 40 && code < 50) || code >= 100 ? 'background' : 'color';
}
