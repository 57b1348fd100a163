import { render } from 'ink-testing-library';
import { expect, test } from 'vitest';
import { Screen } from '../../../src/ui/components/Screen.tsx';

const BLOCK = { key: 'c1', kind: 'tool', rows: ['◐ running'], keepHead: 1, keepTail: 0 } as const;
const PLAN = {
  live: [BLOCK],
  question: undefined,
  bar: '▌',
  queue: [],
  composer: ['▌ draft', ''],
  below: [],
  panel: undefined,
  status: [' ask   haiku'],
  gaps: { question: 0, composer: 1 },
  caret: { x: 7, y: 2 },
};

const rowsOf = (frame: string | undefined) => frame?.split('\n').map((row) => row.trimEnd());

test('the zones stand one below the other, and an empty row keeps its place', () => {
  const { lastFrame, unmount } = render(<Screen plan={PLAN} />);
  expect(rowsOf(lastFrame())).toEqual(['◐ running', '', '▌ draft', '', ' ask   haiku']);
  unmount();
});

test('what is gone from a frame leaves no row behind, and a row too wide is cut, not wrapped', () => {
  const { lastFrame, rerender, unmount } = render(<Screen plan={PLAN} />);
  rerender(<Screen plan={{ ...PLAN, live: [], gaps: { question: 0, composer: 0 }, status: ['x'.repeat(300)] }} />);
  const rows = rowsOf(lastFrame()) ?? [];
  expect([rows.length, rows[0], (rows[2] ?? '').length]).toEqual([3, '▌ draft', 100]);
  unmount();
});
