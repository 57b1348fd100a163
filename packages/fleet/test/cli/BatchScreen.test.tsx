import { expect, test } from 'vitest';
import { renderPart } from '../../../../test/ui/widgets/screen/render-part.tsx';
import { BatchScreen, type BatchScreenContent, type BatchTaskRow } from '../../src/cli/BatchScreen.tsx';

const PICTURE: BatchScreenContent = {
  id: 'react-20-1a2b3c',
  state: 'running',
  share: 0.25,
  counts: '50 of 200 done, 2 running, 147 waiting, 1 failed',
  cost: { text: '$3.20 of $60.00 spent, $4.00 reserved, about $9.60 to come', isNear: false },
  waitReasons: ['anthropic waits until 14:05: the quota is used up (429)'],
  running: [
    { title: 'shop-one', state: 'host  2m14s  $0.12  Edit src/cart.mjs' },
    { title: 'shop-two', state: 'host  3s  $0.00' },
  ],
  failed: [{ title: 'shop-bad', state: 'not verified after 2 of 2 tries' }],
  done: [{ title: 'shop-old', state: '$0.08' }],
};

test('shows progress, cost, wait reasons, running and failed tasks', () => {
  expect(renderPart(<BatchScreen content={PICTURE} rows={23} />)).toMatchInlineSnapshot(`
    [
      "▌ react-20-1a2b3c  running",
      "  ▰▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱  50 of 200 done, 2 running, 147 waiting, 1 failed",
      "  $3.20 of $60.00 spent, $4.00 reserved, about $9.60 to come",
      "▌ anthropic waits until 14:05: the quota is used up (429)",
      "",
      "◐ shop-one                    host  2m14s  $0.12  Edit src/cart.mjs",
      "◐ shop-two                    host  3s  $0.00",
      "✗ shop-bad                    not verified after 2 of 2 tries",
      "✓ shop-old                    $0.08",
      "  ctrl+c stops, the same command resumes",
    ]
  `);
});

test('a thousand tasks fit on the smallest screen, and failed ones are visible', () => {
  const many = Array.from(
    { length: 1_000 },
    (_, at): BatchTaskRow => ({ title: `task-${at}`, state: 'a'.repeat(200) }),
  );
  for (const [width, rows] of [
    [80, 23],
    [120, 39],
    [40, 9],
  ] as const) {
    const shown = renderPart(<BatchScreen content={{ ...PICTURE, running: many }} rows={rows} />, { width, rows });
    expect(shown.length).toBeLessThanOrEqual(rows);
    expect(Math.max(...shown.map((row) => row.length))).toBeLessThan(width);
    expect(shown.join('\n')).toContain('shop-bad');
    expect(shown.at(-1)).toMatch(/\d+ more/);
  }
});
