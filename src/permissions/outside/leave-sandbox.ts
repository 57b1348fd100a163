import type { Rule } from '../../contracts/permission.ts';
import type { DecisionContext } from '../paths/context.ts';
import { type Findings, type Need, ruleSays } from '../paths/finding.ts';
import { FAMILY_WORD, OUTSIDE_WORD } from '../rules/families.ts';
import { type Opening, readOpening } from '../rules/openings.ts';
import { formatRule } from '../rules/rules.ts';
import { toolFindings } from '../tool-findings.ts';

/** A rule for leaving the sandbox, with what it opens to which commands. */
export type OpeningRule = Opening & { readonly rule: Rule };

/**
 * Where commands run in a sandbox, one that is to run outside needs a yes of its own, whatever allows it: once, or by a
 * rule such as `Outside(npm ci)`. A project makes no such rule.
 */
export function leavingSandbox(context: DecisionContext, found: Findings): Findings {
  const { facts, policy } = context;
  if (policy.sandbox === undefined || facts.outside === undefined) return found;
  const rules = openingRules(context).filter(({ opens }) => opens.kind === 'all');
  const left = asOfCommands(context, rules);
  return {
    ...found,
    objections: [...openingObjections(context, left, rules), ...found.objections],
    needs: [...needsOf(context, left), ...found.needs],
  };
}

/** What rules say of leaving; a yes of a project's is none. */
export function openingRules({ policy }: Pick<DecisionContext, 'policy'>): readonly OpeningRule[] {
  return policy.rules
    .filter(({ tool, behavior, source }) => tool === OUTSIDE_WORD && !(behavior === 'allow' && source === 'project'))
    .map((rule) => ({ ...readOpening(rule.problem === undefined ? rule.specifier : undefined), rule }));
}

/** What such rules cover of the line they cover as rules for commands would. */
export function asOfCommands(context: DecisionContext, rules: readonly OpeningRule[]): Findings {
  const asCommands = rules.map(({ rule: { specifier: _, ...rule }, commands }): Rule => {
    return { ...rule, tool: FAMILY_WORD.command, ...(commands === undefined ? {} : { specifier: commands }) };
  });
  return toolFindings({ ...context, policy: { ...context.policy, rules: asCommands } });
}

/** The rule by which all of the line is covered, one of them where there are several. */
export function coverOfAll({ needs, unanalysed }: Findings): Rule | undefined {
  if (unanalysed.length > 0 || needs.some(({ cover }) => cover === undefined)) return undefined;
  return needs.flatMap(({ cover }) => (cover?.by === 'rule' ? [cover.rule] : []))[0];
}

/** What keeps the line inside: rules about its commands, about any, and those that nobody can read. */
export function openingObjections(
  { facts }: DecisionContext,
  left: Findings,
  rules: readonly OpeningRule[],
): Findings['objections'] {
  return [
    ...left.objections.filter(({ stage, rule }) => stage !== 'breaker' && rule !== undefined),
    ...rules.flatMap(({ rule, commands }): Findings['objections'] => {
      const { behavior, problem } = rule;
      if (behavior === 'allow' || (commands !== undefined && problem === undefined)) return [];
      if (problem === undefined)
        return [{ stage: behavior, verdict: behavior, rule, text: `${rule.text} keeps it inside.` }];
      const text = `${ruleSays(rule)} cannot be understood (${problem}), so ${facts.tool} asks.`;
      return [{ stage: 'ask', verdict: 'ask', rule, text }];
    }),
  ];
}

function needsOf({ facts }: DecisionContext, left: Findings): readonly Need[] {
  const subject = facts.command ?? facts.tool;
  const text = `It is to run outside of the sandbox, because it needs ${facts.outside ?? 'that'}.`;
  const rule = coverOfAll(left);
  if (rule !== undefined)
    return [{ kind: 'command', subject, text: `${text} ${rule.text} lets it.`, cover: { by: 'rule', rule } }];
  const open = left.needs.filter(({ cover }) => cover === undefined);
  const asking = { kind: 'command', subject, text, asks: 'to leave the sandbox' } as const;
  if (left.unanalysed.length > 0 || open.some(({ kind }) => kind !== 'command')) return [asking];
  if (open.length === 0) return [{ ...asking, suggestion: outside(subject, subject) }];
  return open.map(({ subject: part, suggestion }) => {
    const words = /^Bash\((.*)\)$/s.exec(suggestion?.rule ?? '')?.[1];
    return { ...asking, subject: part, ...(words === undefined ? {} : { suggestion: outside(words, part) }) };
  });
}

const outside = (words: string, subject: string) => ({
  rule: formatRule(OUTSIDE_WORD, words),
  covers: `${subject} outside of the sandbox`,
});
