import { expect, test } from 'vitest';
import { applyChildOutputLine, NO_CHILD_RUN_PROGRESS } from '../../../src/fleet/worker/child-output.ts';
import { classifyTaskRun } from '../../../src/fleet/worker/classify-task-run.ts';

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
  expect(ends({ ...API_ERROR, api_error_kind: kind, api_error_status: status })).toEqual({ kind: 'outage', message });
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
  ['not_found', 404],
  ['too_long', 413],
  ['refused', undefined],
  ['of a later version', 500],
])('%s (%s) is the fault of the task', (kind, status) => {
  const failed = { kind: 'ended', ending: { kind: 'failed' } };
  expect(ends({ ...API_ERROR, api_error_kind: kind, api_error_status: status })).toMatchObject(failed);
});
