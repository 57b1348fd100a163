import type { TaskAttemptEnd } from '../../contracts/fleet.ts';
import type { FailureKind } from '../../contracts/model.ts';
import { formatMoney, formatOneLine } from '../../lib/text/format.ts';
import { redactSecrets } from '../../lib/text/redact-secrets.ts';
import type { ChildResultLine } from './child-output.ts';
import type { ChildRunResult } from './run-ouro-child.ts';
import type { SkippedRateLimitLane } from './skipped-rate-limit-lanes.ts';

/** The classified result of a run: an answer, the end of the task, a pause of the lane, or a machine failure. */
export type TaskRunVerdict =
  | { readonly kind: 'answered'; readonly end: ChildResultLine }
  | { readonly kind: 'ended'; readonly ending: TaskAttemptEnd }
  /** No quota or no valid key: the lane is paused and the task returns to the queue. */
  | { readonly kind: 'lane-paused'; readonly pauseMs: number; readonly message: string }
  /** The provider has an outage: the lane is paused, longer each time, and the task returns to the queue. */
  | { readonly kind: 'outage'; readonly message: string }
  /** This machine cannot serve the lane: it has no key for it, or no connection. Other machines may. */
  | { readonly kind: 'lane-skipped'; readonly reason: SkippedRateLimitLane }
  /** Not caused by the task: this machine cannot run tasks. */
  | { readonly kind: 'machine-failed'; readonly message: string };

/** Failures that concern the account, and that will not change soon. */
const PAUSE_REASONS: Readonly<Partial<Record<FailureKind, string>>> = {
  auth: 'the API key was rejected',
  no_credit: 'the credit is used up',
  rate_limited: 'the quota is used up',
};
const DEFAULT_PAUSE_MS = 300_000;
const OUTAGES: readonly (FailureKind | undefined)[] = ['server', 'overloaded'];
/** No answer came, or it broke off or stalled. */
const CONNECTION_FAILURES: readonly (FailureKind | undefined)[] = ['network', 'stalled', 'cut'];
const FIRST_ERROR_STATUS = 400;

export function classifyTaskRun({ progress, code, stderr }: ChildRunResult, budget: number): TaskRunVerdict {
  const { end } = progress;
  if (end === undefined) return classifyExit(code, stderr);
  if (!end.isError) return { kind: 'answered', end };
  const message = redactSecrets(formatOneLine(end.text));
  const { failureKind, apiStatus } = end;
  const status = apiStatus === undefined ? '' : ` (${apiStatus})`;
  const pauseReason = failureKind === undefined ? undefined : PAUSE_REASONS[failureKind];
  if (pauseReason !== undefined)
    return { kind: 'lane-paused', pauseMs: end.retryAfterMs ?? DEFAULT_PAUSE_MS, message: `${pauseReason}${status}` };
  // Without a terminal reason the conversation did not start: the model is not available on this machine.
  if (end.terminalReason === undefined) return { kind: 'lane-skipped', reason: { why: 'no-key', message } };
  if (OUTAGES.includes(failureKind)) return { kind: 'outage', message: `the provider has an outage${status}` };
  // No server was reached, for example because of its certificate, or another one: the login page of a network.
  const isOtherServer = failureKind === 'invalid' && (apiStatus === undefined || apiStatus < FIRST_ERROR_STATUS);
  if (CONNECTION_FAILURES.includes(failureKind) || isOtherServer)
    return { kind: 'lane-skipped', reason: { why: 'no-connection', message } };
  if (end.subtype === 'error_max_budget_usd')
    return createFailure(`its limit of ${formatMoney(budget / 1e6)} was reached`, 'never');
  if (end.subtype === 'error_max_turns') return createFailure('its limit of turns was reached', 'never');
  return createFailure(message, 'if-attempts-left');
}

/** Classifies a run without a result line by its exit code. */
function classifyExit(code: number | null, stderr: string): TaskRunVerdict {
  const lastLine = redactSecrets(formatOneLine(stderr.split('\n').at(-1) ?? ''));
  const details = lastLine === '' ? '' : `: ${lastLine}`;
  // ouro exits with 2 for invalid arguments.
  if (code === 2) return createFailure(`ouro refused to start${details}`, 'never');
  if (code === 127 || code === 126) return { kind: 'machine-failed', message: `ouro could not be started${details}` };
  return createFailure(
    `it ended without a result (${code === null ? 'by a signal' : `code ${code}`})${details}`,
    'if-attempts-left',
  );
}

function createFailure(reason: string, again: 'if-attempts-left' | 'never'): TaskRunVerdict {
  return { kind: 'ended', ending: { kind: 'failed', reason, again } };
}
