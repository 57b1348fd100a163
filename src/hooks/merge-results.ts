import type { HookResult, HookVerdict } from '../contracts/hook.ts';
import { describeHook } from './run-hook.ts';

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
