import { expect, test } from 'vitest';
import { formatEvalReport, formatEvalReportPage } from '../src/format-eval-report.ts';
import { computePassRate, createEvalReport } from '../src/report.ts';
import type { EvalRunRecord } from '../src/run-eval-attempt.ts';

const RUN: EvalRunRecord = {
  ...{ task: 'a', model: 'm', attempt: 1, outcome: 'passed', reason: '', requests: 4, calls: 3, lostTurns: 1 },
  ...{
    inputTokens: 100,
    outputTokens: 50,
    cacheReadTokens: 800,
    cacheWriteTokens: 100,
    costUsd: 0.5,
    durationMs: 2000,
  },
  failures: [{ tool: 'Edit', cause: 'precondition', count: 1 }],
  hasUnknownCost: false,
  change: { files: 1, added: 1, removed: 0 },
};

test('intervals are those of Wilson, also for no passed run and for all', () => {
  const round = (passed: number, runs: number) => {
    const { low, high } = computePassRate(passed, runs);
    return [low, high].map((share) => Number(share.toFixed(4)));
  };
  expect([round(8, 10), round(0, 10), round(10, 10), round(1, 1), round(0, 0)]).toEqual([
    [0.4902, 0.9433],
    [0, 0.2775],
    [0.7225, 1],
    [0.2065, 1],
    [0, 1],
  ]);
});

test('a summary leaves out what could not be judged, except its cost', () => {
  const runs: readonly EvalRunRecord[] = [
    RUN,
    { ...RUN, outcome: 'failed' },
    { ...RUN, outcome: 'error', requests: 90 },
  ];
  const [summary] = createEvalReport(runs, { ouro: '0', startedAt: '' }).models;
  expect(summary).toMatchObject({
    ...{ runs: 3, errors: 1, passed: 1, cacheShare: 0.8, costUsd: 1.5, lostTurns: 2 },
    mean: { requests: 4, inputTokens: 1000, outputTokens: 50, seconds: 2, costUsd: 0.5 },
    failures: [{ tool: 'Edit', cause: 'precondition', count: 2 }],
  });
});

test('a cost without a known price is not shown as nothing', () => {
  const runs: readonly EvalRunRecord[] = [
    { ...RUN, model: 'local', costUsd: 0, hasUnknownCost: true },
    { ...RUN, model: 'mixed', costUsd: 0.5, hasUnknownCost: true },
  ];
  const text = formatEvalReport(createEvalReport(runs, { ouro: '0', startedAt: '' }));
  expect(text).toMatch(/\| local .*\| unknown .*\| unknown .*\n\| mixed .*\| \$0\.50 and more /);
});

test('columns are padded with plain spaces, and control characters of a cell are not printed', () => {
  const runs = [RUN, { ...RUN, model: `a model with a very long name\u001b[2J` }];
  const text = formatEvalReport(createEvalReport(runs, { ouro: '0', startedAt: '' }));
  expect(text).toMatch(/^\| m {20,}\| 1\/1 /m);
  expect(text).not.toContain('\u001b');
});

test('a page escapes the texts of models and checks', () => {
  const run: EvalRunRecord = { ...RUN, outcome: 'failed', model: '<b>"', reason: '<img src=x onerror=y>' };
  const page = formatEvalReportPage(createEvalReport([run], { ouro: '0', startedAt: '' }));
  expect(page).toContain('&lt;img src=x onerror=y&gt;');
  expect(page).not.toMatch(/<img|<b>"/);
});
