import { describe, expect, test } from 'vitest';
import {
  DEFAULT_MODEL,
  DEFAULT_SMALL_MODEL,
  getModelInfo,
  listModels,
  resolveModel,
} from '../../src/model/built-in-models.ts';
import {
  addReplyUsage,
  computeCostUsd,
  findModelPrice,
  type ModelUsageTotals,
  sumModelCosts,
} from '../../src/model/pricing.ts';

const USAGE = { inputTokens: 1000, outputTokens: 2000, cacheReadTokens: 10_000, cacheWriteTokens: 4000 };

describe('the catalog', () => {
  test('aliases, short names and full ids lead to one id', () => {
    expect(['opus', 'Sonnet', ' haiku ', 'opus-4.8', 'opus 4.8', 'qwen3:8b'].map(resolveModel)).toEqual([
      'claude-opus-5-5',
      DEFAULT_MODEL,
      DEFAULT_SMALL_MODEL,
      'claude-opus-4-8',
      'claude-opus-4-8',
      'qwen3:8b',
    ]);
  });

  test('names of other tools lead to the same models', () => {
    const names = ['default', 'best', 'sonnet[1m]', ' Opus[1M] ', 'claude-opus-5-5[1m]'];
    expect(names.map(resolveModel)).toEqual([
      DEFAULT_MODEL,
      'claude-opus-5-5',
      DEFAULT_MODEL,
      'claude-opus-5-5',
      'claude-opus-5-5',
    ]);
    expect(getModelInfo('sonnet[1m]').contextWindow).toBe(1_000_000);
  });

  test('a dated id is its undated model', () => {
    expect(getModelInfo('claude-haiku-4-5-20251001')).toMatchObject({
      id: 'claude-haiku-4-5-20251001',
      label: 'haiku 4.5',
      contextWindow: 200_000,
      price: { input: 1, output: 5 },
    });
  });

  test('unknown models get cautious values and no price', () => {
    expect(getModelInfo('claude-next-9')).toMatchObject({ contextWindow: 200_000, thinking: 'none' });
    expect(getModelInfo('qwen3')).toMatchObject({ contextWindow: 32_000, vision: false, promptCache: false });
    expect(getModelInfo('qwen3')).not.toHaveProperty('price');
  });

  test('every model of the menu is known, with price and date', () => {
    for (const info of listModels()) expect(info.price?.asOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  });
});

describe('pricing', () => {
  test('each kind of token has its own rate', () => {
    expect(computeCostUsd(USAGE, findModelPrice('claude-sonnet-4-5'))).toBeCloseTo(0.003 + 0.03 + 0.003 + 0.015, 10);
    expect(computeCostUsd(USAGE, findModelPrice('qwen3'))).toBeUndefined();
  });

  test('a long prompt has the long-context rate where there is one', () => {
    const long = { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 100_000, cacheWriteTokens: 0 };
    expect(computeCostUsd(long, findModelPrice('claude-haiku-5-5'))).toBeCloseTo(0.0005 + 0.005, 10);
  });

  test('totals are kept per model; without a price only tokens are counted', () => {
    const empty: ModelUsageTotals = new Map();
    const totals = ['claude-opus-5-5', 'qwen3', 'claude-opus-5-5'].reduce(
      (sum, model) => addReplyUsage(sum, model, USAGE, findModelPrice(model)),
      empty,
    );
    expect([...totals]).toEqual([
      [
        'claude-opus-5-5',
        {
          usage: { inputTokens: 2000, outputTokens: 4000, cacheReadTokens: 20_000, cacheWriteTokens: 8000 },
          replies: 2,
          costUsd: expect.closeTo(0.132, 10),
        },
      ],
      ['qwen3', { usage: USAGE, replies: 1 }],
    ]);
    expect(sumModelCosts(totals)).toEqual({ usd: expect.closeTo(0.132, 10), isComplete: false });
  });
});
