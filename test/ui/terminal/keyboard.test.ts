import { afterEach, expect, test, vi } from 'vitest';
import { createKeyboard } from '../../../src/ui/terminal/keyboard.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A keyboard that is fed chunk by chunk, with so many milliseconds before each. */
function heard(...chunks: readonly (readonly [waitMs: number, bytes: string])[]): readonly string[] {
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
  const keyboard = createKeyboard(input, (events) => {
    for (const event of events) keys.push(event.type === 'key' ? event.chord : event.type);
  });
  keyboard.open();
  for (const [waitMs, bytes] of chunks) {
    vi.advanceTimersByTime(waitMs);
    feed(bytes);
  }
  vi.advanceTimersByTime(5000);
  keyboard.close();
  return keys;
}

test('a sequence may take its time, and what still comes of one that was given up is no key', () => {
  expect(heard([0, '\x1b[1;5'], [900, 'C'])).toEqual(['ctrl+right']);
  expect(heard([0, '\x1b]11;rgb:ffff/'], [500, 'ffff/ffff\x07'])).toEqual(['background']);
  expect(heard([0, '\x1b[20'], [300, '0~y\x1b[201~'])).toEqual(['paste']);
  expect(heard([0, '\x1b'], [14, '[A'])).toEqual(['up']);
  expect(heard([0, '\x1b'], [100, '[A'])).toEqual(['escape']);
  expect(heard([0, '\x1b['], [100, 'A'])).toEqual(['alt+[']);
});

test('ESC and what is typed behind it are each heard', () => {
  expect(heard([0, '\x1b'], [16, 'y'])).toEqual(['escape', 'y']);
  expect(heard([0, '\x1b'], [300, '[A'])).toEqual(['escape', '[', 'A']);
  expect(heard([0, '\x1b['], [300, 'A'])).toEqual(['alt+[', 'A']);
});
