import { expect, test } from 'vitest';
import { openStage } from '../screen/stage-screen.ts';

const withContext = (cols = 80) => {
  const screen = openStage({ cols, rows: 24 });
  screen.wait(1000);
  screen.change((view) => ({ ...view, editorContext: 'lexer.ts:10-20' }));
  return screen;
};
const shows = (rows: readonly string[]) => rows.some((row) => row.includes('lexer.ts:10-20'));

test('the context of the editor is named above the draft, and the caret stays in the draft', async () => {
  const screen = withContext();
  screen.type('go');
  await screen.settled();
  const rows = screen.screen();
  const at = rows.findIndex((row) => row.includes('lexer.ts:10-20  alt+e drops it'));
  expect(rows[at + 1]).toMatch(/^▌ go/);
  expect(screen.cursor()).toEqual({ x: 4, y: at + 1 });
});

test('a narrow screen shortens the name, not the draft', async () => {
  const screen = withContext(24);
  screen.type('go');
  await screen.settled();
  expect(
    screen
      .screen()
      .filter((row) => row.startsWith('▌'))
      .map((row) => row.trimEnd()),
  ).toEqual(['▌ lexer…  alt+e drops it', '▌ go']);
});

test.each([
  ['alt+e', 'a draft'],
  ['backspace', ''],
])('%s drops the context with the draft "%s"', async (key, draft) => {
  const screen = withContext();
  screen.type(draft);
  screen.press(key);
  await screen.settled();
  expect(screen.effects).toEqual([{ type: 'drop_context' }]);
  expect([shows(screen.screen()), screen.view().editor.text]).toEqual([false, draft]);
});

test('backspace deletes text first', () => {
  const screen = withContext();
  screen.type('ab');
  screen.press('backspace');
  expect([screen.effects, screen.view().editor.text, screen.view().editorContext]).toEqual([[], 'a', 'lexer.ts:10-20']);
});
