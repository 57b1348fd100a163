import type { HookResult, HookVerdict } from '../contracts/hook.ts';
import { nameOf } from './run-hook.ts';

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** The strictest verdict wins, every word is kept, input changes apply in order. */
export function mergeVerdicts(results: readonly HookResult[]): HookVerdict {
  let permission: HookVerdict['permission'];
  let updatedInput: HookVerdict['updatedInput'];
  for (const { hook, output } of results) {
    if (output.updatedInput !== undefined) updatedInput = { ...updatedInput, ...output.updatedInput };
    const decision = output.permissionDecision ?? (output.decision === 'approve' ? 'allow' : undefined);
    if (decision === undefined) continue;
    // A project may tighten; what it allows counts for nothing.
    if (decision === 'allow' && (hook.source === 'project' || hook.source === 'local')) continue;
    // Nor does what was said of an input that another hook changed meanwhile.
    if (decision === 'allow' && results.some((other) => other.hook !== hook && other.output.updatedInput !== undefined))
      continue;
    if (permission !== undefined && STRICTNESS[decision] <= STRICTNESS[permission.decision]) continue;
    const reason = output.permissionDecisionReason ?? output.reason ?? '';
    permission = { decision, reason, by: nameOf(hook) };
  }
  const blocked = results
    .filter(({ outcome }) => outcome === 'blocked')
    .map(({ words, hook }) => words || `${nameOf(hook)} objects.`);
  const stops = results.filter(({ output }) => output.continue === false);
  const context = results.flatMap(({ output }) => output.additionalContext ?? []);
  return {
    blocked: blocked.length === 0 ? undefined : blocked.join('\n'),
    stop:
      stops.length === 0
        ? undefined
        : stops.map(({ output, hook }) => output.stopReason ?? `${nameOf(hook)} gave no reason.`).join('\n'),
    permission,
    updatedInput,
    context: context.length === 0 ? undefined : context.join('\n'),
    updatedToolOutput: results.findLast(({ output }) => output.updatedToolOutput !== undefined)?.output
      .updatedToolOutput,
    worktreePath: results.find(({ output }) => output.worktreePath !== undefined)?.output.worktreePath,
    elicited: elicitedBy(results),
    watchPaths: watchedBy(results),
    sessionTitle: results.findLast(({ output }) => output.sessionTitle !== undefined)?.output.sessionTitle,
    reloadSkills: results.some(({ output }) => output.reloadSkills === true),
    displayContent: results.findLast(({ output }) => output.displayContent !== undefined)?.output.displayContent,
    messages: results.flatMap(({ output }) => output.systemMessage ?? []),
    failures: results.flatMap(({ outcome, words }) => (outcome === 'failed' ? [words] : [])),
  };
}

/** The strictest answer to a server: whoever declines wins. */
function elicitedBy(results: readonly HookResult[]): HookVerdict['elicited'] {
  const answers = results.flatMap(({ output: { action, content = {} } }) =>
    action === undefined ? [] : [{ action, content }],
  );
  return answers.find(({ action }) => action !== 'accept') ?? answers[0];
}

/** Nothing where no hook spoke of paths: what was watched stays. */
function watchedBy(results: readonly HookResult[]): HookVerdict['watchPaths'] {
  const named = results.flatMap(({ output: { watchPaths } }) => (watchPaths === undefined ? [] : [watchPaths]));
  return named.length === 0 ? undefined : named.flat();
}
