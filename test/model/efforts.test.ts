import { expect, test } from 'vitest';
import { EFFORTS } from '../../src/contracts/model.ts';
import { listModels, modelInfo } from '../../src/model/catalog.ts';
import { effortFor, effortInstead, effortProblem, effortsOf, thinkingEffort } from '../../src/model/efforts.ts';

test.each([
  ['claude-opus-5-5', 'auto low medium high xhigh max'],
  ['claude-sonnet-5-5', 'auto off low medium high xhigh max'],
  ['claude-sonnet-4-6', 'auto off low medium high max'],
  ['claude-opus-4-5', 'auto off low medium high'],
  ['qwen3', 'auto off'],
])('%s takes exactly %s', (model, words) => {
  expect(effortsOf(modelInfo(model)).join(' ')).toBe(words);
});

test('a level that a model does not have is refused with those it has', () => {
  expect(effortProblem('xhigh', modelInfo('claude-sonnet-4-6'))).toBe(
    'sonnet 4.6 has no effort "xhigh". Choose one of auto, off, low, medium, high, max.',
  );
  expect(effortProblem('off', modelInfo('opus'))).toMatch(/^opus 5.5 always thinks/);
  expect(effortProblem('high', modelInfo('qwen3'))).toMatch(/^qwen3 cannot be told/);
  expect(effortProblem('xhigh', modelInfo('opus'))).toBeUndefined();
});

test('whatever is wished, a model is told only what it takes, and never more than was wished if it has less', () => {
  for (const info of [...listModels(), ...['claude-opus-4-5', 'claude-sonnet-4-6', 'demo', 'other'].map(modelInfo)])
    for (const wanted of EFFORTS) {
      const level = effortFor(wanted, info);
      expect(effortsOf(info)).toContain(level);
      if (effortsOf(info).includes(wanted)) expect(level).toBe(wanted);
      else if (wanted !== 'off') expect(EFFORTS.indexOf(level)).toBeLessThan(EFFORTS.indexOf(wanted));
    }
});

test('a wish that stays with another model is told with what it becomes', () => {
  expect(effortInstead('xhigh', modelInfo('claude-sonnet-4-6'))).toMatch(
    /has no effort "xhigh".* Until then it is high\.$/,
  );
  expect(effortInstead('off', modelInfo('opus'))).toMatch(/always thinks.* Until then it is low\.$/);
  expect(effortInstead('high', modelInfo('opus'))).toBeUndefined();
  expect(effortInstead('high', modelInfo('qwen3'))).toBeUndefined();
});

test('room for thinking says how much where no level was chosen', () => {
  expect([undefined, 0, 4000, 10_000, 20_000].map((tokens) => thinkingEffort('auto', tokens))).toEqual([
    'auto',
    'off',
    'low',
    'medium',
    'high',
  ]);
  expect(thinkingEffort('xhigh', 0)).toBe('xhigh');
});
