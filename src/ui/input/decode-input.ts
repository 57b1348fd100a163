import type { DecoderState, InputEvent } from './input-event.ts';

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
const CSI = /^\u001b\[[0-?]*[ -/]*[@-~]/;
const OSC = /^\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)/;
/** Function keys of the Linux console, Shift plus a key in rxvt, and mouse reports in X10 encoding. */
const LEGACY_CSI = /^\u001b\[(?:\[[A-E]|[1-8]\$(?![a-z])|M[\s\S]{3})/;
const LEGACY_UNFINISHED = /^\u001b\[(?:\[|M[\s\S]{0,2})$/;
const CONSOLE_KEYS = 'ABCDE';
const SS3 = /^\u001bO[A-Z]/;
const UNFINISHED = /^\u001b(?:\[[0-?]*[ -/]*|[\]P_^X][^\u0007\u001b]*\u001b?|O)?$/;
const PRINTABLE = /^[^\u0000-\u001f\u007f\u001b]+/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Decodes one chunk of terminal input. An incomplete sequence at its end is kept for the next chunk. */
export function decodeInput(
  previous: DecoderState,
  chunk: string,
): { readonly events: readonly InputEvent[]; readonly state: DecoderState } {
  const events: InputEvent[] = [];
  let pending = previous.pending + dropAbandonedEnd(previous, chunk);
  let paste = previous.paste;
  while (pending !== '') {
    if (paste !== undefined) {
      const end = pending.indexOf(PASTE_END);
      if (end === -1) {
        // The end marker may be cut as well, so a possible start of it stays undecoded.
        const keep = measureOverlap(pending, PASTE_END);
        return {
          events: markDelivery(events),
          state: {
            pending: pending.slice(pending.length - keep),
            paste: paste + pending.slice(0, pending.length - keep),
          },
        };
      }
      events.push({ type: 'paste', text: paste + pending.slice(0, end) });
      pending = pending.slice(end + PASTE_END.length);
      paste = undefined;
    } else if (pending.startsWith(PASTE_START)) {
      pending = pending.slice(PASTE_START.length);
      paste = '';
    } else {
      const decoded = decodeOne(pending);
      if (decoded === undefined) return { events: markDelivery(events), state: { pending, paste } };
      events.push(...decoded.events);
      pending = pending.slice(decoded.length);
    }
  }
  return { events: markDelivery(events), state: { pending, paste } };
}

/** Drops the rest of an abandoned sequence; after a lone ESC it must be the whole chunk. */
function dropAbandonedEnd({ abandoned = '' }: DecoderState, chunk: string): string {
  if (abandoned === '') return chunk;
  const whole = abandoned + chunk;
  // The start of a paste is never dropped, or the pasted text would be lost.
  if (whole.startsWith(PASTE_START)) return whole;
  const length = matchSequence(whole)?.length ?? 0;
  if (length <= abandoned.length || (abandoned === '\u001b' && length < whole.length)) return chunk;
  return whole.slice(length);
}

function matchSequence(text: string): string | undefined {
  return [LEGACY_CSI, CSI, OSC, SS3].map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
}

/** Marks keys that arrived in one read: different characters are inserted text, equal ones an auto-repeated key. */
function markDelivery(events: readonly InputEvent[]): readonly InputEvent[] {
  const keys = events.filter((event) => event.type === 'key');
  const [first] = keys;
  if (keys.length < 2 || keys.every(({ text }) => text === '')) return events;
  const delivery = keys.every(({ text }) => text === first?.text) ? 'held' : 'among';
  return events.map((event): InputEvent => (event.type === 'key' ? { ...event, delivery } : event));
}

/** Decodes what is left when nothing followed in time: a lone ESC is the ESC key, a cut sequence is abandoned. */
export function flushDecoder({ pending, paste }: DecoderState): {
  readonly events: readonly InputEvent[];
  readonly state: DecoderState;
} {
  if (paste !== undefined || pending === '') return { events: [], state: { pending, paste } };
  const alt: readonly InputEvent[] =
    pending.length === 2 ? [{ type: 'key', chord: `alt+${pending.charAt(1)}`, text: '' }] : [];
  return {
    events: pending === '\u001b' ? [createKeyEvent('escape', 1)] : alt,
    state: { pending: '', paste, abandoned: pending },
  };
}

type DecodedKey = { readonly events: readonly InputEvent[]; readonly length: number };

function decodeOne(rest: string): DecodedKey | undefined {
  const printable = PRINTABLE.exec(rest)?.[0];
  if (printable !== undefined) {
    const events = [...graphemes.segment(printable)].map(({ segment }) => createCharacterEvent(segment));
    return { events, length: printable.length };
  }
  if (!rest.startsWith('\u001b')) return { events: [createControlEvent(rest.charCodeAt(0))], length: 1 };
  const legacy = LEGACY_CSI.exec(rest)?.[0];
  if (legacy !== undefined) return createDecodedKey(decodeLegacyCsi(legacy.slice(2)), legacy.length);
  if (UNFINISHED.test(rest) || LEGACY_UNFINISHED.test(rest)) return undefined;
  const csi = CSI.exec(rest)?.[0];
  if (csi !== undefined) return createDecodedKey(decodeCsi(csi.slice(2)), csi.length);
  const osc = OSC.exec(rest)?.[0];
  if (osc !== undefined) return createDecodedKey(decodeOsc(osc.slice(2)), osc.length);
  if (SS3.test(rest)) return createDecodedKey(decodeCsi(rest.charAt(2)), 3);
  if (rest.startsWith('\u001b\u001b')) return { events: [createKeyEvent('escape', 1)], length: 1 };
  const [{ segment } = { segment: rest.charAt(1) }] = graphemes.segment(rest.slice(1, 20));
  const code = segment.charCodeAt(0);
  const event = code < 32 || code === 127 ? createControlEvent(code) : createCharacterEvent(segment);
  const chord = event.type === 'key' ? `alt+${event.chord === ' ' ? 'space' : event.chord}` : '';
  return {
    events: [{ type: 'key', chord: chord.replace('alt+ctrl+', 'ctrl+alt+'), text: '' }],
    length: 1 + segment.length,
  };
}

/** Decodes a legacy sequence. Mouse reports are ignored. */
function decodeLegacyCsi(body: string): InputEvent | undefined {
  if (body.startsWith('M')) return undefined;
  return body.startsWith('[') ? createKeyEvent(`f${CONSOLE_KEYS.indexOf(body.charAt(1)) + 1}`, 1) : decodeCsi(body);
}

function createDecodedKey(event: InputEvent | undefined, length: number): DecodedKey {
  return { events: event === undefined ? [] : [event], length };
}

function createCharacterEvent(text: string): InputEvent {
  return { type: 'key', chord: text, text };
}

function createControlEvent(code: number): InputEvent {
  switch (code) {
    case 0:
      return createKeyEvent('space', 5);
    case 8:
    case 127:
      return createKeyEvent('backspace', 1);
    case 9:
      return createKeyEvent('tab', 1);
    case 13:
      return createKeyEvent('enter', 1);
    case 0x1c:
      return createKeyEvent('\\', 5);
    case 0x1d:
      return createKeyEvent(']', 5);
    case 0x1e:
      return createKeyEvent('^', 5);
    case 0x1f:
      return createKeyEvent('_', 5);
    default:
      return createKeyEvent(String.fromCharCode(code + 96), 5);
  }
}

/** Returns how many characters at the end of a text could be the start of the marker. */
function measureOverlap(text: string, marker: string): number {
  for (let length = Math.min(text.length, marker.length - 1); length > 0; length -= 1) {
    if (text.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}

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

const MAX_MODIFIERS = 16;
/** Super, Hyper and Meta; keys with them are ignored, as the desktop uses them. */
const DESKTOP_MODIFIERS = 8 | 16 | 32;
/** Event types of the kitty keyboard protocol. */
const REPEATED = '2';
const RELEASED = '3';

/** Decodes a CSI sequence (without its `ESC [`). Returns undefined for a sequence that is not used. */
function decodeCsi(body: string): InputEvent | undefined {
  if (body === 'I' || body === 'O') return { type: 'focus', window: body === 'I' ? 'in' : 'out' };
  if (body === 'Z') return createKeyEvent('tab', 2);
  const scheme = /^\?997;([12])n$/.exec(body);
  if (scheme) return { type: 'scheme', scheme: scheme[1] === '1' ? 'dark' : 'light' };
  // `1;5R` is a key: cursor positions are only requested in columns above the highest modifier value.
  const position = /^\d+;(\d+)R$/.exec(body);
  if (position && Number(position[1]) > MAX_MODIFIERS) return { type: 'position', column: Number(position[1]) };
  const letter = /^(?:1;(\d+)(?::(\d))?)?([A-FHPQRS])$/.exec(body);
  if (letter)
    return withEventType(createKeyEvent(LETTER_KEYS[letter[3] ?? ''] ?? '', Number(letter[1] ?? 1)), letter[2]);
  const kitty = /^(\d+)(?::\d*)*(?:;(\d*)(?::(\d))?)?(?:;[\d:]*)?u$/.exec(body);
  if (kitty) return withEventType(decodeCodePoint(Number(kitty[1]), Number(kitty[2] || 1)), kitty[3]);
  const modifyOtherKeys = /^27;(\d+);(\d+)~$/.exec(body);
  if (modifyOtherKeys) return decodeCodePoint(Number(modifyOtherKeys[2]), Number(modifyOtherKeys[1]));
  const tilde = /^(\d+)(?:;(\d+)(?::(\d))?)?~$/.exec(body);
  if (tilde) {
    const name = TILDE_KEYS[tilde[1] ?? ''];
    return name === undefined ? undefined : withEventType(createKeyEvent(name, Number(tilde[2] ?? 1)), tilde[3]);
  }
  // rxvt sends `$` in place of `~` when Shift is held.
  const shifted = /^([1-8])\$$/.exec(body);
  return shifted ? createKeyEvent(TILDE_KEYS[shifted[1] ?? ''] ?? '', 2) : undefined;
}

/** Applies the event type, where the terminal reports one: releases are dropped, repeats are marked. */
function withEventType(event: InputEvent | undefined, eventType: string | undefined): InputEvent | undefined {
  if (event?.type !== 'key' || eventType === RELEASED) return undefined;
  return eventType === REPEATED ? { ...event, delivery: 'held' } : event;
}

/** Decodes an OSC sequence; only the reply to the background colour query (OSC 11) is used. */
function decodeOsc(body: string): InputEvent | undefined {
  const color = /^11;rgb:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(body);
  if (!color) return undefined;
  const parseChannel = (hex = '0') => Number.parseInt(hex, 16) / (16 ** hex.length - 1);
  return {
    type: 'background',
    red: parseChannel(color[1]),
    green: parseChannel(color[2]),
    blue: parseChannel(color[3]),
  };
}

/** Creates a key event. `modifiers` is encoded as in terminals: 1 plus 1, 2, 4 for Shift, Alt, Ctrl. */
function createKeyEvent(name: string, modifiers: number): InputEvent {
  const bits = modifiers - 1;
  const chord = `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${bits & 1 ? 'shift+' : ''}${name}`;
  return { type: 'key', chord, text: '' };
}

/** Decodes a key given as a Unicode code point with encoded modifiers. */
function decodeCodePoint(code: number, encodedModifiers: number): InputEvent | undefined {
  if ((encodedModifiers - 1) & DESKTOP_MODIFIERS) return undefined;
  // Bits above 7 are lock keys, which do not matter here.
  const modifiers = ((encodedModifiers - 1) & 7) + 1;
  const name = NAMED_CODES[code];
  if (name === 'space' && modifiers <= 2) return { type: 'key', chord: ' ', text: ' ' };
  if (name !== undefined) return createKeyEvent(name, modifiers);
  if (code < 32 || (code >= 57344 && code <= 63743) || code > 0x10ffff) return undefined;
  const character = String.fromCodePoint(code);
  const bits = modifiers - 1;
  // Shift alone only changes the character.
  if ((bits & 6) === 0) {
    const text = bits & 1 ? character.toUpperCase() : character;
    return { type: 'key', chord: text, text };
  }
  return createKeyEvent(character, modifiers);
}
