import { afterEach, expect, test, vi } from 'vitest';
import { createKeyboardReader } from '../../../src/ui/input/keyboard-reader.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A keyboard that is fed chunk by chunk, with so many milliseconds before each. */
function received(...chunks: readonly (readonly [waitMs: number, bytes: string])[]): readonly string[] {
  return receivedFrom('remote', ...chunks);
}

function receivedFrom(
  location: 'here' | 'remote',
  ...chunks: readonly (readonly [waitMs: number, bytes: string])[]
): readonly string[] {
  vi.useFakeTimers();
  let feed: (chunk: string) => void = () => undefined;
  const keys: string[] = [];
  const input = {
    setRawMode: () => undefined,
    setEncoding: () => undefined,
    on: (_event: 'data', listener: (chunk: string) => void) => {
      feed = listener;
    },
    off: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  };
  const keyboard = createKeyboardReader(
    input,
    (events) => {
      for (const event of events) keys.push(event.type === 'key' ? event.chord : event.type);
    },
    location,
  );
  keyboard.open();
  for (const [waitMs, bytes] of chunks) {
    vi.advanceTimersByTime(waitMs);
    feed(bytes);
  }
  vi.advanceTimersByTime(5000);
  keyboard.close();
  return keys;
}

test('a sequence may be slow, and the rest of an abandoned one is no key', () => {
  expect(received([0, '\x1b[1;5'], [900, 'C'])).toEqual(['ctrl+right']);
  expect(received([0, '\x1b]11;rgb:ffff/'], [500, 'ffff/ffff\x07'])).toEqual(['background']);
  expect(received([0, '\x1b[20'], [300, '0~y\x1b[201~'])).toEqual(['paste']);
  expect(received([0, '\x1b'], [14, '[A'])).toEqual(['up']);
  expect(received([0, '\x1b'], [100, '[A'])).toEqual(['escape']);
  expect(received([0, '\x1b['], [100, 'A'])).toEqual(['alt+[']);
});

test('ESC and text typed after it are both received', () => {
  expect(received([0, '\x1b'], [16, 'y'])).toEqual(['escape', 'y']);
  expect(received([0, '\x1b'], [300, '[A'])).toEqual(['escape', '[', 'A']);
  expect(received([0, '\x1b['], [300, 'A'])).toEqual(['alt+[', 'A']);
});

test('ESC is waited for less in a terminal of this machine', () => {
  expect(receivedFrom('here', [0, '\x1b'], [1, '[A'])).toEqual(['up']);
  expect(receivedFrom('here', [0, '\x1b'], [3, 'y'])).toEqual(['escape', 'y']);
  expect(receivedFrom('remote', [0, '\x1b'], [6, '[A'])).toEqual(['up']);
});
