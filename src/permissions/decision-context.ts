import type {
  CommandHardening,
  Policy,
  Rule,
  RuleSuggestion,
  StepReason,
  ToolFacts,
  TraceStep,
} from '../contracts/permission.ts';
import type { CallEnforcement } from '../contracts/sandbox.ts';
import type { HardLinkSearchResult } from './paths/hard-links.ts';
import type { PermissionFs } from './permission-fs.ts';
import { isPathInside, type ResolvedPath } from './resolve-path.ts';
import type { PathUse } from './rules/path-rules.ts';

/** The input of every analysis step of one decision. */
export type DecisionContext = {
  readonly facts: ToolFacts;
  readonly policy: Policy;
  readonly fs: PermissionFs;
  /** Real paths of the workspace folders. */
  readonly roots: readonly string[];
  /** Files that the line itself fills from secret files; they may not exist yet. */
  readonly taintedFiles?: readonly string[];
  /** `wide`: glob patterns of the line may match hidden files and ignore case. */
  readonly globMatching?: 'wide';
  /** Lookups that are memoized for this decision. */
  readonly lookups: Lookups;
};

type Lookups = {
  readonly findHardLinks: (path: ResolvedPath) => HardLinkSearchResult;
  readonly resolvePath: (cwd: string, spelling: string) => ResolvedPath;
  readonly getRuleTest: (rule: Rule, use: PathUse['use'], tool: string) => (path: ResolvedPath) => boolean;
};

/** Resolves a path as written in the call, from a working directory. */
export function resolveCallPath(context: DecisionContext, cwd: string, spelling: string): ResolvedPath {
  return context.lookups.resolvePath(cwd, spelling);
}

/** Returns whether the real path is inside a workspace folder. */
export function isInWorkspace(path: ResolvedPath, context: DecisionContext): boolean {
  return path.problem === undefined && context.roots.some((root) => isPathInside(path.real, root));
}

/** Finds the first valid rule of a behavior that matches. */
export function findRule(
  context: DecisionContext,
  behavior: Rule['behavior'],
  matches: (rule: Rule) => boolean,
): Rule | undefined {
  return context.policy.rules.find((rule) => rule.behavior === behavior && rule.problem === undefined && matches(rule));
}

/** Finds the first rule of a behavior that matches a path; deny and ask rules also match its hard links. */
export function findPathRule(context: DecisionContext, behavior: Rule['behavior'], use: PathUse): Rule | undefined {
  const findMatching = (path: ResolvedPath) =>
    findRule(context, behavior, (rule) => context.lookups.getRuleTest(rule, use.use, use.tool)(path));
  // A rule against a file holds for all hard links of it.
  const links =
    behavior === 'allow' || use.path.inode === undefined ? [] : context.lookups.findHardLinks(use.path).paths;
  return [use.path, ...links].map(findMatching).find((rule) => rule !== undefined);
}

/** Something a call does that must be allowed; if nothing allows it, the call needs approval. */
export type Requirement = {
  readonly kind: 'read' | 'edit' | 'command' | 'fetch' | 'other';
  readonly subject: string;
  readonly text: string;
  readonly reason?: StepReason;
  readonly allowedBy?: { readonly by: 'rule'; readonly rule: Rule } | { readonly by: 'default' };
  /** Real path of the edited file; set for edits. */
  readonly path?: string;
  /**
   * It only holds in the read-only sandbox, or on a machine that has one; otherwise it needs approval. `company`: in the
   * sandbox, or on such a machine beside a command that runs on the host.
   */
  readonly holdsIn?: 'sandbox' | 'company' | 'host';
  /** The command of the line that it belongs to, if that is known. */
  readonly part?: string;
  /** The program of a command that only reads, or that a rule allows. */
  readonly program?: string;
  /** Real paths of files that must be hidden. */
  readonly hides?: readonly string[];
  /** Text for a command line that runs elsewhere. */
  readonly textElsewhere?: string;
  /** The rule that allows it anywhere else. */
  readonly elsewhere?: Rule;
  /** Real path of the secret file that is read. */
  readonly secret?: string;
  /** Real path of the secret file that a rule for exactly this file allows to be read. */
  readonly allowedSecret?: string;
  /** Set for an edit inside the workspace, which acceptEdits mode allows. */
  readonly editScope?: 'workspace';
  /** Set for an edit that moves files, which may be links. */
  readonly movesFiles?: boolean;
  readonly suggestion?: RuleSuggestion;
  /** Unless `by mode` (the default), no mode allows it unasked: a rule might forbid it, or it leaves the sandbox. */
  readonly asks?: 'in every mode' | 'to leave the sandbox' | 'by mode';
};

/** The result of analysing a call, before the mode is applied. */
export type AnalysisFindings = {
  /** Denials, breakers and ask rules, in the order they were found. */
  readonly blockers: readonly TraceStep[];
  readonly requirements: readonly Requirement[];
  /** Sentences about parts of the call that could not be analysed. */
  readonly unanalysed: readonly string[];
  readonly hardens: readonly CommandHardening[];
  /** Files that the call may fill from secret files. */
  readonly taintedFiles?: readonly string[];
  /** Limits in which the call has to run if it is allowed. */
  readonly enforce?: CallEnforcement;
  /** Secret files that the call reads, besides those of its requirements. */
  readonly secrets?: readonly string[];
  /** Real paths that the sandbox makes writable for the call. */
  readonly opens?: readonly string[];
};

/** Formats the origin of a rule: its file and line, or its source. */
export function formatRuleSource(rule: Rule): string {
  if (rule.file === undefined) return rule.source;
  return rule.line === undefined ? rule.file : `${rule.file}:${rule.line}`;
}

/** Formats a rule with its origin, for reasons and problems. */
export function describeRule(rule: Rule): string {
  return `${rule.text} (${formatRuleSource(rule)})`;
}
