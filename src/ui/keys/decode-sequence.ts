import type { InputEvent } from './input-event.ts';

const LETTER_KEYS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  E: 'clear',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
};

const TILDE_KEYS: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
};

const NAMED_CODES: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  32: 'space',
  127: 'backspace',
  57414: 'enter',
};

const MOST_MODIFIERS = 16;
/** Super, Hyper and Meta: keys with them belong to the desktop. */
const OTHERS = 8 | 16 | 32;
const HELD = '2';
const RELEASED = '3';

/** A CSI sequence (without its `ESC [`); undefined when it means nothing to us. */
export function decodeCsi(body: string): InputEvent | undefined {
  if (body === 'I' || body === 'O') return { type: 'focus', window: body === 'I' ? 'in' : 'out' };
  if (body === 'Z') return key('tab', 2);
  const scheme = /^\?997;([12])n$/.exec(body);
  if (scheme) return { type: 'scheme', scheme: scheme[1] === '1' ? 'dark' : 'light' };
  // `1;5R` is a key; no key has so many modifiers as the columns that are asked for.
  const position = /^\d+;(\d+)R$/.exec(body);
  if (position && Number(position[1]) > MOST_MODIFIERS) return { type: 'position', column: Number(position[1]) };
  const letter = /^(?:1;(\d+)(?::(\d))?)?([A-FHPQRS])$/.exec(body);
  if (letter) return pressed(key(LETTER_KEYS[letter[3] ?? ''] ?? '', Number(letter[1] ?? 1)), letter[2]);
  const kitty = /^(\d+)(?::\d*)*(?:;(\d*)(?::(\d))?)?(?:;[\d:]*)?u$/.exec(body);
  if (kitty) return pressed(codeKey(Number(kitty[1]), Number(kitty[2] || 1)), kitty[3]);
  const other = /^27;(\d+);(\d+)~$/.exec(body);
  if (other) return codeKey(Number(other[2]), Number(other[1]));
  const tilde = /^(\d+)(?:;(\d+)(?::(\d))?)?~$/.exec(body);
  if (tilde) {
    const name = TILDE_KEYS[tilde[1] ?? ''];
    return name === undefined ? undefined : pressed(key(name, Number(tilde[2] ?? 1)), tilde[3]);
  }
  // What rxvt sends with Shift.
  const shifted = /^([1-8])\$$/.exec(body);
  return shifted ? key(TILDE_KEYS[shifted[1] ?? ''] ?? '', 2) : undefined;
}

/** A key as it was pressed, held or let go, where the terminal tells. */
function pressed(event: InputEvent | undefined, how: string | undefined): InputEvent | undefined {
  if (event?.type !== 'key' || how === RELEASED) return undefined;
  return how === HELD ? { ...event, manner: 'held' } : event;
}

/** The answer to the question for the background colour (OSC 11). */
export function decodeOsc(body: string): InputEvent | undefined {
  const color = /^11;rgb:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(body);
  if (!color) return undefined;
  const channel = (hex = '0') => Number.parseInt(hex, 16) / (16 ** hex.length - 1);
  return { type: 'background', red: channel(color[1]), green: channel(color[2]), blue: channel(color[3]) };
}

/** A key by its name and the modifiers as terminals count them: 1, and 1, 2, 4 for Shift, Alt, Ctrl. */
export function key(name: string, modifiers: number): InputEvent {
  const bits = modifiers - 1;
  const chord = `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${bits & 1 ? 'shift+' : ''}${name}`;
  return { type: 'key', chord, text: '' };
}

function codeKey(code: number, held: number): InputEvent | undefined {
  if ((held - 1) & OTHERS) return undefined;
  // Lock keys are none of our business.
  const modifiers = ((held - 1) & 7) + 1;
  const name = NAMED_CODES[code];
  if (name === 'space' && modifiers <= 2) return { type: 'key', chord: ' ', text: ' ' };
  if (name !== undefined) return key(name, modifiers);
  if (code < 32 || (code >= 57344 && code <= 63743) || code > 0x10ffff) return undefined;
  const character = String.fromCodePoint(code);
  const bits = modifiers - 1;
  // Shift alone is part of the character.
  if ((bits & 6) === 0) {
    const text = bits & 1 ? character.toUpperCase() : character;
    return { type: 'key', chord: text, text };
  }
  return key(character, modifiers);
}
