import type { BlockedEffect } from '../../contracts/permission.ts';
import type { AnalysisFindings, DecisionContext, Requirement } from '../decision-context.ts';

/**
 * Adds the requirement to run without limits, for a command that failed in the read-only sandbox. Rules that allow all
 * of its commands also allow this.
 */
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
