import { expect, test } from 'vitest';
import { INITIAL_VIM_STATE } from '../../../src/ui/widgets/composer/vim.ts';
import { begins } from '../widgets/screen/events.ts';
import { openStage } from '../widgets/screen/stage-screen.ts';

test('vim mode: the selection is highlighted, ESC leaves insert mode first and aborts only then', async () => {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.change((view) => ({ ...view, vim: INITIAL_VIM_STATE }));
  screen.wait(1000);
  screen.type('one two three');
  screen.emit(begins());
  screen.press('esc');
  screen.wait(50);
  expect(screen.effects.some(({ type }) => type === 'abort')).toBe(false);
  screen.type('0wve');
  await screen.settled();
  const at = screen.screen().findIndex((row) => row.includes('one two three'));
  const row = screen.terminal.buffer.active.getLine(screen.terminal.buffer.active.baseY + at);
  const inverse = Array.from({ length: 20 }, (_, x) =>
    row?.getCell(x)?.isInverse() ? row.getCell(x)?.getChars() : '',
  );
  expect(inverse.join('')).toBe('two');
  expect(screen.screen().join('\n')).toContain('VISUAL');
  screen.press('esc');
  screen.wait(50);
  screen.press('esc');
  screen.wait(50);
  expect(screen.effects.at(-1)).toEqual({ type: 'abort' });
  screen.close();
});
