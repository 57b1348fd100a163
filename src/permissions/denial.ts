import type { Decision, PermissionMode } from '../contracts/permission.ts';
import { ruleSays } from './finding.ts';

/** What the model reads about a denial: why, and what would have to change for it to be allowed. */
export function denialMessage(tool: string, decision: Decision, mode: PermissionMode): string {
  const why = decision.reasons.join(' ');
  return [`${tool} was not run. ${why}`, remedy(decision, mode)].filter((part) => part !== '').join(' ');
}

function remedy(decision: Decision, mode: PermissionMode): string {
  const denying = decision.matched.find((rule) => rule.behavior === 'deny');
  if (denying !== undefined)
    return `Only the user can change that rule: ${ruleSays(denying)}. Go another way or tell the user.`;
  if (decision.trace.some((step) => step.stage === 'breaker'))
    return 'No mode allows this unasked. Tell the user what you need and why.';
  if (mode === 'plan') return 'Finish the plan and have it approved first.';
  const rules = decision.suggestions.map((each) => each.rule);
  if (rules.length > 0)
    return `The user could allow it with ${rules.length === 1 ? 'the rule' : 'the rules'} ${rules.join(', ')}.`;
  return 'Go another way, or tell the user what you need.';
}
