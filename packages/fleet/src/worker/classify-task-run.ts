import { type FailureKind, formatMoney, formatOneLine, redactSecrets } from '@ouro-cli/ouro/commands';
import type { TaskAttemptEnd, TaskClaim } from '../store/batch.ts';
import type { ChildRunResultLine } from './child-output.ts';
import type { ChildRunResult } from './run-ouro-child.ts';

/** The classified result of a run: an answer, the end of the task, a pause of the lane, or a machine failure. */
export type TaskRunVerdict =
  | { readonly kind: 'answered'; readonly end: ChildRunResultLine }
  | { readonly kind: 'ended'; readonly ending: TaskAttemptEnd }
  /** No quota or no valid key: the lane is paused and the task returns to the queue. */
  | { readonly kind: 'lane-paused'; readonly pauseMs: number; readonly message: string }
  /** The provider has an outage: the lane is paused, longer each time, and the task returns to the queue. */
  | { readonly kind: 'outage'; readonly message: string; readonly cause: 'provider' | 'foreign-reply' }
  /** The provider has no such model: the batch is paused until the user has corrected it. */
  | { readonly kind: 'batch-paused'; readonly message: string }
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
const FOREIGN_REPLY = 'what answers at the address of the provider is no model API';

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
  // The conversation did not start, or no request was sent: the model is not available on this machine.
  if (end.terminalReason === undefined || (failureKind === 'not_found' && apiStatus === undefined))
    return { kind: 'lane-skipped', reason: { why: 'no-key', message } };
  if (OUTAGES.includes(failureKind))
    return { kind: 'outage', message: `the provider has an outage${status}`, cause: 'provider' };
  if (end.isForeign)
    return { kind: 'outage', message: `${FOREIGN_REPLY}${status}: ${message}`, cause: 'foreign-reply' };
  if (failureKind === 'not_found') return { kind: 'batch-paused', message };
  // No server was reached, for example because of its certificate, or another one: the login page of a network.
  const isOtherServer = failureKind === 'invalid' && (apiStatus === undefined || apiStatus < FIRST_ERROR_STATUS);
  if (CONNECTION_FAILURES.includes(failureKind) || isOtherServer)
    return { kind: 'lane-skipped', reason: { why: 'no-connection', message } };
  if (end.subtype === 'error_max_budget_usd')
    return createFailure(`its limit of ${formatMoney(budget / 1e6)} was reached`, 'never');
  if (end.subtype === 'error_max_turns') return createFailure('its limit of turns was reached', 'never');
  // The next attempt would continue the same conversation, which the model declines again.
  return createFailure(message, failureKind === 'refused' ? 'never' : 'if-attempts-left');
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

/** A lane that this machine cannot serve for now; other machines may. */
export type SkippedRateLimitLane = { readonly why: 'no-key' | 'no-connection'; readonly message: string };

const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 600_000;

/** Returns the pause after a number of failures in a row, doubling from half a minute to ten minutes. */
const getLaneOutagePause = (failures: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));

/** Counts the outages of lanes, and recognizes a task that alone gets replies that no model API wrote. */
export function createOutageCounter() {
  /** Outages in a row, by lane. */
  const outages = new Map<string, number>();
  const suspects = new Map<string, { readonly lane: string; readonly hasLaneAnswered: boolean }>();
  return {
    /** Counts an outage. Returns how long to pause the lane; `undefined` if the task itself is the cause. */
    count(
      { lane, batch, key }: Pick<TaskClaim, 'lane' | 'batch' | 'key'>,
      { cause }: Extract<TaskRunVerdict, { kind: 'outage' }>,
    ): number | undefined {
      const id = `${batch} ${key}`;
      if (cause === 'foreign-reply') {
        // A filter between here and the provider may refuse what this task sends.
        if (suspects.get(id)?.hasLaneAnswered === true) return undefined;
        suspects.set(id, { lane, hasLaneAnswered: false });
      }
      const count = (outages.get(lane) ?? 0) + 1;
      outages.set(lane, count);
      return getLaneOutagePause(count);
    },
    /** Ends the outage of a lane, because one of its tasks has run. */
    clear(lane: string): void {
      outages.delete(lane);
      for (const [id, suspect] of suspects)
        if (suspect.lane === lane) suspects.set(id, { lane, hasLaneAnswered: true });
    },
  };
}

/** Creates the lanes that this machine skips, each for a time that doubles until one of its tasks has run. */
export function createSkippedRateLimitLanes(now: () => number = () => performance.now()) {
  const lanes = new Map<
    string,
    { readonly reason: SkippedRateLimitLane; readonly until: number; readonly failures: number }
  >();
  return {
    /** Skips a lane. Returns the time until the next try. */
    skip(lane: string, reason: SkippedRateLimitLane): number {
      const before = lanes.get(lane);
      // Tasks that were started together fail together.
      if (before !== undefined && before.until > now()) return before.until - now();
      const failures = (before?.failures ?? 0) + 1;
      const pauseMs = getLaneOutagePause(failures);
      lanes.set(lane, { reason, until: now() + pauseMs, failures });
      return pauseMs;
    },
    /** Serves a lane again, because one of its tasks has run. */
    clear: (lane: string): void => void lanes.delete(lane),
    /** Returns the lanes to skip now. */
    list: (): ReadonlyMap<string, SkippedRateLimitLane> =>
      new Map([...lanes].flatMap(([lane, { reason, until }]) => (until > now() ? [[lane, reason] as const] : []))),
  };
}
