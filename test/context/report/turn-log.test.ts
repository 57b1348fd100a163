import { expect, test } from 'vitest';
import {
  addEventToTimeline,
  addTimelineNote,
  describeReductionLevelRun,
  renderTurnTimeline,
  type TurnTimelineRow,
} from '../../../src/context/report/turn-log.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { Usage } from '../../../src/contracts/message.ts';

test('the timeline reports for each turn how it ended and why another one followed', () => {
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
  let rows: readonly TurnTimelineRow[] = [];
  for (const event of events) rows = addEventToTimeline(rows, event, () => 0.02);
  rows = addTimelineNote(rows, 'cache lost');
  expect(renderTurnTimeline(rows)).toBe(
    [
      '| turn | then | in | out | cached | cost | time | calls | retries | notes |',
      '|---|---|---|---|---|---|---|---|---|---|',
      '| 1 | next_turn | 1k | 50 | 90% | $0.02 | 2s | 0 | 1 |  |',
      '| 2 | end | – | – | – | – | 0.1s | 0 | 0 | too long (400); compacted: 170k → 20k tokens; cache lost |',
    ].join('\n'),
  );
});

test('each level describes what it did', () => {
  const levels = ['budget', 'snip', 'microcompact', 'collapse', 'compact'] as const;
  expect(levels.map((level) => describeReductionLevelRun({ level, blocks: 2, freedTokens: 12_000 }))).toEqual([
    'a result over its limit was replaced by a preview',
    '2 old results dropped, 12k tokens freed',
    '2 repeated results dropped, 12k tokens freed',
    '2 runs of searches collapsed, 12k tokens freed',
    'the conversation was compacted, 12k tokens freed',
  ]);
});
