import { expect, test } from 'vitest';
import { createTerminalHandover } from '../../../src/ui/terminal/terminal-handover.ts';
import { TERMINAL_MODES_OFF, TERMINAL_MODES_ON } from '../../../src/ui/terminal/terminal-modes.ts';
import { effectHost } from '../effects/test-host.ts';

/** The screen's terminal, and in which order what was done to it. */
function lent(editor: string | undefined) {
  const order: string[] = [];
  const { getView, updateView } = effectHost();
  const lending = createTerminalHandover({
    output: {
      pause: () => order.push('aside'),
      resume: () => order.push('back'),
      write: (text) =>
        order.push(text === TERMINAL_MODES_OFF ? 'modes off' : text === TERMINAL_MODES_ON ? 'modes on' : text),
    },
    keyboard: { open: () => order.push('reads'), close: () => order.push('reads no more') },
    getView,
    updateView,
    editor,
  });
  return { lending, order };
}

test('input is read from before the modes are set until after they are reset, so no report is echoed', async () => {
  const { lending, order } = lent('printf edited >');
  expect(await lending.editFile('text', 'note.md')).toBe('edited');
  expect(order).toEqual(['aside', 'modes off', 'reads no more', 'reads', 'modes on', 'back']);
});

test('a key is requested outside of the screen, and the screen is restored', async () => {
  const { lending, order } = lent(undefined);
  const input = {
    setRawMode: () => undefined,
    setEncoding: () => undefined,
    on: (_event: 'data', listener: (chunk: string) => void) => listener('sk-1\r'),
    off: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  };
  expect(await lending.readHiddenLine('Key: ', input)).toBe('sk-1');
  expect(order).toEqual(['aside', 'modes off', 'reads no more', 'Key: ', '\r\n', 'reads', 'modes on', 'back']);
});
