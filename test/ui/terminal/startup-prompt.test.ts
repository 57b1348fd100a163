import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { createKeyboardReader } from '../../../src/ui/input/keyboard-reader.ts';
import { showStartupPrompt } from '../../../src/ui/terminal/startup-prompt.ts';
import { createScreen, type TerminalScreen } from '../../support/terminal/terminal-screen.ts';

let screen: TerminalScreen | undefined;
afterEach(() => screen?.dispose());

/** An opening prompt on a screen on which a command was typed, and the input of its terminal. */
async function open(rowsAbove: number) {
  const shown = createScreen({ cols: 20, rows: 8 });
  screen = shown;
  shown.feed('$ ouro\r\n');
  const out = { columns: 20, rows: 8, write: shown.feed, on: () => undefined, off: () => undefined };
  const input = Object.assign(new PassThrough(), { setRawMode: () => undefined });
  const prompt = showStartupPrompt(input, out, rowsAbove);
  const send = async (...chunks: readonly string[]) => {
    for (const chunk of chunks) {
      const read = new Promise((resolve) => input.once('data', resolve));
      input.write(chunk);
      await read;
    }
    await shown.settled();
  };
  return { shown, input, prompt, send };
}

test('a prompt shows letters where the composer will be', async () => {
  const { shown, send } = await open(3);
  await send('f', 'ü', 'r');
  expect(shown.screen().slice(0, 6)).toEqual(['$ ouro', '', '', '', '▏ für', '']);
  expect(shown.cursor()).toEqual({ x: 5, y: 4 });
});

test('nothing is shown from the first key that is no letter, nor beyond half of the row', async () => {
  const { shown, send } = await open(0);
  await send('ab', '\u001b[D', 'c');
  expect(shown.screen()[1]).toBe('▏ ab');
  const second = await open(0);
  await second.send('123456789', '\u202e');
  expect(second.shown.screen()[1]).toBe('▏ 123456789');
  await second.send('0', '1');
  expect(second.shown.screen()[1]).toBe('▏ 123456789');
});

test('the next reader gets every byte, and the frame begins where the prompt began', async () => {
  const { shown, input, prompt, send } = await open(3);
  await send('ab', '\u007f', '\r');
  prompt.handOver();
  const keys: string[] = [];
  const received = new Promise<void>((resolve) => {
    createKeyboardReader(input, (events) => {
      for (const event of events) keys.push(event.type === 'key' ? event.chord : event.type);
      if (keys.length === 5) resolve();
    }).open();
  });
  input.write('c');
  await received;
  await shown.settled();
  expect(keys).toEqual(['a', 'b', 'backspace', 'enter', 'c']);
  expect(shown.cursor()).toEqual({ x: 0, y: 1 });
});

test('a closed prompt leaves nothing on the screen', async () => {
  const { shown, prompt, send } = await open(3);
  await send('abc');
  prompt.close();
  prompt.close();
  await shown.settled();
  expect(shown.screen().filter((row) => row !== '')).toEqual(['$ ouro']);
  expect(shown.cursor()).toEqual({ x: 0, y: 1 });
});
