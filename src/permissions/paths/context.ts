import type { Policy, Rule, ToolFacts } from '../../contracts/permission.ts';
import type { PermissionFs } from './fs.ts';
import { type PathUse, pathRuleMatches } from './path-rule.ts';
import { isInside, type ResolvedPath, resolvePath } from './paths.ts';

/** What every step of one decision looks at. */
export type DecisionContext = {
  readonly facts: ToolFacts;
  readonly policy: Policy;
  readonly fs: PermissionFs;
  /** The workspace folders where they really are. */
  readonly roots: readonly string[];
  /** What the line itself fills from files of secrets: it may not be there yet. */
  readonly copies?: readonly string[];
  /** Patterns of the line may match what is hidden, or is written in other letters. */
  readonly patterns?: 'wide';
};

export function contextOf(facts: ToolFacts, policy: Policy, fs: PermissionFs): DecisionContext {
  const base = { cwd: policy.cwd, home: policy.home };
  const roots = policy.workspaceRoots
    .map((root) => resolvePath(fs, base, root))
    .filter((root) => root.problem === undefined);
  return {
    facts,
    policy: { ...policy, workspaceRoots: withReal(policy.workspaceRoots, roots) },
    fs,
    roots: roots.map((root) => root.real),
  };
}

export function resolveIn(context: DecisionContext, cwd: string, spelling: string): ResolvedPath {
  return resolvePath(context.fs, { cwd, home: context.policy.home }, spelling);
}

export function isInWorkspace(path: ResolvedPath, context: DecisionContext): boolean {
  return path.problem === undefined && context.roots.some((root) => isInside(path.real, root));
}

/** The first rule of a behaviour that fits, malformed ones aside. */
export function findRule(
  context: DecisionContext,
  behavior: Rule['behavior'],
  fits: (rule: Rule) => boolean,
): Rule | undefined {
  return context.policy.rules.find((rule) => rule.behavior === behavior && rule.problem === undefined && fits(rule));
}

export function findPathRule(context: DecisionContext, behavior: Rule['behavior'], use: PathUse): Rule | undefined {
  return findRule(context, behavior, (rule) => pathRuleMatches(rule, use, context.policy));
}

function withReal(roots: readonly string[], real: readonly ResolvedPath[]): readonly string[] {
  return [...new Set([...roots, ...real.map((root) => root.real)])];
}
