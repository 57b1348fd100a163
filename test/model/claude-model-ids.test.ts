import { describe, expect, test } from 'vitest';
import { formatCloudModelId, normalizeClaudeId } from '../../src/model/claude-model-ids.ts';
import { computeCostUsd, findModelPrice } from '../../src/model/pricing.ts';

describe('claudeId', () => {
  test.each([
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929'],
    ['bedrock/global.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
    ['bedrock/eu-west-1/anthropic.claude-sonnet-4-6', 'claude-sonnet-4-6'],
    [
      'bedrock/arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0',
      'claude-haiku-4-5-20251001',
    ],
    ['bedrock/anthropic.claude-3-sonnet-20240229-v1:0:200k', 'claude-3-sonnet-20240229'],
    ['vertex/claude-haiku-4-5@20251001', 'claude-haiku-4-5-20251001'],
    ['vertex/us-east5/claude-opus-4-6@default', 'claude-opus-4-6'],
    ['foundry/claude-opus-5-5', 'claude-opus-5-5'],
    ['foundry/our-own-name', 'foundry/our-own-name'],
    ['claude-sonnet-5-5', 'claude-sonnet-5-5'],
    ['ollama/qwen3:8b', 'ollama/qwen3:8b'],
    ['us.amazon.nova-pro-v1:0', 'us.amazon.nova-pro-v1:0'],
  ])('%s is %s', (name, id) => {
    expect(normalizeClaudeId(name)).toBe(id);
  });
});

test.each([
  ['bedrock', 'claude-sonnet-5-5', 'global.anthropic.claude-sonnet-5-5'],
  ['bedrock', 'claude-haiku-4-5', 'global.anthropic.claude-haiku-4-5-20251001-v1:0'],
  ['bedrock', 'claude-opus-4-6', 'global.anthropic.claude-opus-4-6-v1'],
  ['bedrock', 'claude-opus-4-1', 'us.anthropic.claude-opus-4-1-20250805-v1:0'],
  ['bedrock', 'us.anthropic.claude-sonnet-4-6', 'us.anthropic.claude-sonnet-4-6'],
  ['mantle', 'claude-opus-5-5', 'anthropic.claude-opus-5-5'],
  ['vertex', 'claude-opus-4-5', 'claude-opus-4-5@20251101'],
  ['vertex', 'claude-opus-4-5@20251101', 'claude-opus-4-5@20251101'],
  ['foundry', 'claude-opus-5-5', 'claude-opus-5-5'],
] as const)('%s calls %s %s', (cloud, id, name) => {
  expect(formatCloudModelId(cloud, id)).toBe(name);
});

test('a model of a cloud has the price of the same model', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const price = findModelPrice('bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0');
  expect(computeCostUsd(usage, price)).toBe(3);
});
