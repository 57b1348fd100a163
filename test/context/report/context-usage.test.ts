import { expect, test } from 'vitest';
import { computeContextUsage } from '../../../src/context/report/context-usage.ts';
import { prompt, reads, words } from '../workbench.ts';

test('the breakdown adds up to the count of the API, and names the largest items', () => {
  const usage = computeContextUsage({
    model: 'model-a',
    windowTokens: 200_000,
    compactAt: 167_000,
    system: [
      { name: 'base', text: words(3_500) },
      { name: 'memory', text: words(7_000) },
    ],
    tools: [
      { spec: { name: 'Read', description: words(350), input_schema: {} }, source: 'builtin' },
      { spec: { name: 'mcp__db__query', description: words(700), input_schema: {} }, source: 'mcp' },
    ],
    view: [prompt('p', 'Look at it.'), ...reads('r', 'src/big.ts', words(35_000))],
    knownTokens: 20_000,
  });
  expect(usage.categories.map((category) => category.name)).toEqual([
    'System prompt',
    'Memory files',
    'Tools',
    'MCP tools',
    'Messages',
    'Free',
    'Buffer',
  ]);
  expect(usage.totalTokens).toBeGreaterThan(19_990);
  expect(usage.totalTokens).toBeLessThan(20_010);
  expect(usage.categories.reduce((total, category) => total + category.tokens, 0)).toBe(200_000);
  expect(usage.biggest[0]?.name).toBe('Read src/big.ts');
});
