import type { JsonObject } from '../contracts/json.ts';
import type { Policy, Rule, ToolFacts, ToolTraits } from '../contracts/permission.ts';
import { toPosixPath } from '../lib/files/path-style.ts';
import type { DecisionContext } from './decision-context.ts';
import { createHardLinkLookup } from './paths/hard-links.ts';
import { emptyUnlistableFolders, type PermissionFs } from './permission-fs.ts';
import { type ResolvedPath, resolvePath } from './resolve-path.ts';
import { createPathRuleTest, type PathUse } from './rules/path-rules.ts';
import { getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects } from './shell/effects/collect-shell-effects.ts';
import { findProgramFacts } from './shell/programs/find-program-facts.ts';

/** Creates the context of one decision. `onResolve` is told each path that is resolved for it. */
export function createDecisionContext(
  callFacts: ToolFacts,
  nativePolicy: Policy,
  disk: PermissionFs,
  onResolve?: (path: ResolvedPath) => void,
): DecisionContext {
  const facts = callFacts.kind === 'shell' ? { ...callFacts, shell: getShellAnalysis(callFacts) } : callFacts;
  const fs = emptyUnlistableFolders(disk, () => !mayRunAsAnotherUser(facts));
  const policy = toPosixPolicy(nativePolicy, fs);
  const base = { cwd: policy.cwd, home: policy.home };
  const roots = policy.workspaceRoots
    .map((root) => resolvePath(fs, base, root))
    .filter((root) => root.problem === undefined);
  const resolvedPolicy = { ...policy, workspaceRoots: addRealRoots(policy.workspaceRoots, roots) };
  return {
    facts,
    policy: resolvedPolicy,
    fs,
    roots: roots.map((root) => root.real),
    lookups: {
      findHardLinks: createHardLinkLookup(
        resolvedPolicy,
        roots.map((root) => root.real),
        fs,
      ),
      resolvePath: memoizeByPair((cwd: string, spelling: string) => {
        const path = resolvePath(fs, { cwd, home: policy.home }, spelling);
        onResolve?.(path);
        return path;
      }),
      getRuleTest: memoizeByPair((rule: Rule, use: PathUse['use'], tool: string) =>
        createPathRuleTest(rule, { tool, use }, resolvedPolicy),
      ),
    },
  };
}

/** Tells whether a command of the line may list folders that this user cannot list. */
function mayRunAsAnotherUser({ shell }: ToolFacts): boolean {
  if (shell === undefined) return false;
  const { commands, isTruncated } = collectShellEffects(shell.parse(shell.command), shell.parse);
  return isTruncated || commands.some(({ argv: [name = ''] }) => findProgramFacts(name).changesUser === true);
}

/** Returns the policy with all paths in POSIX form, which on other systems than Windows they have. */
export function toPosixPolicy(policy: Policy, fs: PermissionFs): Policy {
  if (fs.realpath === undefined) return policy;
  const convert = (path: string) => toPosixPath(path, 'win32');
  const { notesFolder, taintedPaths = [] } = policy;
  return {
    ...policy,
    rules: policy.rules.map((rule) => (rule.root === undefined ? rule : { ...rule, root: convert(rule.root) })),
    workspaceRoots: policy.workspaceRoots.map(convert),
    cwd: convert(policy.cwd),
    home: convert(policy.home),
    protectedPaths: policy.protectedPaths.map(convert),
    sensitivePaths: policy.sensitivePaths.map(convert),
    searchPath: policy.searchPath.map(convert),
    taintedPaths: taintedPaths.map(convert),
    ...(notesFolder === undefined ? {} : { notesFolder: convert(notesFolder) }),
  };
}

/** Memoizes a function by its first two arguments; the others must always be the same for them. */
function memoizeByPair<First, Second, Rest extends readonly unknown[], Result>(
  compute: (first: First, second: Second, ...rest: Rest) => Result,
): (first: First, second: Second, ...rest: Rest) => Result {
  const cache = new Map<First, Map<Second, { readonly result: Result }>>();
  return (first, second, ...rest) => {
    const results = cache.get(first) ?? new Map<Second, { readonly result: Result }>();
    cache.set(first, results);
    const cached = results.get(second);
    if (cached !== undefined) return cached.result;
    const result = compute(first, second, ...rest);
    results.set(second, { result });
    return result;
  };
}

function addRealRoots(roots: readonly string[], real: readonly ResolvedPath[]): readonly string[] {
  return [...new Set([...roots, ...real.map((root) => root.real)])];
}

/** Returns what a call would touch, as declared by its tool. */
export type GetToolFacts = (tool: string, input: JsonObject, cwd: string) => ToolFacts;

/** The inputs of a decision besides the policy: the disk, and the facts tools declare about their calls. */
export type DecisionSources = { readonly fs: PermissionFs; readonly getToolFacts: GetToolFacts };

/** Creates the lookup of tool facts from tool traits; an unknown tool may touch anything. */
export function createToolFactsLookup(tools: readonly ToolTraits[]): GetToolFacts {
  return (tool, input, cwd) => {
    const traits = findToolTraits(tools, tool);
    const name = traits?.name ?? tool;
    const declared = traits?.facts?.(input, cwd) ?? { kind: tool.startsWith('mcp__') ? 'mcp' : 'other' };
    return { tool: name, input, ...declared };
  };
}

/** Finds the traits of a tool by its name or an alias. */
export function findToolTraits(tools: readonly ToolTraits[], tool: string): ToolTraits | undefined {
  return tools.find(({ name, aliases }) => name === tool || aliases?.includes(tool) === true);
}
