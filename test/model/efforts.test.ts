import { expect, test } from 'vitest';
import { EFFORTS } from '../../src/contracts/model.ts';
import { getModelInfo, listModels } from '../../src/model/built-in-models.ts';
import {
  clampEffort,
  deriveEffortFromThinkingBudget,
  explainReplacedEffort,
  explainUnsupportedEffort,
  listEfforts,
} from '../../src/model/efforts.ts';

test.each([
  ['claude-opus-5-5', 'auto low medium high xhigh max'],
  ['claude-sonnet-5-5', 'auto off low medium high xhigh max'],
  ['claude-sonnet-4-6', 'auto off low medium high max'],
  ['claude-opus-4-5', 'auto off low medium high'],
  ['qwen3', 'auto off'],
])('%s accepts exactly %s', (model, words) => {
  expect(listEfforts(getModelInfo(model)).join(' ')).toBe(words);
});

test('an unsupported effort is rejected with the list of supported ones', () => {
  expect(explainUnsupportedEffort('xhigh', getModelInfo('claude-sonnet-4-6'))).toBe(
    'sonnet 4.6 has no effort "xhigh". Choose one of auto, off, low, medium, high, max.',
  );
  expect(explainUnsupportedEffort('off', getModelInfo('opus'))).toMatch(/^opus 5.5 always thinks/);
  expect(explainUnsupportedEffort('high', getModelInfo('qwen3'))).toMatch(/^qwen3 has no effort levels/);
  expect(explainUnsupportedEffort('xhigh', getModelInfo('opus'))).toBeUndefined();
});

test('an effort is clamped to a supported level, never to a higher one', () => {
  for (const info of [...listModels(), ...['claude-opus-4-5', 'claude-sonnet-4-6', 'demo', 'other'].map(getModelInfo)])
    for (const wanted of EFFORTS) {
      const level = clampEffort(wanted, info);
      expect(listEfforts(info)).toContain(level);
      if (listEfforts(info).includes(wanted)) expect(level).toBe(wanted);
      else if (wanted !== 'off') expect(EFFORTS.indexOf(level)).toBeLessThan(EFFORTS.indexOf(wanted));
    }
});

test('an unsupported effort of the settings is reported with its replacement', () => {
  expect(explainReplacedEffort('xhigh', getModelInfo('claude-sonnet-4-6'))).toMatch(
    /has no effort "xhigh".* Using high instead\.$/,
  );
  expect(explainReplacedEffort('off', getModelInfo('opus'))).toMatch(/always thinks.* Using low instead\.$/);
  expect(explainReplacedEffort('high', getModelInfo('opus'))).toBeUndefined();
  expect(explainReplacedEffort('high', getModelInfo('qwen3'))).toBeUndefined();
});

test('the thinking budget determines the level where none was chosen', () => {
  expect([undefined, 0, 4000, 10_000, 20_000].map((tokens) => deriveEffortFromThinkingBudget('auto', tokens))).toEqual([
    'auto',
    'off',
    'low',
    'medium',
    'high',
  ]);
  expect(deriveEffortFromThinkingBudget('xhigh', 0)).toBe('xhigh');
});
