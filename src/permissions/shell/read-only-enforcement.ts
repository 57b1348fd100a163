import type { CallEnforcement } from '../../contracts/permission.ts';
import { type DecisionContext, describeRule, type Requirement } from '../decision-context.ts';

type CommandLine = {
  readonly requirements: readonly Requirement[];
  /** Every part of the command line was analyzed. */
  readonly isKnown: boolean;
};

/** The requirements of a command line in the place where it runs. */
type LimitedLine = { readonly requirements: readonly Requirement[]; readonly enforce?: CallEnforcement };

/**
 * Returns the limits of a command line that only reads: it runs in the read-only sandbox where there is one. Any other
 * command line runs outside, so what only holds in that sandbox needs approval.
 */
export function getReadOnlyEnforcement(
  { facts, policy }: DecisionContext,
  { requirements, isKnown }: CommandLine,
): LimitedLine {
  const runsOnHost = requirements.some(({ holdsIn }) => holdsIn === 'host');
  const onlyReads = isKnown && requirements.length > 0 && requirements.every(isReading) && facts.blocked === undefined;
  if (onlyReads && !runsOnHost && policy.canEnforceReadOnly?.() === true) {
    const readable = requirements.flatMap(({ allowedSecret }) => allowedSecret ?? []);
    const hidden = [...new Set(requirements.flatMap(({ hides = [] }) => hides))];
    const limits = { kind: 'read-only', readable: [...new Set(readable)] } as const;
    return { requirements, enforce: hidden.length === 0 ? limits : { ...limits, hidden } };
  }
  return {
    requirements: requirements.map((requirement) =>
      requirement.holdsIn === 'host' && policy.canEnforceReadOnly?.() === true
        ? requirement
        : requireSandbox(requirement),
    ),
  };
}

/** True for a requirement that is met without anything but reading. */
function isReading({ kind, allowedBy }: Requirement): boolean {
  return allowedBy?.by === 'default' || (kind === 'read' && allowedBy?.by === 'rule');
}

function requireSandbox(requirement: Requirement): Requirement {
  if (requirement.holdsIn === undefined || requirement.allowedBy?.by !== 'default') return requirement;
  const { allowedBy: _, hides: __, subject, elsewhere: rule, textElsewhere: text, ...rest } = requirement;
  if (rule !== undefined)
    return {
      ...rest,
      subject,
      text: `${subject} is allowed by ${describeRule(rule)}.`,
      allowedBy: { by: 'rule', rule },
    };
  return {
    ...rest,
    subject,
    text: text ?? `${subject} only reads inside the read-only sandbox, and cannot run there now.`,
  };
}
