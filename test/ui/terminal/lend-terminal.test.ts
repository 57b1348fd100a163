import { expect, test } from 'vitest';
import { createLending } from '../../../src/ui/terminal/lend-terminal.ts';
import { MODES_OFF, MODES_ON } from '../../../src/ui/terminal/modes.ts';
import { effectHost } from '../effects/test-host.ts';

/** The screen's terminal, and in which order what was done to it. */
function lent(editor: string | undefined) {
  const order: string[] = [];
  const { now, change } = effectHost();
  const lending = createLending({
    output: {
      stepAside: () => order.push('aside'),
      comeBack: () => order.push('back'),
      write: (text) => order.push(text === MODES_OFF ? 'modes off' : text === MODES_ON ? 'modes on' : text),
    },
    keyboard: { open: () => order.push('reads'), close: () => order.push('reads no more') },
    now,
    change,
    editor,
  });
  return { lending, order };
}

test('keys are read from before the modes go on until after they are off, so no report of the terminal is echoed', async () => {
  const { lending, order } = lent('printf edited >');
  expect(await lending.editFile('text', 'note.md')).toBe('edited');
  expect(order).toEqual(['aside', 'modes off', 'reads no more', 'reads', 'modes on', 'back']);
});

test('a key is asked for outside of the screen, and the screen comes back', async () => {
  const { lending, order } = lent(undefined);
  const input = {
    setRawMode: () => undefined,
    setEncoding: () => undefined,
    on: (_event: 'data', listener: (chunk: string) => void) => listener('sk-1\r'),
    off: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  };
  expect(await lending.askHidden('Key: ', input)).toBe('sk-1');
  expect(order).toEqual(['aside', 'modes off', 'reads no more', 'Key: ', '\r\n', 'reads', 'modes on', 'back']);
});
