import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import { SAMPLING_RULE_NAME } from './rule-families.ts';

/** Returns the strictest verdict of the rules on sampling requests of a server; a project cannot allow them. */
export function getSamplingVerdict(rules: readonly Rule[], server: string): RuleBehavior | undefined {
  const relevant = rules.filter(
    ({ tool, specifier, behavior, source, problem }) =>
      tool === SAMPLING_RULE_NAME &&
      problem === undefined &&
      (specifier === undefined || specifier === server) &&
      !(behavior === 'allow' && source === 'project'),
  );
  const hasBehavior = (behavior: RuleBehavior) => relevant.some((rule) => rule.behavior === behavior);
  return (['deny', 'ask', 'allow'] as const).find(hasBehavior);
}
