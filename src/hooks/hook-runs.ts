import type { AgentEvent } from '../contracts/event.ts';
import { actionOf, type Hook, type HookResult } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { createHanging } from '../lib/processes/hanging.ts';
import type { HookRunners } from './act.ts';
import { KEEPS_VARIABLES } from './kept-variables.ts';
import { isGuard, nameOf, runHook } from './run-hook.ts';

export type RunHook = (hook: Hook, input: JsonObject, signal: AbortSignal) => Promise<HookResult>;

/** Runs hooks one by one, tells when each begins and ends, and keeps what came of it. */
export function createHookRuns(parts: HookRunners & { readonly tell: (event: AgentEvent) => void }): {
  readonly run: RunHook;
  readonly last: (hook: Hook) => HookResult | undefined;
} {
  const last = new Map<string, HookResult>();
  const hanging = createHanging(parts.now);
  let runs = 0;

  async function run(hook: Hook, input: JsonObject, signal: AbortSignal): Promise<HookResult> {
    const name = nameOf(hook);
    runs += 1;
    const id = { hook_id: `hook_${runs}` };
    const begins = hook.statusMessage === undefined ? id : { ...id, status_message: hook.statusMessage };
    parts.tell({ type: 'hook', phase: 'started', event: hook.event, name, detail: begins });
    const result = await runHook(hook, input, { ...parts, runCommand: runnerOf(hook) }, signal);
    last.set(keyOf(hook), result);
    const detail = { ...id, outcome: result.outcome, words: result.words, duration_ms: result.durationMs };
    parts.tell({ type: 'hook', phase: 'response', event: hook.event, name, detail });
    return result;
  }

  /** A guard is asked every time; anything else that hangs is not started again at once. */
  function runnerOf(hook: Hook): HookRunners['runCommand'] {
    if (isGuard(hook)) return parts.runCommand;
    const runCommand = keepingRunner(hook, parts);
    return async (command, stdin, timeoutMs, signal, env) => {
      if (hanging.isPaused(keyOf(hook))) return { code: null, stdout: '', stderr: '', timedOut: true, isPaused: true };
      const end = await runCommand(command, stdin, timeoutMs, signal, env);
      hanging.note(keyOf(hook), { timedOut: end.timedOut, tookMs: timeoutMs });
      return end;
    };
  }

  return { run, last: (hook) => last.get(keyOf(hook)) };
}

/** The runner for a hook that may leave variables. */
function keepingRunner(hook: Hook, { runCommand, keep }: HookRunners): HookRunners['runCommand'] {
  if (keep === undefined || !KEEPS_VARIABLES.includes(hook.event)) return runCommand;
  return (command, stdin, timeoutMs, signal, env) =>
    keep(keyOf(hook), (more) => runCommand(command, stdin, timeoutMs, signal, { ...env, ...more }));
}

/** The same command may guard several events; each keeps its own last result. */
export function keyOf(hook: Hook): string {
  return [hook.event, hook.matcher ?? '', hook.file ?? hook.source, actionOf(hook)].join('\n');
}
