import { expect, test } from 'vitest';
import type { FirstRunQuestions } from '../../../../src/contracts/frontend/first-run.ts';
import { showFirstRun } from '../../../../src/ui/widgets/first-run/show-first-run.ts';
import { createScreen } from '../../../support/terminal/terminal-screen.ts';

const QUESTION: FirstRunQuestions = {
  version: '0.1.0',
  folder: '/home/me/shop',
  trust: { dir: '/home/me/shop', state: 'new', marks: {}, effects: [] },
  parent: undefined,
  key: 'found',
  offer: undefined,
  providers: [],
  bypass: 'settled',
};

/** The first screen in front of somebody: keys with the milliseconds before each. */
async function played(keys: readonly (readonly [waitMs: number, key: string])[], question = QUESTION) {
  const terminal = createScreen({ cols: 80, rows: 24, lineEnds: 'lf' });
  let nowMs = 0;
  let feed: (chunk: string) => void = () => undefined;
  const screen = showFirstRun(question, {
    out: { columns: 80, rows: 24, write: (text) => terminal.feed(text), on: () => undefined, off: () => undefined },
    in: {
      setRawMode: () => undefined,
      setEncoding: () => undefined,
      on: (_event, listener) => {
        feed = listener;
      },
      off: () => undefined,
      resume: () => undefined,
      pause: () => undefined,
    },
    rendering: { depth: 'none', background: 'dark', glyphs: 'unicode' },
    findLocalServers: async () => [],
    listModels: async () => [],
    recognizeKey: () => undefined,
    now: () => nowMs,
  });
  await terminal.waitForText(/Yes, trust this folder/);
  for (const [waitMs, key] of keys) {
    nowMs += waitMs;
    feed(key);
  }
  const answer = await Promise.race([screen.answer, Promise.resolve('open' as const)]);
  screen.close();
  terminal.dispose();
  return typeof answer === 'string' || 'exits' in answer ? answer : { trust: answer.trust, typed: answer.typed };
}

test('the questions have the colours of the background that the terminal reports', async () => {
  let written = '';
  let feed: (chunk: string) => void = () => undefined;
  const reported = Promise.withResolvers<void>();
  const recoloured = Promise.withResolvers<void>();
  const screen = showFirstRun(QUESTION, {
    out: {
      columns: 80,
      rows: 24,
      write(text) {
        written += text;
        if (text.includes('\u001b]11;?')) reported.resolve();
        // The dim colour of the light theme.
        if (text.includes('38;2;95;99;104')) recoloured.resolve();
      },
      on: () => undefined,
      off: () => undefined,
    },
    in: {
      setRawMode: () => undefined,
      setEncoding: () => undefined,
      on: (_event, listener) => {
        feed = listener;
      },
      off: () => undefined,
      resume: () => undefined,
      pause: () => undefined,
    },
    rendering: { depth: 'truecolor', background: 'dark', glyphs: 'unicode' },
    findLocalServers: async () => [],
    listModels: async () => [],
    recognizeKey: () => undefined,
    now: () => 0,
  });
  await reported.promise;
  feed('\u001b]11;rgb:ffff/ffff/ffff\u0007');
  await recoloured.promise;
  screen.close();
  expect(written).not.toContain('38;2;154;160;166m  ↑↓');
});

test('a single letter answers; one in a word does not, and the word starts the draft', async () => {
  expect(await played([[1000, 'y']])).toMatchObject({ trust: 'folder', typed: '' });
  expect(await played([...'why'].map((key) => [120, key] as const))).toBe('open');
  const [word, then] = [[...'fix yarn'].map((key) => [120, key] as const), [[1000, 'n']] as const];
  expect(await played([...word, ...then])).toMatchObject({ trust: 'no', typed: 'fix yarn' });
});

test('somebody who leaves at a later question has answered the one about trust', async () => {
  const question: FirstRunQuestions = { ...QUESTION, bypass: 'unconfirmed' };
  const leave = [1000, '\u0003'] as const;
  expect(await played([leave], question)).toEqual({ exits: true, trust: 'no' });
  expect(await played([[1000, 'y'], leave], question)).toEqual({ exits: true, trust: 'folder' });
});

test.each([
  ['a letter that answers another question', 'd'],
  ['letters that answer nothing, one by one', 'x', 'q'],
  ['a few answers in a hurry', ...'dyd'],
  ['an answer as a word', 'yes'],
  ['a held letter', 'dddddd'],
])('%s is no text for the draft', async (_, ...keys) => {
  expect(await played([...keys.map((key) => [1000, key] as const), [1000, 'y']])).toEqual({
    trust: 'folder',
    typed: '',
  });
});

test.each([
  ['a message', 'do it'],
  ['a message with a pause', 'd', 'o', 'nt push'],
  ['a message before a letter', 'explain this', 'd'],
])('%s is the draft', async (_, ...parts) => {
  expect(await played([...parts.map((part) => [1000, part] as const), [1000, 'y']])).toEqual({
    trust: 'folder',
    typed: parts.join(''),
  });
});
