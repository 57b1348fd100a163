import { expect, test } from 'vitest';
import { readHiddenLine } from '../../../src/ui/input/read-hidden-line.ts';

/** A terminal on which somebody types these pieces. */
async function typed(...chunks: readonly string[]) {
  const modes: boolean[] = [];
  const shown: string[] = [];
  let receive: ((chunk: string) => void) | undefined;
  const input = {
    setRawMode: (mode: boolean) => void modes.push(mode),
    setEncoding: () => undefined,
    on: (_event: 'data', listener: (chunk: string) => void) => {
      receive = listener;
    },
    off: () => {
      receive = undefined;
    },
    resume: () => undefined,
    pause: () => undefined,
  };
  const line = readHiddenLine(input, (text) => shown.push(text), 'Key: ');
  for (const chunk of chunks) receive?.(chunk);
  return { line: await line, shown: shown.join(''), modes, isListening: receive !== undefined };
}

test('typed or pasted input is read and never shown, and the terminal is restored', async () => {
  expect(await typed('sk-', '\u001b[200~ant\u001b[201~', '\r')).toEqual({
    line: 'sk-ant',
    shown: 'Key: \r\n',
    modes: [true, false],
    isListening: false,
  });
});

test('it can be edited before Enter', async () => {
  expect((await typed('abx', '\u007f', 'c\r')).line).toBe('abc');
  expect((await typed('wrong', '\u0015', 'right\n')).line).toBe('right');
});

test.each(['\u0003', '\u0004', '\u001b'])('%j cancels', async (key) => {
  expect(await typed('half', key)).toMatchObject({ line: undefined, modes: [true, false], isListening: false });
});
