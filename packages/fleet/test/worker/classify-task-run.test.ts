import { expect, test } from 'vitest';
import { applyChildOutputLine, NO_CHILD_RUN_PROGRESS } from '../../src/worker/child-output.ts';
import { classifyTaskRun, createOutageCounter } from '../../src/worker/classify-task-run.ts';

const RESULT = { type: 'result', subtype: 'success', is_error: true, result: 'It failed.', num_turns: 1 };
const ends = (fields: object) => {
  const line = JSON.stringify({ ...RESULT, total_cost_usd: 0, permission_denials: [], ...fields });
  return classifyTaskRun(
    { progress: applyChildOutputLine(NO_CHILD_RUN_PROGRESS, line).progress, code: 1, stderr: '' },
    0,
  );
};
const API_ERROR = { terminal_reason: 'api_error' };

test.each([
  ['server', 500, 'the provider has an outage (500)'],
  ['server', 409, 'the provider has an outage (409)'],
  ['overloaded', 529, 'the provider has an outage (529)'],
  ['overloaded', undefined, 'the provider has an outage'],
])('%s (%s) is an outage of the provider', (kind, status, message) => {
  const outage = { kind: 'outage', message, cause: 'provider' };
  expect(ends({ ...API_ERROR, api_error_kind: kind, api_error_status: status })).toEqual(outage);
});

test.each([
  ['auth', 401, 'the API key was rejected (401)'],
  ['auth', 403, 'the API key was rejected (403)'],
  ['no_credit', 402, 'the credit is used up (402)'],
  // Anthropic reports an empty balance, and Google a rejected key, as an invalid request.
  ['no_credit', 400, 'the credit is used up (400)'],
  ['rate_limited', 429, 'the quota is used up (429)'],
])('%s (%s) pauses the lane', (kind, status, message) => {
  const paused = { kind: 'lane-paused', pauseMs: 300_000, message };
  expect(ends({ ...API_ERROR, api_error_kind: kind, api_error_status: status })).toEqual(paused);
});

test.each([
  ['network', undefined],
  ['stalled', undefined],
  ['cut', undefined],
  ['invalid', undefined],
  ['invalid', 200],
])('%s (%s) affects this machine only', (kind, status) => {
  expect(ends({ ...API_ERROR, api_error_kind: kind, api_error_status: status })).toMatchObject({
    kind: 'lane-skipped',
    reason: { why: 'no-connection' },
  });
});

test('a model that is not available affects this machine and this lane only', () => {
  expect(ends({})).toMatchObject({ kind: 'lane-skipped', reason: { why: 'no-key', message: 'It failed.' } });
});

test.each([
  ['invalid', 400],
  ['too_long', 413],
  ['refused', undefined],
  ['of a later version', 500],
])('%s (%s) is the fault of the task', (kind, status) => {
  const failed = { kind: 'ended', ending: { kind: 'failed' } };
  expect(ends({ ...API_ERROR, api_error_kind: kind, api_error_status: status })).toMatchObject(failed);
});

test('a model that the provider does not have pauses the batch', () => {
  const paused = { kind: 'batch-paused', message: 'It failed.' };
  expect(ends({ ...API_ERROR, api_error_kind: 'not_found', api_error_status: 404 })).toEqual(paused);
});

test.each([
  ['invalid', 400],
  ['not_found', 404],
])('%s (%s) that no model API wrote is an outage', (kind, status) => {
  const error = { api_error_kind: kind, api_error_status: status, api_error_foreign: true };
  expect(ends({ ...API_ERROR, ...error })).toEqual({
    kind: 'outage',
    message: `what answers at the address of the provider is no model API (${status}): It failed.`,
    cause: 'foreign-reply',
  });
});

test('a task that the model declines is not repeated', () => {
  const never = { kind: 'ended', ending: { kind: 'failed', again: 'never' } };
  expect(ends({ ...API_ERROR, api_error_kind: 'refused' })).toMatchObject(never);
});

test('a foreign reply pauses its lane, until the lane has answered others and this task alone gets one again', () => {
  const outages = createOutageCounter();
  const foreign = { kind: 'outage', message: '', cause: 'foreign-reply' } as const;
  const claim = (key: string) => ({ batch: 'b', lane: 'anthropic', key });
  expect([outages.count(claim('a'), foreign), outages.count(claim('b'), foreign)]).toEqual([30_000, 60_000]);
  expect(outages.count(claim('a'), foreign)).toBe(120_000);
  outages.clear('another lane');
  expect(outages.count(claim('a'), foreign)).toBe(240_000);
  outages.clear('anthropic');
  expect(outages.count(claim('a'), foreign)).toBeUndefined();
  expect(outages.count(claim('a'), { ...foreign, cause: 'provider' })).toBe(30_000);
  expect(outages.count(claim('c'), foreign)).toBe(60_000);
});
