import type { Rule } from '../../contracts/permission.ts';
import { type AnalysisFindings, type DecisionContext, describeRule, type Requirement } from '../decision-context.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { parseCommandPattern } from './command-rules.ts';

/**
 * Adds the requirement to approve a command that could reach paths which rules deny, where no sandbox can keep it from
 * them: any program whose files the analysis does not know, in every mode. A rule for exactly this command was written
 * with it in view, and what only reads or writes named files is compared with the rules.
 */
export function addDenyEnforcementFindings(
  context: DecisionContext,
  command: string,
  findings: AnalysisFindings,
): AnalysisFindings {
  const { policy } = context;
  const rule = policy.rules.find(isPathDenial);
  if (rule === undefined || policy.canEnforceReadOnly === undefined || policy.canEnforceReadOnly()) return findings;
  if (findings.requirements.length > 0 && findings.requirements.every(isKnown)) return findings;
  const text = `${describeRule(rule)} is only analysed here, because no sandbox is available, and this command may reach what it denies.`;
  return {
    ...findings,
    requirements: [...findings.requirements, { kind: 'command', subject: command, text, asks: 'in every mode' }],
  };
}

function isPathDenial({ behavior, tool, specifier, problem }: Rule): boolean {
  const family = getRuleFamily(tool);
  return (
    behavior === 'deny' && problem === undefined && specifier !== undefined && (family === 'read' || family === 'edit')
  );
}

/** True for files that are compared with the rules, and for a command that a rule names word for word. */
function isKnown({ kind, allowedBy }: Requirement): boolean {
  if (kind !== 'command') return true;
  const specifier = allowedBy?.by === 'rule' ? allowedBy.rule.specifier : undefined;
  return specifier !== undefined && parseCommandPattern(specifier).kind === 'exact';
}
