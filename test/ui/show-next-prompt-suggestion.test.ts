import { expect, test } from 'vitest';
import { showNextPromptSuggestion } from '../../src/ui/open-screen.ts';
import { begins } from './widgets/screen/events.ts';
import { openStage, type StageScreen } from './widgets/screen/stage-screen.ts';

async function offered(text: string | undefined, meanwhile: (screen: StageScreen) => void = () => undefined) {
  const screen = openStage({ cols: 80, rows: 24 });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const offering = showNextPromptSuggestion({ suggestNextPrompt: () => promise }, screen.view, screen.change);
  meanwhile(screen);
  resolve(text);
  await offering;
  return screen;
}

const ghost = async (screen: StageScreen) => {
  await screen.settled();
  return screen.screen().some((row) => row.includes('run the tests'));
};

test('a suggested prompt is dim in an empty draft, and Tab accepts it', async () => {
  const screen = await offered('run the tests');
  expect(await ghost(screen)).toBe(true);
  screen.press('tab');
  expect(screen.view().editor.text).toBe('run the tests');
  screen.press('ctrl+u');
  expect(await ghost(screen)).toBe(true);
});

test('typing something else hides it, and sending removes it', async () => {
  const screen = await offered('run the tests');
  screen.type('x');
  expect(await ghost(screen)).toBe(false);
  screen.press('enter', 'tab');
  expect([screen.view().editor.text, await ghost(screen)]).toEqual(['', false]);
});

test('Enter alone never sends it, and it is dropped when a turn has started', async () => {
  const screen = await offered('run the tests');
  screen.press('enter');
  expect(screen.effects).toEqual([]);
  const busy = await offered('run the tests', (other) =>
    other.emit(begins(), { type: 'status', status: 'requesting' }),
  );
  expect(await ghost(busy)).toBe(false);
  expect(await ghost(await offered(undefined))).toBe(false);
});
