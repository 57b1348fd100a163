import type { CallEnforcement } from '../../contracts/sandbox.ts';
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
 * command line runs outside, so what only holds in that sandbox needs approval there, unless it reads by its options
 * alone, or a rule allows another command of the same program, which loads the same configuration.
 */
export function getReadOnlyEnforcement(
  { facts, policy }: DecisionContext,
  { requirements, isKnown }: CommandLine,
): LimitedLine {
  const runsOnHost = requirements.some(({ holdsIn }) => holdsIn === 'host');
  const onlyReads = isKnown && requirements.length > 0 && requirements.every(isReading) && facts.blocked === undefined;
  const hasSandbox = policy.canEnforceReadOnly?.() === true;
  if (onlyReads && !runsOnHost && hasSandbox) {
    const readable = requirements.flatMap(({ allowedSecret }) => allowedSecret ?? []);
    const hidden = [...new Set(requirements.flatMap(({ hides = [] }) => hides))];
    const limits = { kind: 'read-only', readable: [...new Set(readable)] } as const;
    return { requirements, enforce: hidden.length === 0 ? limits : { ...limits, hidden } };
  }
  const ruledPrograms = new Set(requirements.flatMap(getRuledProgram));
  return {
    requirements: requirements.map((requirement) => {
      const { holdsIn, program = '' } = requirement;
      const reads = holdsIn === 'company' || ruledPrograms.has(program);
      const holds = hasSandbox && (holdsIn === 'host' || (reads && facts.blocked === undefined));
      return holds
        ? requirement
        : requireSandbox(requirement, hasSandbox && facts.blocked === undefined ? 'beside others' : 'nowhere');
    }),
  };
}

/** True for a requirement that is met without anything but reading. */
function isReading({ kind, allowedBy }: Requirement): boolean {
  return allowedBy?.by === 'default' || (kind === 'read' && allowedBy?.by === 'rule');
}

/** Returns the program of a command that a rule allows, in a list. */
function getRuledProgram({ kind, allowedBy, program }: Requirement): readonly string[] {
  return kind === 'command' && allowedBy?.by === 'rule' && program !== undefined ? [program] : [];
}

const WHY_OUTSIDE = {
  'beside others': 'and other parts of the line run outside. Alone it runs there without approval.',
  nowhere: 'and cannot run there now.',
} as const;

/** Requires approval for what only reads in the sandbox: `beside others`, it could run there alone. */
function requireSandbox(requirement: Requirement, runs: 'beside others' | 'nowhere'): Requirement {
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
    text: text ?? `${subject} only reads inside the read-only sandbox, ${WHY_OUTSIDE[runs]}`,
  };
}
