import type { Decision, PermissionMode } from '../contracts/permission.ts';
import { ruleSays } from './paths/finding.ts';
import { FAMILY_WORD } from './rules/families.ts';

/** What the model reads about a denial: why, and what would have to change for it to be allowed. */
export function denialMessage(tool: string, decision: Decision, mode: PermissionMode): string {
  const why = decision.reasons.join(' ');
  const what = decision.trace.at(-1)?.stage === 'answer' ? 'needs permission and was not run.' : 'was not run.';
  return [`${tool} ${what} ${why}`, remedy(decision, mode)].filter((part) => part !== '').join(' ');
}

function remedy(decision: Decision, mode: PermissionMode): string {
  const denying = decision.matched.find((rule) => rule.behavior === 'deny');
  if (denying !== undefined)
    return `Only the user can change that rule: ${ruleSays(denying)}. Go another way or tell the user.`;
  if (decision.trace.some((step) => step.stage === 'breaker'))
    return 'No mode allows this unasked. Tell the user what you need and why.';
  if (mode === 'plan') return 'Finish the plan and have it approved first.';
  const rules = decision.suggestions.filter((each) => each.leaves === undefined).map((each) => each.rule);
  if (rules.length === 0) return 'Go another way, or tell the user what you need.';
  const edits = rules.every((rule) => rule.startsWith(`${FAMILY_WORD.edit}(`)) ? ' or the mode acceptEdits' : '';
  return `The user could allow it with ${rules.map((rule) => `--allowedTools "${rule}"`).join(' ')}${edits}.`;
}
