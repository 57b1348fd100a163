import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import { SAMPLING_WORD } from './families.ts';

/** What rules say of a server that wants the model to answer; the strictest counts, and no project says yes. */
export function samplingVerdict(rules: readonly Rule[], server: string): RuleBehavior | undefined {
  const about = rules.filter(
    ({ tool, specifier, behavior, source, problem }) =>
      tool === SAMPLING_WORD &&
      problem === undefined &&
      (specifier === undefined || specifier === server) &&
      !(behavior === 'allow' && source === 'project'),
  );
  const has = (behavior: RuleBehavior) => about.some((rule) => rule.behavior === behavior);
  return (['deny', 'ask', 'allow'] as const).find(has);
}
