import { expect, test } from 'vitest';
import { createViewState } from '../../../../src/ui/app-state/view-state.ts';
import { plain } from '../../../../src/ui/text/line.ts';
import type { ScreenLayout } from '../../../../src/ui/widgets/screen/layout-screen.ts';
import type { LiveBlock } from '../../../../src/ui/widgets/screen/live-blocks.ts';
import { Screen } from '../../../../src/ui/widgets/screen/Screen.tsx';
import { renderPart } from './render-part.tsx';

const VIEW = createViewState({
  mode: 'plan',
  model: 'haiku',
  contextTokens: 10,
  contextWindow: 100,
  costUsd: 0,
  branch: undefined,
  changedLines: { added: 0, removed: 0 },
  backgroundTasks: 0,
  isDemo: false,
});

const ANSWER: LiveBlock = {
  key: 'm1 0',
  kind: 'text',
  rows: [[plain('first')], [plain('second')]],
  height: 3,
  fullHeight: 3,
  gap: 1,
  keepHead: 0,
  keepTail: 1,
};

const PLAN: ScreenLayout = {
  liveBlocks: [ANSWER],
  dialog: undefined,
  queue: [],
  composer: [[plain('draft')], []],
  overlay: { kind: 'nothing', rows: 0 },
  status: 'shown',
  gaps: { dialog: 0, composer: 1 },
  caret: { x: 7, y: 2 },
};

test('the zones are stacked, and an empty row of the draft is kept', () => {
  expect(renderPart(<Screen view={VIEW} layout={PLAN} />)).toEqual([
    '',
    'first',
    'second',
    '',
    '▌ draft',
    '▌',
    '  plan   haiku   ▰▱▱▱▱▱▱▱ 10%   $0.00',
  ]);
});

test('in little space the end of an answer is shown, and the empty row before it is dropped first', () => {
  const rowsAt = (height: number) =>
    renderPart(<Screen view={VIEW} layout={{ ...PLAN, liveBlocks: [{ ...ANSWER, height }], status: 'off' }} />).slice(
      0,
      -3,
    );
  expect([rowsAt(2), rowsAt(1)]).toEqual([['first', 'second'], ['second']]);
});

test('a row that is too wide is cut, not wrapped', () => {
  const long = [plain('x'.repeat(300))];
  const rows = renderPart(<Screen view={VIEW} layout={{ ...PLAN, liveBlocks: [], composer: [long], status: 'off' }} />);
  expect(rows.map((row) => row.length)).toEqual([0, 100]);
});
