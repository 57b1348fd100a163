import { expect, test } from 'vitest';
import { StatusLine, statusHeight } from '../../../src/ui/status/StatusLine.tsx';
import { IDLE_ACTIVITY, initialView, type StatusFacts } from '../../../src/ui/view/view-state.ts';
import { DRAWING, renderPart } from '../components/render-part.tsx';

const FACTS: StatusFacts = {
  mode: 'acceptEdits',
  model: 'sonnet-5',
  contextTokens: 24_000,
  contextWindow: 200_000,
  costUsd: 0.42,
  branch: 'main',
  changed: { added: 0, removed: 0 },
  background: 2,
  isDemo: false,
};
const VIEW = initialView(FACTS);
const WRITING = {
  ...VIEW,
  activity: { ...IDLE_ACTIVITY, status: 'writing', sinceMs: 4_000, turnStartedAtMs: 4_000, lastByteAtMs: 9_000 },
} as const;

test('at rest it says where we are', () => {
  expect(renderPart(<StatusLine view={VIEW} />)).toEqual([
    '  edits   sonnet-5   ▰▱▱▱▱▱▱▱ 12%   $0.42   ⎇ main   2 background',
  ]);
});

test('what is being done comes first, and what has no room beside it is left out as a whole', () => {
  const whole = '  edits   ◐ writing 6s · 0 tokens  esc stop   sonnet-5   12%   $0.42   2 background';
  expect(renderPart(<StatusLine view={WRITING} />, { width: 90 })).toEqual([whole]);
  expect(renderPart(<StatusLine view={WRITING} />, { width: 66 })).toEqual([
    '  edits   ◐ writing 6s · 0 tokens  esc stop   sonnet-5   12%',
  ]);
  expect(renderPart(<StatusLine view={WRITING} />, { width: 40 })).toEqual(['  edits   ◐ writing 6s · 0 tokens']);
});

test('while something is asked all stands there, and at the end for how long; that is the last to go', () => {
  const facts = { ...FACTS, mode: 'default', background: 0, changed: { added: 3, removed: 2 } };
  const asking = {
    ...VIEW,
    facts,
    activity: { ...IDLE_ACTIVITY, status: 'waiting_for_answer', sinceMs: 6_000 },
  } as const;
  const rows = (width: number) => renderPart(<StatusLine view={asking} />, { width });
  expect(rows(80)).toEqual(['  ask   sonnet-5   ▰▱▱▱▱▱▱▱ 12%   $0.42   ⎇ main +3 −2   ? waiting for you 4s']);
  expect(rows(70)).toEqual(['  ask   sonnet-5   ▰▱▱▱▱▱▱▱ 12%   $0.42   ? waiting for you 4s']);
  expect(rows(40)).toEqual(['  ask   12%   ? waiting for you 4s']);
});

test('a script of one’s own has the line, and lines below it where the terminal is high enough', () => {
  const view = { ...VIEW, facts: { ...FACTS, script: 'one\ntwo' } };
  expect(renderPart(<StatusLine view={view} />)).toEqual(['  edits   one', '  two']);
  expect(renderPart(<StatusLine view={view} />, { rows: 12 })).toEqual(['  edits   one']);
  expect([statusHeight(view, DRAWING), statusHeight(view, { ...DRAWING, rows: 12 })]).toEqual([2, 1]);
});
