import type { Hook, HookOutput, HookResult } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';
import { fromJson, readOutput } from './read-output.ts';

/** How a command ended. */
export type CommandEnd = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** It hung lately and was not started at all. */
  readonly isPaused?: boolean;
};

/** What hooks need from outside. */
export type HookRunners = {
  readonly runCommand: (command: string, stdin: string, timeoutMs: number, signal: AbortSignal) => Promise<CommandEnd>;
  readonly post: (
    url: string,
    body: string,
    timeoutMs: number,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly text: string }>;
  /** The script a command names and that is not there. */
  readonly missingScript: (command: string) => Promise<string | undefined>;
  readonly defaultTimeoutMs: () => number;
  readonly now: () => number;
};

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
  const timeoutMs = hook.timeout === undefined ? runners.defaultTimeoutMs() : hook.timeout * 1000;
  try {
    if (hook.callback !== undefined) return understood(fromJson(await hook.callback(input, signal)), hook, ended);
    if (hook.type === 'http') {
      const { status, text } = await runners.post(hook.url ?? '', JSON.stringify(input), timeoutMs, signal);
      if (status < 200 || status > 299) return failure(hook, ended, `answered with status ${status}`, 'ran');
      return understood(readOutput(hook.event, text), hook, ended);
    }
    const end = await runners.runCommand(hook.command ?? '', `${JSON.stringify(input)}\n`, timeoutMs, signal);
    // Some interpreters end with 1 when their script is gone, as a script may that is there.
    const missing = end.code === 0 || end.timedOut ? undefined : await runners.missingScript(hook.command ?? '');
    return commandResult(end, hook, timeoutMs, missing, ended);
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
  end: CommandEnd,
  hook: Hook,
  timeoutMs: number,
  missing: string | undefined,
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

/** A guard that cannot start blocks; one that broke blocks when it says so. Either way it is reported. */
function failure(hook: Hook, ended: Ended, why: string, started: 'ran' | 'never started'): HookResult {
  const words = `${nameOf(hook)} ${why}.`;
  const blocks =
    hook.onFailure === 'block' || (isGuard(hook) && started === 'never started' && hook.onFailure !== 'continue');
  return ended(
    blocks ? 'blocked' : 'failed',
    blocks ? `${words} It guards this step, so the step is not taken.` : words,
  );
}

/** Guards stand before a step and can refuse it. */
export function isGuard({ event }: Hook): boolean {
  return event === 'PreToolUse' || event === 'UserPromptSubmit' || event === 'PreCompact';
}

/** How a hook is named to people: its command or address. */
export function nameOf(hook: Hook): string {
  const what = hook.command ?? hook.url ?? 'a hook of the host';
  return `The ${hook.event} hook "${what.length > 80 ? `${what.slice(0, 77)}…` : what}"`;
}
