import { expect, test } from 'vitest';
import { getCloudModelInfo } from '../../../src/model/registry/model-info-source.ts';

test.each([
  ['bedrock', 'global.anthropic.claude-sonnet-5-5', {}, 2],
  ['bedrock', 'us.anthropic.claude-sonnet-5-5', {}, 2.2],
  ['bedrock', 'eu-west-1/anthropic.claude-sonnet-4-5-20250929-v1:0', {}, 3.3],
  ['bedrock', 'us.anthropic.claude-opus-4-1-20250805-v1:0', {}, 15],
  ['vertex', 'claude-sonnet-4-6', {}, 3],
  ['vertex', 'claude-sonnet-4-6', { CLOUD_ML_REGION: 'us-east5' }, 3.3],
  ['vertex', 'europe-west1/claude-sonnet-4-6', {}, 3.3],
  ['foundry', 'claude-opus-5-5', {}, 4],
  ['bedrock', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', {}, undefined],
] as const)('%s, %s, %j: %s dollars', (cloud, model, variables, dollars) => {
  const { price } = getCloudModelInfo(cloud, model, { variables, keys: {} });
  expect(price?.input).toBe(dollars);
});
