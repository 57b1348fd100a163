import type { Decision, PermissionRequest, Policy, Rule, ToolFacts } from '../../contracts/permission.ts';
import type { BlockedEffect } from '../../contracts/sandbox.ts';
import { collectCallFindings } from '../collect-call-findings.ts';
import { createDecisionContext } from '../create-decision-context.ts';
import { type AnalysisFindings, type DecisionContext, describeRule, type Requirement } from '../decision-context.ts';
import type { PermissionFs } from '../permission-fs.ts';
import {
  formatRule,
  formatSandboxException,
  parseRule,
  parseSandboxException,
  type SandboxException,
} from '../rules/parse-rule.ts';
import { FAMILY_RULE_NAMES, SANDBOX_EXCEPTION_RULE_NAME } from '../rules/rule-families.ts';

/** A rule with the sandbox exception it grants, asks about or denies. */
export type SandboxExceptionRule = SandboxException & { readonly rule: Rule };

/**
 * Adds the requirement to run outside the sandbox, for a call that asks for it. It needs its own approval, once or by a
 * rule such as `Outside(npm ci)`; allow rules of a project do not count.
 */
export function addRunOutsideFindings(context: DecisionContext, findings: AnalysisFindings): AnalysisFindings {
  const { facts, policy } = context;
  if (policy.sandbox === undefined || facts.outside === undefined) return findings;
  const rules = listSandboxExceptionRules(context).filter(({ grants }) => grants.kind === 'all');
  const commandFindings = matchExceptionCommands(context, rules);
  return {
    ...findings,
    blockers: [...listSandboxExceptionBlockers(context, commandFindings, rules), ...findings.blockers],
    requirements: [...createLeaveRequirements(context, commandFindings), ...findings.requirements],
  };
}

/** Returns the rules about sandbox exceptions, without allow rules of a project. */
export function listSandboxExceptionRules({
  policy,
}: Pick<DecisionContext, 'policy'>): readonly SandboxExceptionRule[] {
  return policy.rules
    .filter(
      ({ tool, behavior, source }) =>
        tool === SANDBOX_EXCEPTION_RULE_NAME && !(behavior === 'allow' && source === 'project'),
    )
    .map((rule) => ({ ...parseSandboxException(rule.problem === undefined ? rule.specifier : undefined), rule }));
}

/** Analyses the call as if the exception rules were command rules, to see which of its commands they match. */
export function matchExceptionCommands(
  context: DecisionContext,
  rules: readonly SandboxExceptionRule[],
): AnalysisFindings {
  const commandRules = rules.map(({ rule: { specifier: _, ...rule }, commands }): Rule => {
    return { ...rule, tool: FAMILY_RULE_NAMES.command, ...(commands === undefined ? {} : { specifier: commands }) };
  });
  return collectCallFindings({ ...context, policy: { ...context.policy, rules: commandRules } });
}

/** Returns a rule that allows the call if rules allow every part of it; undefined otherwise. */
export function findAllowingRule({ requirements, unanalysed }: AnalysisFindings): Rule | undefined {
  if (unanalysed.length > 0 || requirements.some(({ allowedBy }) => allowedBy === undefined)) return undefined;
  return requirements.flatMap(({ allowedBy }) => (allowedBy?.by === 'rule' ? [allowedBy.rule] : []))[0];
}

/** Returns the deny and ask rules against the exception: for its commands, for any command, and invalid ones. */
export function listSandboxExceptionBlockers(
  { facts }: DecisionContext,
  commandFindings: AnalysisFindings,
  rules: readonly SandboxExceptionRule[],
): AnalysisFindings['blockers'] {
  return [
    ...commandFindings.blockers.filter(({ stage, rule }) => stage !== 'breaker' && rule !== undefined),
    ...rules.flatMap(({ rule, commands }): AnalysisFindings['blockers'] => {
      const { behavior, problem } = rule;
      if (behavior === 'allow' || (commands !== undefined && problem === undefined)) return [];
      if (problem === undefined)
        return [{ stage: behavior, verdict: behavior, rule, text: `${rule.text} keeps it in the sandbox.` }];
      const text = `${describeRule(rule)} is invalid (${problem}), so ${facts.tool} needs approval.`;
      return [{ stage: 'ask', verdict: 'ask', rule, text }];
    }),
  ];
}

function createLeaveRequirements(
  { facts }: DecisionContext,
  commandFindings: AnalysisFindings,
): readonly Requirement[] {
  const subject = facts.command ?? facts.tool;
  const text = `It asks to run outside the sandbox, because it needs ${facts.outside ?? 'that'}.`;
  const rule = findAllowingRule(commandFindings);
  if (rule !== undefined)
    return [{ kind: 'command', subject, text: `${text} ${rule.text} allows it.`, allowedBy: { by: 'rule', rule } }];
  const open = commandFindings.requirements.filter(({ allowedBy }) => allowedBy === undefined);
  const requirement = { kind: 'command', subject, text, asks: 'to leave the sandbox' } as const;
  if (commandFindings.unanalysed.length > 0 || open.some(({ kind }) => kind !== 'command')) return [requirement];
  if (open.length === 0) return [{ ...requirement, suggestion: suggestOutsideRule(subject, subject) }];
  return open.map(({ subject: part, suggestion }) => {
    const pattern = /^Bash\((.*)\)$/s.exec(suggestion?.rule ?? '')?.[1];
    const outsideRule = pattern === undefined ? {} : { suggestion: suggestOutsideRule(pattern, part) };
    return { ...requirement, subject: part, ...outsideRule };
  });
}

const suggestOutsideRule = (pattern: string, subject: string) => ({
  rule: formatRule(SANDBOX_EXCEPTION_RULE_NAME, pattern),
  covers: `${subject} outside the sandbox`,
});

type PendingCall = {
  readonly facts: ToolFacts;
  readonly decision: Pick<Decision, 'suggestions'>;
  readonly policy: Policy;
};

/** Narrows the suggested write and host exceptions to the programs of this line; undefined if none is suggested. */
export function narrowRulesToPrograms(
  { facts, decision, policy }: PendingCall,
  fs: PermissionFs,
): NonNullable<PermissionRequest['ofPrograms']> | undefined {
  if (!decision.suggestions.some(({ rule }) => parseOpening(rule).kind !== 'all')) return undefined;
  const names = listNonReadOnlyPrograms(createDecisionContext(facts, policy, fs));
  const rules = decision.suggestions.flatMap(({ rule }) => {
    const grants = parseOpening(rule);
    return grants.kind === 'all'
      ? [rule]
      : names.map((name) =>
          formatRule(SANDBOX_EXCEPTION_RULE_NAME, formatSandboxException({ commands: `${name}:*`, grants })),
        );
  });
  return { names, rules };
}

function parseOpening(rule: string): SandboxException['grants'] {
  const { tool, specifier } = parseRule(rule, 'allow', { source: 'session' });
  return tool === SANDBOX_EXCEPTION_RULE_NAME ? parseSandboxException(specifier).grants : { kind: 'all' };
}

/** Lists the programs of the line that are not read-only, by name; empty if a name is not plain. */
export function listNonReadOnlyPrograms(context: DecisionContext): readonly string[] {
  const { requirements } = matchExceptionCommands(context, []);
  const names = requirements.flatMap(({ kind, allowedBy, subject }) =>
    kind === 'command' && allowedBy === undefined ? [subject.split(/\s/, 1)[0] ?? ''] : [],
  );
  return names.every((name) => /^[\w.+-]+$/.test(name)) ? [...new Set(names)] : [];
}

/** Adds the requirement to run a failed command without limits; rules that allow it allow this too. */
export function addSandboxDenialFindings({ facts }: DecisionContext, findings: AnalysisFindings): AnalysisFindings {
  const { blocked, command } = facts;
  if (blocked === undefined || command === undefined) return findings;
  const rules = findings.requirements.flatMap(({ allowedBy }) => (allowedBy?.by === 'rule' ? [allowedBy] : []));
  if (rules.length > 0 && rules.length === findings.requirements.length) return findings;
  const effects = [...new Set(blocked.map(describeEffect))];
  const requirement: Requirement = {
    kind: 'command',
    subject: command,
    text: `In the read-only sandbox it failed: it tried to ${effects.join(', and to ')}. Running it outside needs approval.`,
  };
  return { ...findings, requirements: [requirement, ...findings.requirements] };
}

function describeEffect(effect: BlockedEffect): string {
  switch (effect.kind) {
    case 'write':
      return effect.path === undefined ? 'write a file' : `write ${effect.path}`;
    case 'read':
      return effect.path === undefined ? 'read a hidden file' : `read ${effect.path}`;
    case 'connect':
      return effect.host === undefined ? 'reach the network' : `reach ${effect.host}`;
    default:
      return 'do something that the sandbox does not permit';
  }
}
