import type { AgentEvent } from '../contracts/event.ts';
import {
  describeHookAction,
  type Hook,
  type HookOutput,
  type HookResult,
  type HookVerdict,
} from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { exhaustive, getErrorMessage } from '../lib/errors.ts';
import { createTimeoutBackoff } from '../lib/processes/timeout-backoff.ts';
import { truncate } from '../lib/text/format.ts';
import {
  type EndedHookCommand,
  type HookCommandResult,
  type HookRunners,
  parseHookOutput,
  performHookAction,
} from './hook-actions.ts';
import { HOOK_ENV_FILE_EVENTS } from './hook-env-store.ts';

/** Exit codes of the shell for a command that does not exist or cannot be executed. */
const CANNOT_START_CODES = [126, 127];

/** Output of the programs of the sandbox when they cannot start a hook; their exit codes say nothing. */
const SANDBOX_FAILURE = /^(?:bwrap|sandbox-exec): /m;

/** Exit code of a hook that blocks a step. */
const BLOCK_CODE = 2;

const HINT_WITHOUT_NETWORK =
  ' It ran in the sandbox, without network and with only the workspace writable; "sandbox": "network" or "off" in its entry asks for more.';
const HINT_WITH_NETWORK =
  ' It ran in the sandbox, with only the workspace writable; "sandbox": "off" in its entry asks for more.';

/** Runs one hook to its end; every failure becomes a result. */
async function runHook(
  hook: Hook,
  input: JsonObject,
  runners: HookRunners & { readonly explainSandbox: (end: HookCommandResult) => string },
  signal: AbortSignal,
): Promise<HookResult> {
  const startedAt = runners.now();
  const createResult = (outcome: HookResult['outcome'], message: string, output: HookOutput = {}): HookResult => ({
    hook,
    outcome,
    words: omitMiddle(message),
    output: truncateOutput(output),
    durationMs: runners.now() - startedAt,
  });
  try {
    const result = await performHookAction(hook, input, runners, signal);
    switch (result.kind) {
      case 'output':
        return createOutputResult(result.parsed, hook, createResult);
      case 'failed':
        return createFailure(hook, createResult, result.problem, 'ran');
      case 'ended': {
        const addAdvice: CreateResult = (outcome, message, output) =>
          createResult(
            outcome,
            outcome === 'passed' ? message : `${message}${runners.explainSandbox(result.end)}`,
            output,
          );
        return createCommandResult(result, hook, addAdvice);
      }
      default:
        return exhaustive(result);
    }
  } catch (thrown) {
    return createFailure(hook, createResult, `cannot start: ${getErrorMessage(thrown)}`, 'never started');
  }
}

/** Limit for the text of a hook, so that its output cannot fill the context. */
const MAX_CHARS = 20_000;
const HEAD_CHARS = 15_000;

/** Cuts the middle out of a long text. */
function omitMiddle(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const omitted = text.length - MAX_CHARS;
  return `${text.slice(0, HEAD_CHARS)}\n[${omitted} characters of the hook are left out here]\n${text.slice(HEAD_CHARS + omitted)}`;
}

function truncateOutput({ additionalContext, reason, permissionDecisionReason, ...output }: HookOutput): HookOutput {
  return {
    ...output,
    ...(additionalContext === undefined ? {} : { additionalContext: omitMiddle(additionalContext) }),
    ...(reason === undefined ? {} : { reason: omitMiddle(reason) }),
    ...(permissionDecisionReason === undefined
      ? {}
      : { permissionDecisionReason: omitMiddle(permissionDecisionReason) }),
  };
}

type CreateResult = (outcome: HookResult['outcome'], message: string, output?: HookOutput) => HookResult;

function createCommandResult(
  { end, timeoutMs, missingScript }: EndedHookCommand,
  hook: Hook,
  createResult: CreateResult,
): HookResult {
  if (end.timedOut)
    return createFailure(
      hook,
      createResult,
      `did not answer within ${timeoutMs / 1000} s${end.isPaused === true ? ' and is paused' : ' and was stopped'}`,
      'ran',
    );
  if (end.code === 0) return createOutputResult(parseHookOutput(hook.event, end.stdout), hook, createResult);
  if (missingScript !== undefined)
    return createFailure(hook, createResult, `cannot start: ${missingScript} does not exist`, 'never started');
  const stderr = end.stderr.trim();
  if (end.code === BLOCK_CODE)
    return createResult(
      'blocked',
      stderr === '' ? `${describeHook(hook)} blocked this step without a reason.` : stderr,
    );
  const isSandboxBroken = end.sandbox !== undefined && SANDBOX_FAILURE.test(stderr);
  const started =
    isSandboxBroken || (end.code !== null && CANNOT_START_CODES.includes(end.code)) ? 'never started' : 'ran';
  return createFailure(
    hook,
    createResult,
    `${end.code === null ? 'was ended by a signal' : `ended with code ${end.code}`}${stderr === '' ? '' : `: ${stderr}`}`,
    started,
  );
}

function createOutputResult(
  parsed: ReturnType<typeof parseHookOutput>,
  hook: Hook,
  createResult: CreateResult,
): HookResult {
  if (!parsed.ok) return createFailure(hook, createResult, parsed.problem, 'ran');
  const { output } = parsed;
  const isBlocked = output.decision === 'block';
  return createResult(isBlocked ? 'blocked' : 'passed', output.reason ?? '', output);
}

/** Creates the result of a failed hook; it blocks when `onFailure` says so or a guard of calls could not start. */
function createFailure(
  hook: Hook,
  createResult: CreateResult,
  reason: string,
  started: 'ran' | 'never started',
): HookResult {
  const message = `${describeHook(hook)} ${reason}.`;
  const blocks =
    hook.onFailure === 'block' ||
    (isRequiredHook(hook) && started === 'never started' && hook.onFailure !== 'continue');
  return createResult(
    blocks ? 'blocked' : 'failed',
    blocks ? `${message} It guards this step, so the step is not taken.` : message,
  );
}

/** Returns true for hooks that run before a step and can block it. */
export function isBlockingHook({ event }: Hook): boolean {
  return event === 'PreToolUse' || event === 'UserPromptSubmit' || event === 'PreCompact';
}

/** Returns true when a hook that cannot start blocks its step: calls of the model, but not the user's prompts. */
export function isRequiredHook({ event }: Hook): boolean {
  return event === 'PreToolUse';
}

/** Describes a hook for messages by its event and action. */
export function describeHook(hook: Hook): string {
  return `The ${hook.event} hook "${truncate(describeHookAction(hook), 78)}"`;
}

/** Runs one hook for an event and returns its result. */
export type RunHook = (hook: Hook, input: JsonObject, signal: AbortSignal) => Promise<HookResult>;

/** Creates the runner that emits the start and end of each hook and keeps its last result. */
export function createHookRunner(deps: HookRunners & { readonly emit: (event: AgentEvent) => void }) {
  const lastResults = new Map<string, HookResult>();
  const pausedHooks = createTimeoutBackoff(deps.now);
  const explained = new Set<string>();
  let runCount = 0;

  async function run(hook: Hook, input: JsonObject, signal: AbortSignal): Promise<HookResult> {
    const name = describeHook(hook);
    runCount += 1;
    const id = { hook_id: `hook_${runCount}` };
    const startDetail = hook.statusMessage === undefined ? id : { ...id, status_message: hook.statusMessage };
    deps.emit({ type: 'hook', phase: 'started', event: hook.event, name, detail: startDetail });
    /** Explains the sandbox to a hook that failed in it; once, since it may fail for any other reason. */
    function explainSandbox({ code, sandbox }: HookCommandResult): string {
      const key = getHookKey(hook);
      if (sandbox === undefined || code === 0 || code === BLOCK_CODE || explained.has(key)) return '';
      explained.add(key);
      return sandbox === 'with network' ? HINT_WITH_NETWORK : HINT_WITHOUT_NETWORK;
    }
    const result = await runHook(
      hook,
      input,
      { ...deps, runCommand: selectCommandRunner(hook), explainSandbox },
      signal,
    );
    lastResults.set(getHookKey(hook), result);
    const detail = { ...id, outcome: result.outcome, words: result.words, duration_ms: result.durationMs };
    deps.emit({ type: 'hook', phase: 'response', event: hook.event, name, detail });
    return result;
  }

  /** Guards run every time; any other hook that timed out is paused for a while. */
  function selectCommandRunner(hook: Hook): HookRunners['runCommand'] {
    if (isBlockingHook(hook)) return deps.runCommand;
    const runCommand = withEnvFile(hook, deps);
    return async (command, stdin, timeoutMs, signal, env, entry) => {
      if (pausedHooks.isPaused(getHookKey(hook)))
        return { code: null, stdout: '', stderr: '', timedOut: true, isPaused: true };
      const end = await runCommand(command, stdin, timeoutMs, signal, env, entry);
      pausedHooks.record(getHookKey(hook), { timedOut: end.timedOut, tookMs: timeoutMs });
      return end;
    };
  }

  return { run, getLastResult: (hook: Hook): HookResult | undefined => lastResults.get(getHookKey(hook)) };
}

/** Adds an env file to the command runner of a hook whose event may set variables. */
function withEnvFile(hook: Hook, { runCommand, withEnvFile: keep }: HookRunners): HookRunners['runCommand'] {
  if (keep === undefined || !HOOK_ENV_FILE_EVENTS.includes(hook.event)) return runCommand;
  return (command, stdin, timeoutMs, signal, env, entry) =>
    keep({ ...hook, key: getHookKey(hook) }, (envFile) =>
      runCommand(command, stdin, timeoutMs, signal, { ...env, ...envFile }, entry),
    );
}

/** Returns the key of a hook; the same command on several events has several keys. */
export function getHookKey(hook: Hook): string {
  return [hook.event, hook.matcher ?? '', hook.file ?? hook.source, describeHookAction(hook)].join('\n');
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Merges the results of an event's hooks: the strictest verdict wins, and input changes apply in order. */
export function mergeHookResults(results: readonly HookResult[]): HookVerdict {
  let permission: HookVerdict['permission'];
  let updatedInput: HookVerdict['updatedInput'];
  for (const { hook, output } of results) {
    if (output.updatedInput !== undefined) updatedInput = { ...updatedInput, ...output.updatedInput };
    const decision = output.permissionDecision ?? (output.decision === 'approve' ? 'allow' : undefined);
    if (decision === undefined) continue;
    // Hooks of a project may only restrict, so their "allow" is ignored.
    if (decision === 'allow' && (hook.source === 'project' || hook.source === 'local')) continue;
    // An "allow" is also ignored when another hook changed the input it was given for.
    if (decision === 'allow' && results.some((other) => other.hook !== hook && other.output.updatedInput !== undefined))
      continue;
    if (permission !== undefined && STRICTNESS[decision] <= STRICTNESS[permission.decision]) continue;
    const reason = output.permissionDecisionReason ?? output.reason ?? '';
    permission = { decision, reason, by: describeHook(hook) };
  }
  const blocked = results
    .filter(({ outcome }) => outcome === 'blocked')
    .map(({ words, hook }) => words || `${describeHook(hook)} blocked this step.`);
  const stops = results.filter(({ output }) => output.continue === false);
  const context = results.flatMap(({ output }) => output.additionalContext ?? []);
  return {
    blocked: blocked.length === 0 ? undefined : blocked.join('\n'),
    stop:
      stops.length === 0
        ? undefined
        : stops.map(({ output, hook }) => output.stopReason ?? `${describeHook(hook)} gave no reason.`).join('\n'),
    permission,
    updatedInput,
    context: context.length === 0 ? undefined : context.join('\n'),
    updatedToolOutput: results.findLast(({ output }) => output.updatedToolOutput !== undefined)?.output
      .updatedToolOutput,
    worktreePath: results.find(({ output }) => output.worktreePath !== undefined)?.output.worktreePath,
    elicited: pickElicitation(results),
    watchPaths: collectWatchPaths(results),
    sessionTitle: results.findLast(({ output }) => output.sessionTitle !== undefined)?.output.sessionTitle,
    reloadSkills: results.some(({ output }) => output.reloadSkills === true),
    displayContent: results.findLast(({ output }) => output.displayContent !== undefined)?.output.displayContent,
    messages: results.flatMap(({ output }) => output.systemMessage ?? []),
    failures: results.flatMap(({ outcome, words }) => (outcome === 'failed' ? [words] : [])),
  };
}

/** Picks the strictest answer to a server: any refusal wins. */
function pickElicitation(results: readonly HookResult[]): HookVerdict['elicited'] {
  const answers = results.flatMap(({ output: { action, content = {} } }) =>
    action === undefined ? [] : [{ action, content }],
  );
  return answers.find(({ action }) => action !== 'accept') ?? answers[0];
}

/** Collects the paths to watch; `undefined` when no hook named any, so the previous ones stay. */
function collectWatchPaths(results: readonly HookResult[]): HookVerdict['watchPaths'] {
  const paths = results.flatMap(({ output: { watchPaths } }) => (watchPaths === undefined ? [] : [watchPaths]));
  return paths.length === 0 ? undefined : paths.flat();
}
