import { expect, test } from 'vitest';
import { renderContextUsage } from '../../../src/context/report/context-usage.ts';

test('the window has a hundred cells, each kind at least one, taken from the free ones', () => {
  const shown = renderContextUsage({
    model: 'm',
    totalTokens: 60_000,
    maxTokens: 200_000,
    categories: [
      { name: 'System prompt', tokens: 2_500 },
      { name: 'Memory files', tokens: 50 },
      { name: 'Messages', tokens: 57_450 },
      { name: 'Free', tokens: 107_000 },
      { name: 'Buffer', tokens: 33_000 },
    ],
    biggest: [{ name: 'Read a.ts', tokens: 22_000 }],
  });
  expect(shown).toMatchInlineSnapshot(`
    "m: 60k of 200k tokens (30.0 %)

    🟦🟪🟫🟫🟫🟫🟫🟫🟫🟫   🟦 System prompt    2.5k  1.3 %
    🟫🟫🟫🟫🟫🟫🟫🟫🟫🟫   🟪 Memory files       50  0.0 %
    🟫🟫🟫🟫🟫🟫🟫🟫🟫🟫   🟫 Messages          57k 28.7 %
    🟫⬜⬜⬜⬜⬜⬜⬜⬜⬜   ⬜ Free             107k 53.5 %
    ⬜⬜⬜⬜⬜⬜⬜⬜⬜⬜   ⬛ Buffer            33k 16.5 %
    ⬜⬜⬜⬜⬜⬜⬜⬜⬜⬜
    ⬜⬜⬜⬜⬜⬜⬜⬜⬜⬜
    ⬜⬜⬜⬜⬜⬜⬜⬜⬜⬜
    ⬜⬜⬜⬛⬛⬛⬛⬛⬛⬛
    ⬛⬛⬛⬛⬛⬛⬛⬛⬛⬛

    Largest:
        22k  Read a.ts"
  `);
});

test('an unknown window has no shares', () => {
  const usage = { model: 'm', totalTokens: 10, maxTokens: 0, categories: [{ name: 'Tools', tokens: 10 }], biggest: [] };
  expect(renderContextUsage(usage)).toContain('Tools');
});
