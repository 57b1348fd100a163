import { expect, test } from 'vitest';
import type { FirstRunQuestions } from '../../../../src/contracts/frontend/first-run.ts';
import { FirstRun } from '../../../../src/ui/widgets/first-run/FirstRun.tsx';
import {
  createFirstRunScreenState,
  type FirstRunScreenState,
} from '../../../../src/ui/widgets/first-run/first-run-state.ts';
import { layoutFirstRun } from '../../../../src/ui/widgets/first-run/layout-first-run.ts';
import { renderPart } from '../screen/render-part.tsx';

const QUESTION: FirstRunQuestions = {
  version: '0.1.0',
  folder: '/home/me/shop',
  trust: {
    dir: '/home/me/shop',
    state: 'new',
    marks: {},
    effects: Array.from(
      { length: 12 },
      (_, at) => ({ kind: 'hook', text: `Stop: make ${at}`, file: 'a.json' }) as const,
    ),
  },
  parent: undefined,
  key: 'missing',
  offer: undefined,
  providers: [],
  bypass: 'settled',
};

test('each question is asked alone; a long list scrolls between the title and the options', () => {
  const at = (columns: number, rows: number, change: Partial<FirstRunScreenState> = {}) =>
    renderPart(
      <FirstRun layout={layoutFirstRun({ ...createFirstRunScreenState(QUESTION, { columns, rows }), ...change })} />,
      {
        width: columns,
        rows,
      },
    );
  expect(at(80, 12)).toMatchInlineSnapshot(`
    [
      "▌ Do you trust this folder?",
      "▌   If you do, ouro uses what it contains:",
      "▌   runs    Stop: make 0",
      "▌           Stop: make 1",
      "▌           Stop: make 2",
      "▌           Stop: make 3",
      "▌           Stop: make 4",
      "▌           Stop: make 5",
      "▌   rows 1 to 7 of 13: space scrolls; read to the end before you agree",
      "▌   1  y  Yes, trust this folder",
      "▌   2  n  No, work without its instructions and settings",
    ]
  `);
  expect(at(100, 40, { trust: 'no' })).toMatchInlineSnapshot(`
    [
      "ouro 0.1.0",
      "/home/me/shop",
      "",
      "▌ Which model should answer?",
      "▌",
      "▌   No API key was found on this machine. \`ouro login\` stores one later.",
      "▌",
      "▌   1  d  The demo: a scripted model in a sample project, without key and network",
      "▌   2  k  An API key: Anthropic, OpenAI, Gemini, OpenRouter and others",
      "▌   3  l  A local model: searching …",
      "▌   4  u  Another OpenAI-compatible server",
      "▌",
      "▌   ↑↓ enter · esc exit",
    ]
  `);
  expect(
    at(60, 20, {
      trust: 'no',
      page: { kind: 'key', text: 'sk-ant-api03-0123456789-abcdef' },
      keyProvider: 'Anthropic',
    }),
  ).toMatchInlineSnapshot(`
    [
      "ouro 0.1.0",
      "/home/me/shop",
      "",
      "▌ Paste an API key",
      "▌",
      "▌   The provider is recognized by the prefix. The key is",
      "▌   stored in a file or keyring that only your user can",
      "▌   read. Claude and ChatGPT subscriptions do not include",
      "▌   an API key; Google AI Studio and Groq offer free ones.",
      "▌   > sk-ant-api•••••••••••••••••def",
      "▌",
      "▌   Anthropic key, 30 characters · enter stores the key ·",
      "▌   esc back",
    ]
  `);
});
