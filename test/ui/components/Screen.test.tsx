import { expect, test } from 'vitest';
import type { LiveBlock } from '../../../src/ui/components/live-blocks.ts';
import type { ScreenPlan } from '../../../src/ui/components/plan-screen.ts';
import { Screen } from '../../../src/ui/components/Screen.tsx';
import { plain } from '../../../src/ui/text/line.ts';
import { initialView } from '../../../src/ui/view/view-state.ts';
import { renderPart } from './render-part.tsx';

const VIEW = initialView({
  mode: 'plan',
  model: 'haiku',
  contextTokens: 10,
  contextWindow: 100,
  costUsd: 0,
  branch: undefined,
  changed: { added: 0, removed: 0 },
  background: 0,
  isDemo: false,
});

const ANSWER: LiveBlock = {
  key: 'm1 0',
  kind: 'text',
  rows: [[plain('first')], [plain('second')]],
  height: 3,
  full: 3,
  gap: 1,
  keepHead: 0,
  keepTail: 1,
};

const PLAN: ScreenPlan = {
  live: [ANSWER],
  question: undefined,
  queue: [],
  composer: [[plain('draft')], []],
  below: { kind: 'nothing', rows: 0 },
  status: 'shown',
  gaps: { question: 0, composer: 1 },
  caret: { x: 7, y: 2 },
};

test('the zones stand one below the other, and an empty row of the draft keeps its place', () => {
  expect(renderPart(<Screen view={VIEW} plan={PLAN} />)).toEqual([
    '',
    'first',
    'second',
    '',
    '▌ draft',
    '▌',
    '  plan   haiku   ▰▱▱▱▱▱▱▱ 10%   $0.00',
  ]);
});

test('of an answer that has not room enough the end is seen, and the empty row before it goes first', () => {
  const rowsAt = (height: number) =>
    renderPart(<Screen view={VIEW} plan={{ ...PLAN, live: [{ ...ANSWER, height }], status: 'off' }} />).slice(0, -3);
  expect([rowsAt(2), rowsAt(1)]).toEqual([['first', 'second'], ['second']]);
});

test('a row that is too wide is cut, not wrapped', () => {
  const long = [plain('x'.repeat(300))];
  const rows = renderPart(<Screen view={VIEW} plan={{ ...PLAN, live: [], composer: [long], status: 'off' }} />);
  expect(rows.map((row) => row.length)).toEqual([0, 100]);
});
