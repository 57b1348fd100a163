import type { Decision, PermissionRequest, Policy, ToolFacts } from '../contracts/permission.ts';
import { decide } from './decide.ts';
import { asOfCommands } from './leave-sandbox.ts';
import { contextOf, type DecisionContext } from './paths/context.ts';
import type { PermissionFs } from './paths/fs.ts';
import { OUTSIDE_WORD } from './rules/families.ts';
import { openingWords, readOpening } from './rules/openings.ts';
import { formatRule, parseRule } from './rules/rules.ts';

type Asked = { readonly facts: ToolFacts; readonly decision: Pick<Decision, 'suggestions'>; readonly policy: Policy };

/** What is suggested for any command, for the programs of this line alone; absent where that would not do. */
export function rulesOfPrograms(
  { facts, decision, policy }: Asked,
  fs: PermissionFs,
): Pick<PermissionRequest, 'ofPrograms'> {
  const opening = (rule: string) => {
    const { tool, specifier } = parseRule(rule, 'allow', { source: 'session' });
    return tool === OUTSIDE_WORD ? readOpening(specifier).opens : undefined;
  };
  if (!decision.suggestions.some(({ rule }) => (opening(rule) ?? ALL).kind !== 'all')) return {};
  const names = programsOf(contextOf(facts, policy, fs));
  const rules = decision.suggestions.flatMap(({ rule }) => {
    const opens = opening(rule) ?? ALL;
    return opens.kind === 'all'
      ? [rule]
      : names.map((name) => formatRule(OUTSIDE_WORD, openingWords({ commands: `${name}:*`, opens })));
  });
  const granted = rules.map((rule) => parseRule(rule, 'allow', { source: 'session', root: policy.cwd }));
  // Only what the gate itself would take for a yes is offered.
  if (decide(facts, { ...policy, rules: [...policy.rules, ...granted] }, fs).verdict !== 'allow') return {};
  return { ofPrograms: { names, rules } };
}

const ALL = { kind: 'all' } as const;

/** The programs of the line that do more than look, by their plain names. */
export function programsOf(context: DecisionContext): readonly string[] {
  const { needs } = asOfCommands(context, []);
  const names = needs.flatMap(({ kind, cover, subject }) =>
    kind === 'command' && cover === undefined ? [subject.split(/\s/, 1)[0] ?? ''] : [],
  );
  return names.every((name) => /^[\w.+-]+$/.test(name)) ? [...new Set(names)] : [];
}
