import type { Rule } from '../contracts/permission.ts';
import type { DecisionContext } from './paths/context.ts';
import type { Findings, Need } from './paths/finding.ts';
import { FAMILY_WORD, OUTSIDE_WORD } from './rules/families.ts';
import { formatRule } from './rules/rules.ts';
import { toolFindings } from './tool-findings.ts';

/**
 * Where commands run in a sandbox, one that is to run outside needs a yes of its own, whatever allows it: once, or by a
 * rule such as `Outside(npm ci)`. A project makes no such rule.
 */
export function leavingSandbox(context: DecisionContext, found: Findings): Findings {
  const { facts, policy } = context;
  if (policy.sandbox === undefined || facts.outside === undefined) return found;
  const rules = policy.rules.filter(
    ({ tool, behavior, source }) => tool === OUTSIDE_WORD && !(behavior === 'allow' && source === 'project'),
  );
  // What such a rule covers it covers as one for commands would.
  const asCommands = rules.map((rule): Rule => ({ ...rule, tool: FAMILY_WORD.command }));
  const left = toolFindings({ ...context, policy: { ...policy, rules: asCommands } });
  const whole = rules.filter(({ specifier, problem }) => specifier === undefined && problem === undefined);
  const objections = [
    ...left.objections.filter(({ stage, rule }) => stage !== 'breaker' && rule !== undefined),
    ...whole.flatMap(({ behavior, ...rule }) =>
      behavior === 'allow'
        ? []
        : [{ stage: behavior, verdict: behavior, rule: { ...rule, behavior }, text: `${rule.text} keeps it inside.` }],
    ),
  ];
  return {
    ...found,
    objections: [...objections, ...found.objections],
    needs: [...needsOf(context, left), ...found.needs],
  };
}

function needsOf({ facts }: DecisionContext, left: Findings): readonly Need[] {
  const subject = facts.command ?? facts.tool;
  const text = `It is to run outside of the sandbox, because it needs ${facts.outside ?? 'that'}.`;
  const open = left.needs.filter(({ cover }) => cover === undefined);
  const covering = left.needs.flatMap(({ cover }) => (cover?.by === 'rule' ? [cover] : []));
  const [cover] = covering;
  if (open.length === 0 && left.unanalysed.length === 0 && cover !== undefined)
    return [{ kind: 'command', subject, text: `${text} ${cover.rule.text} lets it.`, cover }];
  const asking = { kind: 'command', subject, text, asks: 'in every mode' } as const;
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
