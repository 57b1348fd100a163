import type { Policy, Rule, ToolFacts } from '../../contracts/permission.ts';
import type { PermissionFs } from './fs.ts';
import { type OtherNames, otherNames } from './other-names.ts';
import { type PathUse, pathRuleTest } from './path-rule.ts';
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
  /** What was worked out once for this decision. */
  readonly known: Known;
};

type Known = {
  readonly otherNames: (path: ResolvedPath) => OtherNames;
  readonly place: (cwd: string, spelling: string) => ResolvedPath;
  readonly ruleTest: (rule: Rule, use: PathUse['use'], tool: string) => (path: ResolvedPath) => boolean;
};

export function contextOf(facts: ToolFacts, policy: Policy, fs: PermissionFs): DecisionContext {
  const base = { cwd: policy.cwd, home: policy.home };
  const roots = policy.workspaceRoots
    .map((root) => resolvePath(fs, base, root))
    .filter((root) => root.problem === undefined);
  const spread = { ...policy, workspaceRoots: withReal(policy.workspaceRoots, roots) };
  return {
    facts,
    policy: spread,
    fs,
    roots: roots.map((root) => root.real),
    known: {
      otherNames: otherNames(
        spread,
        roots.map((root) => root.real),
        fs,
      ),
      place: perKeys((cwd: string, spelling: string) => resolvePath(fs, { cwd, home: policy.home }, spelling)),
      ruleTest: perKeys((rule: Rule, use: PathUse['use'], tool: string) => pathRuleTest(rule, { tool, use }, spread)),
    },
  };
}

/** The same answer for the same two things, and what else is always the same with them. */
function perKeys<First, Second, More extends readonly unknown[], Answer>(
  work: (first: First, second: Second, ...more: More) => Answer,
): (first: First, second: Second, ...more: More) => Answer {
  const known = new Map<First, Map<Second, { readonly answer: Answer }>>();
  return (first, second, ...more) => {
    const answers = known.get(first) ?? new Map<Second, { readonly answer: Answer }>();
    known.set(first, answers);
    const before = answers.get(second);
    if (before !== undefined) return before.answer;
    const answer = work(first, second, ...more);
    answers.set(second, { answer });
    return answer;
  };
}

export function resolveIn(context: DecisionContext, cwd: string, spelling: string): ResolvedPath {
  return context.known.place(cwd, spelling);
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
  const fits = (path: ResolvedPath) =>
    findRule(context, behavior, (rule) => context.known.ruleTest(rule, use.use, use.tool)(path));
  // A rule that speaks against a file speaks of it under all its names.
  const others = behavior === 'allow' || use.path.inode === undefined ? [] : context.known.otherNames(use.path).names;
  return [use.path, ...others].map(fits).find((rule) => rule !== undefined);
}

function withReal(roots: readonly string[], real: readonly ResolvedPath[]): readonly string[] {
  return [...new Set([...roots, ...real.map((root) => root.real)])];
}
