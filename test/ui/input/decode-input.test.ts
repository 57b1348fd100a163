import { expect, test } from 'vitest';
import { decodeInput, flushDecoder } from '../../../src/ui/input/decode-input.ts';
import { INITIAL_DECODER_STATE, type InputEvent } from '../../../src/ui/input/input-event.ts';

const decoded = (bytes: string) => decodeInput(INITIAL_DECODER_STATE, bytes);
const words = (events: readonly InputEvent[]) =>
  events.map((event) => {
    if (event.type !== 'key') return event.type;
    return event.delivery === undefined ? event.chord : `${event.chord} ${event.delivery}`;
  });

/** Everything a terminal may send at once, and what it means to us. */
const SEQUENCES: Readonly<Record<string, readonly string[]>> = {
  '\x1b[A': ['up'],
  '\x1bOB': ['down'],
  '\x1b[1;5C': ['ctrl+right'],
  '\x1b[1;129A': ['up'],
  '\x1b[[A': ['f1'],
  '\x1b[[E': ['f5'],
  '\x1b[3~': ['delete'],
  '\x1b[3$': ['shift+delete'],
  '\x1b[M yy': [],
  '\x1b[M`!!': [],
  '\x1b[<64;121;10M': [],
  '\x1b[<0;1;1m': [],
  '\x1b[I': ['focus'],
  '\x1b[?62;22c': [],
  '\x1b[?2026;2$y': [],
  '\x1bP>|kitty(0.40)\x1b\\': [],
  '\x1b]11;rgb:1e1e/1e1e/1e1e\x07': ['background'],
  '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\': ['background'],
  '\x1b[121u': ['y'],
  '\x1b[121;1:1u': ['y'],
  '\x1b[121;1:2u': ['y held'],
  '\x1b[121;1:3u': [],
  '\x1b[121;9u': [],
  '\x1b[13;9u': [],
  '\x1b[13;65u': ['enter'],
  '\x1b[32;129u': [' '],
  '\x1b[99;5u': ['ctrl+c'],
  '\x1b[99;133u': ['ctrl+c'],
  '\x1b[27u': ['escape'],
  '\x1b[200~yes\r\x1b[201~': ['paste'],
};

test('sequences of terminals are keys, or nothing; none of their characters is typed', () => {
  for (const [bytes, meant] of Object.entries(SEQUENCES)) {
    const { events, state } = decoded(bytes);
    expect([bytes, words(events), state.pending]).toEqual([bytes, meant, '']);
  }
});

test('a sequence in two reads means the same, wherever it is split, also when its end is late', () => {
  for (const [bytes, meant] of Object.entries(SEQUENCES)) {
    for (let at = 2; at < bytes.length; at += 1) {
      const first = decoded(bytes.slice(0, at));
      const second = decodeInput(first.state, bytes.slice(at));
      expect([bytes, at, words([...first.events, ...second.events])]).toEqual([bytes, at, meant]);
      if (first.state.paste !== undefined) continue;
      const late = flushDecoder(first.state);
      const end = decodeInput(late.state, bytes.slice(at));
      expect(
        words(end.events).filter((key) => /^[ -~]( |$)/.test(key)),
        `${JSON.stringify(bytes)} cut at ${at}`,
      ).toEqual([]);
    }
  }
});

test('a lone ESC is a key, and the rest of an arrow key after it is none', () => {
  const late = flushDecoder(decoded('\x1b').state);
  expect(words(late.events)).toEqual(['escape']);
  expect(words(decodeInput(late.state, '[A').events)).toEqual([]);
  expect(words(decodeInput(late.state, 'OA').events)).toEqual([]);
  expect(words(decodeInput(late.state, '[').events)).toEqual(['[']);
  expect(words(decodeInput(late.state, 'y').events)).toEqual(['y']);
});

test('characters of one read were not pressed one by one', () => {
  expect(words(decoded('y').events)).toEqual(['y']);
  expect(words(decoded('yyy').events)).toEqual(['y held', 'y held', 'y held']);
  expect(words(decoded('好的').events)).toEqual(['好 among', '的 among']);
  expect(words(decoded('y\r').events)).toEqual(['y among', 'enter among']);
  expect(words(decoded('\x1b[B\r').events)).toEqual(['down', 'enter']);
  expect(words(decoded('\x1b[Iy').events)).toEqual(['focus', 'y']);
});
