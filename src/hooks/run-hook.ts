import type { Hook, HookOutput, HookResult } from '../contracts/hook.ts';
import { actionOf } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';
import { exhaustive } from '../lib/exhaustive.ts';
import { type Acted, act, type HookRunners } from './act.ts';
import { readOutput } from './read-output.ts';

/** The shell says so when a command is not there or may not run. */
const CANNOT_START = [126, 127];

/** Runs one hook to its end. Whatever it does, the answer is a value. */
export async function runHook(
  hook: Hook,
  input: JsonObject,
  runners: HookRunners,
  signal: AbortSignal,
): Promise<HookResult> {
  const startedAt = runners.now();
  const ended = (outcome: HookResult['outcome'], words: string, output: HookOutput = {}): HookResult => ({
    hook,
    outcome,
    words: bounded(words),
    output: boundedOutput(output),
    durationMs: runners.now() - startedAt,
  });
  try {
    const acted = await act(hook, input, runners, signal);
    switch (acted.is) {
      case 'output':
        return understood(acted.read, hook, ended);
      case 'failed':
        return failure(hook, ended, acted.why, 'ran');
      case 'ended':
        return commandResult(acted, hook, ended);
      default:
        return exhaustive(acted);
    }
  } catch (thrown) {
    return failure(hook, ended, messageOf(thrown), 'never started');
  }
}

/** More than any guard has to say; what a hook dumps beyond it must not fill the conversation. */
const MAX_WORDS = 20_000;
const HEAD = 15_000;

function bounded(text: string): string {
  if (text.length <= MAX_WORDS) return text;
  const left = text.length - MAX_WORDS;
  return `${text.slice(0, HEAD)}\n[${left} characters of the hook are left out here]\n${text.slice(HEAD + left)}`;
}

function boundedOutput({ additionalContext, reason, permissionDecisionReason, ...output }: HookOutput): HookOutput {
  return {
    ...output,
    ...(additionalContext === undefined ? {} : { additionalContext: bounded(additionalContext) }),
    ...(reason === undefined ? {} : { reason: bounded(reason) }),
    ...(permissionDecisionReason === undefined ? {} : { permissionDecisionReason: bounded(permissionDecisionReason) }),
  };
}

type Ended = (outcome: HookResult['outcome'], words: string, output?: HookOutput) => HookResult;

function commandResult(
  { end, timeoutMs, missing }: Extract<Acted, { readonly is: 'ended' }>,
  hook: Hook,
  ended: Ended,
): HookResult {
  if (end.timedOut)
    return failure(
      hook,
      ended,
      `did not answer within ${timeoutMs / 1000} s${end.isPaused === true ? ' and is not started again yet' : ' and was stopped'}`,
      'ran',
    );
  if (end.code === 0) return understood(readOutput(hook.event, end.stdout), hook, ended);
  if (missing !== undefined) return failure(hook, ended, `cannot start: ${missing} is not there`, 'never started');
  const said = end.stderr.trim();
  if (end.code === 2) return ended('blocked', said === '' ? `${nameOf(hook)} objects without a word.` : said);
  const started = end.code !== null && CANNOT_START.includes(end.code) ? 'never started' : 'ran';
  return failure(hook, ended, `ended with code ${end.code ?? 'none'}${said === '' ? '' : `: ${said}`}`, started);
}

function understood(read: ReturnType<typeof readOutput>, hook: Hook, ended: Ended): HookResult {
  if (!read.ok) return failure(hook, ended, read.why, 'ran');
  const { output } = read;
  const blocked = output.decision === 'block';
  return ended(blocked ? 'blocked' : 'passed', output.reason ?? '', output);
}

/** A guard of calls that cannot start blocks; one that broke blocks when it says so. Either way it is reported. */
function failure(hook: Hook, ended: Ended, why: string, started: 'ran' | 'never started'): HookResult {
  const words = `${nameOf(hook)} ${why}.`;
  const blocks =
    hook.onFailure === 'block' ||
    (blocksWhenGone(hook) && started === 'never started' && hook.onFailure !== 'continue');
  return ended(
    blocks ? 'blocked' : 'failed',
    blocks ? `${words} It guards this step, so the step is not taken.` : words,
  );
}

/** Guards stand before a step and can refuse it. */
export function isGuard({ event }: Hook): boolean {
  return event === 'PreToolUse' || event === 'UserPromptSubmit' || event === 'PreCompact';
}

/** What a person says goes on without a hook that is gone; a call of the model does not. */
export function blocksWhenGone({ event }: Hook): boolean {
  return event === 'PreToolUse';
}

/** How a hook is named to people: by what it does. */
export function nameOf(hook: Hook): string {
  const what = actionOf(hook);
  return `The ${hook.event} hook "${what.length > 80 ? `${what.slice(0, 77)}…` : what}"`;
}
