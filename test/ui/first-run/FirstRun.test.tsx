import { expect, test } from 'vitest';
import { FirstRun } from '../../../src/ui/first-run/FirstRun.tsx';
import { firstRunState } from '../../../src/ui/first-run/first-run-state.ts';
import { planFirstRun } from '../../../src/ui/first-run/plan-first-run.ts';
import { renderPart } from '../components/render-part.tsx';

const QUESTION = {
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
  places: [],
  bypass: 'settled',
} as const;

test('what is asked is in sight with its answers; where rows are few, the rest is asked after it', () => {
  const at = (columns: number, rows: number) =>
    renderPart(<FirstRun plan={planFirstRun(firstRunState(QUESTION, { columns, rows }))} />, { width: columns, rows });
  expect(at(80, 16)).toMatchInlineSnapshot(`
    [
      "ouro 0.1.0",
      "Folder  /home/me/shop",
      "This folder can bring instructions and commands of its own. Nothing of it was",
      "used yet.",
      "  found: 12 hooks",
      "  hook: Stop: make 0",
      "  hook: Stop: make 1",
      "  hook: Stop: make 2",
      "  hook: Stop: make 3",
      "  rows 1 to 5 of 13: down or space goes on, a yes counts when all was in sight",
      "  v  look at them with their places",
      "  y  trust this folder",
      "  r  go on without trust: nothing of the folder is read as instruction or run",
      "  n  leave",
    ]
  `);
  expect(at(100, 40).slice(-7)).toMatchInlineSnapshot(`
    [
      "  r  go on without trust: nothing of the folder is read as instruction or run",
      "Model   There is no API key on this machine. Answers can come from:",
      "  d  the built-in demo: scripted, needs no key and no network",
      "  k  the API: paste a key of Anthropic, OpenAI, Gemini … (not shown)",
      "  l  a model on this machine: looking …",
      "  u  another server that speaks the OpenAI protocol, by its address",
      "  n  leave",
    ]
  `);
});
