import { expect, test } from 'vitest';
import {
  addToTimeline,
  levelWords,
  noteInTimeline,
  renderTimeline,
  type TimelineRow,
} from '../../src/context/report/timeline.ts';
import { usageBreakdown } from '../../src/context/report/usage-breakdown.ts';
import { createTokenEstimate, textTokens } from '../../src/context/tokens.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { Usage } from '../../src/contracts/message.ts';
import { prompt, reads, words } from './workbench.ts';

test('latin text is about 3.5 characters a token, ideographs about one, samples agree with the whole', () => {
  expect(textTokens(words(3_500))).toBe(1_000);
  expect(textTokens('文字化け'.repeat(100))).toBe(400);
  const mixed = '文字 and words, '.repeat(100_000);
  const exact = textTokens(mixed.slice(0, 50_000)) * (mixed.length / 50_000);
  expect(Math.abs(textTokens(mixed) / exact - 1)).toBeLessThan(0.05);
});

test('a picture counts by its pixels, never by its bytes', () => {
  const png = Buffer.alloc(2_000_000);
  png.write('\x89PNG', 0, 'latin1');
  png.writeUInt32BE(600, 16);
  png.writeUInt32BE(400, 20);
  const { blockTokens } = createTokenEstimate();
  const image = (data: string) => ({
    type: 'image' as const,
    source: { type: 'base64' as const, media_type: 'image/png', data },
  });
  expect(blockTokens(image(png.toString('base64')))).toBe(326);
  expect(blockTokens(image('AAAA'))).toBe(1_606);
});

test('the breakdown adds up to what the API counted, and names the biggest items', () => {
  const usage = usageBreakdown({
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

test('the timeline tells of each turn how it went and why there was another', () => {
  const usage: Usage = { inputTokens: 100, outputTokens: 50, cacheReadTokens: 900, cacheWriteTokens: 0 };
  const events: readonly AgentEvent[] = [
    { type: 'turn_start', turn: 1, model: 'model-a' },
    { type: 'retry', attempt: 1, limit: 10, delayMs: 500, failure: { kind: 'overloaded', message: 'busy' } },
    { type: 'turn_end', turn: 1, model: 'model-a', usage, durationMs: 1_500, firstTokenMs: 300 },
    { type: 'transition', reason: 'next_turn', turn: 1 },
    { type: 'turn_start', turn: 1, model: 'model-a' },
    {
      type: 'turn_end',
      turn: 2,
      model: 'model-a',
      durationMs: 100,
      failure: { kind: 'too_long', message: 'a long sentence about it', status: 400 },
    },
    {
      type: 'compacted',
      boundary: { role: 'boundary', id: 'b', trigger: 'auto', preTokens: 170_000 },
      messages: [],
      postTokens: 20_000,
    },
  ];
  let rows: readonly TimelineRow[] = [];
  for (const event of events) rows = addToTimeline(rows, event, () => 0.02);
  rows = noteInTimeline(rows, 'cache lost');
  expect(renderTimeline(rows)).toBe(
    [
      '| turn | then | in | out | cached | cost | time | calls | retries | notes |',
      '|---|---|---|---|---|---|---|---|---|---|',
      '| 1 | next_turn | 1k | 50 | 90% | $0.02 | 2s | 0 | 1 |  |',
      '| 2 | end | – | – | – | – | 0.1s | 0 | 0 | too long (400); compacted: 170k → 20k tokens; cache lost |',
    ].join('\n'),
  );
});

test('each level says in words what it did', () => {
  const levels = ['budget', 'snip', 'microcompact', 'collapse', 'compact'] as const;
  expect(levels.map((level) => levelWords({ level, blocks: 2, freedTokens: 12_000 }))).toEqual([
    'a result over its limit became a preview',
    '2 old results left out, 12k tokens freed',
    '2 repeated results left out, 12k tokens freed',
    '2 runs of searches folded, 12k tokens freed',
    'the conversation was compacted, 12k tokens freed',
  ]);
});
