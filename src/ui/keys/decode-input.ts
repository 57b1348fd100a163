import { decodeCsi, decodeOsc, key } from './decode-sequence.ts';
import type { InputEvent, Undecoded } from './input-event.ts';

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
const CSI = /^\u001b\[[0-?]*[ -/]*[@-~]/;
const OSC = /^\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)/;
/** A function key of the Linux console, Shift and a key of rxvt, and the mouse as the oldest terminals tell it. */
const ODD_CSI = /^\u001b\[(?:\[[A-E]|[1-8]\$(?![a-z])|M[\s\S]{3})/;
const ODD_UNFINISHED = /^\u001b\[(?:\[|M[\s\S]{0,2})$/;
const CONSOLE_KEYS = 'ABCDE';
const SS3 = /^\u001bO[A-Z]/;
const UNFINISHED = /^\u001b(?:\[[0-?]*[ -/]*|[\]P_^X][^\u0007\u001b]*\u001b?|O)?$/;
const PRINTABLE = /^[^\u0000-\u001f\u007f\u001b]+/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Reads what came in. What is cut off at the end is handed back, to be read with what follows. */
export function decodeInput(
  before: Undecoded,
  chunk: string,
): { readonly events: readonly InputEvent[]; readonly undecoded: Undecoded } {
  const events: InputEvent[] = [];
  let rest = before.rest + withoutEnd(before, chunk);
  let paste = before.paste;
  while (rest !== '') {
    if (paste !== undefined) {
      const end = rest.indexOf(PASTE_END);
      if (end === -1) {
        // The end may itself be cut: as much as could be its beginning stays behind.
        const keep = overlap(rest, PASTE_END);
        return {
          events: amongOthers(events),
          undecoded: { rest: rest.slice(rest.length - keep), paste: paste + rest.slice(0, rest.length - keep) },
        };
      }
      events.push({ type: 'paste', text: paste + rest.slice(0, end) });
      rest = rest.slice(end + PASTE_END.length);
      paste = undefined;
    } else if (rest.startsWith(PASTE_START)) {
      rest = rest.slice(PASTE_START.length);
      paste = '';
    } else {
      const step = decodeOne(rest);
      if (step === undefined) return { events: amongOthers(events), undecoded: { rest, paste } };
      events.push(...step.events);
      rest = rest.slice(step.length);
    }
  }
  return { events: amongOthers(events), undecoded: { rest, paste } };
}

/** What a terminal still sends of a sequence that was given up is no key. Behind a lone ESC it has to be all there is. */
function withoutEnd({ givenUp = '' }: Undecoded, chunk: string): string {
  if (givenUp === '') return chunk;
  const whole = givenUp + chunk;
  // What is pasted is not lost with the sign before it.
  if (whole.startsWith(PASTE_START)) return whole;
  const length = sequenceAt(whole)?.length ?? 0;
  if (length <= givenUp.length || (givenUp === '\u001b' && length < whole.length)) return chunk;
  return whole.slice(length);
}

function sequenceAt(text: string): string | undefined {
  return [ODD_CSI, CSI, OSC, SS3].map((shape) => shape.exec(text)?.[0]).find((found) => found !== undefined);
}

/** Characters that come in one read were not pressed one by one; one and the same is a key that is held. */
function amongOthers(events: readonly InputEvent[]): readonly InputEvent[] {
  const keys = events.filter((event) => event.type === 'key');
  const [first] = keys;
  if (keys.length < 2 || keys.every(({ text }) => text === '')) return events;
  const manner = keys.every(({ text }) => text === first?.text) ? 'held' : 'among';
  return events.map((event) => (event.type === 'key' ? { ...event, manner } : event));
}

/** Nothing followed in time: a lone ESC is the ESC key, and a sequence that was cut is given up. */
export function decodeLate({ rest, paste }: Undecoded): {
  readonly events: readonly InputEvent[];
  readonly undecoded: Undecoded;
} {
  if (paste !== undefined || rest === '') return { events: [], undecoded: { rest, paste } };
  const alt = rest.length === 2 ? [{ type: 'key' as const, chord: `alt+${rest.charAt(1)}`, text: '' }] : [];
  return { events: rest === '\u001b' ? [key('escape', 1)] : alt, undecoded: { rest: '', paste, givenUp: rest } };
}

type Step = { readonly events: readonly InputEvent[]; readonly length: number };

function decodeOne(rest: string): Step | undefined {
  const printable = PRINTABLE.exec(rest)?.[0];
  if (printable !== undefined) {
    const events = [...graphemes.segment(printable)].map(({ segment }) => typed(segment));
    return { events, length: printable.length };
  }
  if (!rest.startsWith('\u001b')) return { events: [control(rest.charCodeAt(0))], length: 1 };
  const odd = ODD_CSI.exec(rest)?.[0];
  if (odd !== undefined) return step(oddKey(odd.slice(2)), odd.length);
  if (UNFINISHED.test(rest) || ODD_UNFINISHED.test(rest)) return undefined;
  const csi = CSI.exec(rest)?.[0];
  if (csi !== undefined) return step(decodeCsi(csi.slice(2)), csi.length);
  const osc = OSC.exec(rest)?.[0];
  if (osc !== undefined) return step(decodeOsc(osc.slice(2)), osc.length);
  if (SS3.test(rest)) return step(decodeCsi(rest.charAt(2)), 3);
  if (rest.startsWith('\u001b\u001b')) return { events: [key('escape', 1)], length: 1 };
  const [{ segment } = { segment: rest.charAt(1) }] = graphemes.segment(rest.slice(1, 20));
  const code = segment.charCodeAt(0);
  const event = code < 32 || code === 127 ? control(code) : typed(segment);
  const chord = event.type === 'key' ? `alt+${event.chord === ' ' ? 'space' : event.chord}` : '';
  return {
    events: [{ type: 'key', chord: chord.replace('alt+ctrl+', 'ctrl+alt+'), text: '' }],
    length: 1 + segment.length,
  };
}

/** The mouse means nothing here, whichever characters its place is written with. */
function oddKey(body: string): InputEvent | undefined {
  if (body.startsWith('M')) return undefined;
  return body.startsWith('[') ? key(`f${CONSOLE_KEYS.indexOf(body.charAt(1)) + 1}`, 1) : decodeCsi(body);
}

function step(event: InputEvent | undefined, length: number): Step {
  return { events: event === undefined ? [] : [event], length };
}

function typed(text: string): InputEvent {
  return { type: 'key', chord: text, text };
}

function control(code: number): InputEvent {
  switch (code) {
    case 0:
      return key('space', 5);
    case 8:
    case 127:
      return key('backspace', 1);
    case 9:
      return key('tab', 1);
    case 13:
      return key('enter', 1);
    case 0x1c:
      return key('\\', 5);
    case 0x1d:
      return key(']', 5);
    case 0x1e:
      return key('^', 5);
    case 0x1f:
      return key('_', 5);
    default:
      return key(String.fromCharCode(code + 96), 5);
  }
}

function overlap(text: string, wanted: string): number {
  for (let length = Math.min(text.length, wanted.length - 1); length > 0; length -= 1) {
    if (text.endsWith(wanted.slice(0, length))) return length;
  }
  return 0;
}
