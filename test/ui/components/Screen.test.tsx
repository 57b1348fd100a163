import { render } from 'ink-testing-library';
import { expect, test } from 'vitest';
import { Screen } from '../../../src/ui/components/Screen.tsx';

const PLAN = { live: ['◐ running'], composer: ['> draft', ''], below: ['ask · haiku'], caret: { x: 7, y: 1 } };

test('the zones stand one below the other, and an empty row keeps its place', () => {
  const { lastFrame, unmount } = render(<Screen plan={PLAN} />);
  expect(
    lastFrame()
      ?.split('\n')
      .map((row) => row.trimEnd()),
  ).toEqual(['◐ running', '> draft', '', 'ask · haiku']);
  unmount();
});

test('what is gone from a frame leaves no row behind, and a row too wide is cut, not wrapped', () => {
  const { lastFrame, rerender, unmount } = render(<Screen plan={PLAN} />);
  rerender(<Screen plan={{ ...PLAN, live: [], below: ['x'.repeat(300)] }} />);
  const rows = lastFrame()?.split('\n') ?? [];
  expect([rows.length, rows[0], (rows[2] ?? '').length]).toEqual([3, '> draft', 100]);
  unmount();
});
