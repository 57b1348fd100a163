import type { Rule, TraceStep } from '../../contracts/permission.ts';
import { type DecisionContext, describeRule, resolveCallPath } from '../decision-context.ts';
import { listPathBlockers } from '../path-requirements.ts';
import { createScannedPath, scanFolder, splitRelativePath } from '../paths/folder-scan.ts';
import { DEPENDENCY_FOLDERS } from '../paths/hard-links.ts';
import { listProcessSecretFiles, PROCESS_SECRET_REASON } from '../paths/protected-paths.ts';
import { isPathInside, type ResolvedPath } from '../resolve-path.ts';
import { canRuleMatchInside, matchesPathRule } from '../rules/path-rules.ts';
import { FAMILY_RULE_NAMES, getRuleFamily } from '../rules/rule-families.ts';
import { createDenyMatcher, mentionsAssignments } from './command-rules.ts';
import type { ReachableCommand, ShellEffects } from './effects/collect-shell-effects.ts';
import type { AccessedPath, SearchedPath, ShellPaths } from './effects/collect-shell-paths.ts';
import { findProgramFacts } from './programs/find-program-facts.ts';
import { findRepositoryTop, listTrackedFiles } from './programs/git-repository.ts';
import type { GitShownContents } from './programs/git-shown-contents.ts';

/** Lists everything that blocks a command line, judged by all effects it may have. */
export function listShellBlockers(
  context: DecisionContext,
  command: string,
  possible: ShellEffects,
  paths: ShellPaths,
): readonly TraceStep[] {
  return [
    ...listRuleBlockers(context, command, possible),
    ...listFileBlockers(context, paths.reads, 'read'),
    ...listFileBlockers(context, paths.writes, 'write'),
    ...listSearchBlockers(context, paths.searches),
    ...listGitContentBlockers(context, possible.commands, paths.cwds),
    ...listDeleteBlockers(context, paths.deletes),
    ...listOverflowBlockers(context, paths, command),
  ];
}

/** Exceeding a limit may only make the decision stricter. */
function listOverflowBlockers(
  context: DecisionContext,
  { isTruncated }: ShellPaths,
  command: string,
): readonly TraceStep[] {
  const rule = context.policy.rules.find(
    ({ behavior, tool, specifier }) =>
      behavior !== 'allow' && getRuleFamily(tool) !== 'command' && specifier !== undefined,
  );
  if (!isTruncated || rule === undefined) return [];
  const text = `The command line names too many files to compare with ${describeRule(rule)}.`;
  return [{ stage: 'ask', verdict: 'ask', subject: command, rule, text }];
}

function listRuleBlockers(context: DecisionContext, command: string, possible: ShellEffects): readonly TraceStep[] {
  const steps: TraceStep[] = [];
  for (const rule of context.policy.rules) {
    if (
      rule.behavior === 'allow' ||
      rule.problem !== undefined ||
      getRuleFamily(rule.tool) !== 'command' ||
      rule.specifier === undefined
    )
      continue;
    const match = mentionsAssignments(rule, command)
      ? possible.commands.find(createDenyMatcher(rule, context.policy))
      : undefined;
    if (match === undefined && rule.specifier !== command.trim()) continue;
    const subject = match?.argv.join(' ') ?? command;
    const origin = match === undefined || match.via === '' ? '' : ` (run by ${match.via})`;
    const effect = rule.behavior === 'deny' ? 'is denied by' : 'needs approval because of';
    steps.push({
      stage: rule.behavior,
      verdict: rule.behavior,
      subject,
      rule,
      text: `${subject}${origin} ${effect} ${describeRule(rule)}.`,
    });
  }
  return steps;
}

function listFileBlockers(
  context: DecisionContext,
  files: readonly AccessedPath[],
  use: 'read' | 'write',
): readonly TraceStep[] {
  return files.flatMap((file) => {
    const replaces = use === 'write' && replacesFile(file.command);
    const steps = listPathBlockers(context, { tool: context.facts.tool, use, path: file.path, replaces });
    // A rule for all reads or all writes concerns only certain reads or writes.
    return file.certainty === 'certain'
      ? steps
      : steps.filter((step) => step.rule?.specifier !== undefined || step.stage === 'breaker');
  });
}

/** True for `> x`, `tee x` and `cp y x`, which replace a file; false for removals and changes of attributes. */
function replacesFile(command: string): boolean {
  const { writes, opensNoFiles, copiesFiles, deletes } = findProgramFacts(command.split(' ')[0] ?? '');
  const writesOperands = writes === 'operands' && opensNoFiles !== true && deletes !== true;
  return command.startsWith('> ') || copiesFiles === true || writesOperands;
}

/** Lists the restricted files that a recursive command would read or change. */
function listSearchBlockers(context: DecisionContext, searches: readonly SearchedPath[]): readonly TraceStep[] {
  const mayContainHardLinks = (folder: string) =>
    typeof scanFolder(context.fs, folder, ({ inode }) => inode !== undefined, DEPENDENCY_FOLDERS) === 'object';
  return searches.flatMap(({ path, command, use, filter }) => {
    if (path.kind !== 'directory') return [];
    const tool = FAMILY_RULE_NAMES[use === 'read' ? 'read' : 'edit'];
    const rules = context.policy.rules.filter(
      (rule) =>
        rule.behavior !== 'allow' && rule.problem === undefined && rule.tool === tool && rule.specifier !== undefined,
    );
    const isOpened = (file: string) => filter(splitRelativePath(path.real, file), () => true);
    const secret = use === 'read' ? listProcessSecretFiles(path.real).find(isOpened) : undefined;
    const secretSteps: readonly TraceStep[] =
      secret === undefined
        ? []
        : [
            {
              stage: 'breaker',
              verdict: 'ask',
              subject: command,
              text: `${command} would read ${secret}, which always needs approval: ${PROCESS_SECRET_REASON}.`,
            },
          ];
    // A hard link to the file may be in another folder.
    const nearRules = rules.filter(
      (rule) => canRuleMatchInside(rule, path.real, context.policy) || mayContainHardLinks(path.real),
    );
    const ruleSteps = nearRules.flatMap((rule): readonly TraceStep[] => {
      const matchesRule = context.lookups.getRuleTest(rule, use, context.facts.tool);
      const isRestricted = (file: ResolvedPath) =>
        matchesRule(file) || context.lookups.findHardLinks(file).paths.some(matchesRule);
      const match = scanFolder(
        context.fs,
        path.real,
        (entry) =>
          entry.kind !== 'directory' &&
          isOpened(entry.path) &&
          isRestricted(createScannedPath(entry.path, 'file', entry.inode)),
      );
      if (match === undefined) return [];
      const subject = command;
      if (match === 'too many') {
        return [
          {
            stage: 'ask',
            verdict: 'ask',
            subject,
            rule,
            text: `${path.real} is too large to check for files that match ${describeRule(rule)}.`,
          },
        ];
      }
      return [
        {
          stage: rule.behavior,
          verdict: rule.behavior,
          subject,
          rule,
          text: `${command} would ${use === 'read' ? 'read' : 'change'} ${match.path}, which matches ${describeRule(rule)}. Name a narrower folder.`,
        },
      ];
    });
    return [...secretSteps, ...ruleSteps];
  });
}

function listDeleteBlockers(context: DecisionContext, deletes: readonly AccessedPath[]): readonly TraceStep[] {
  return deletes.flatMap(({ path, command }) => {
    const folder = path.original.replace(/(^|\/)(?:\*|\.\*|\{.*|\.\[.*)$/s, '$1.');
    const target = folder === path.original ? path.real : path.real.replace(/\/[^/]*$/, '') || '/';
    const protectedFolder = [context.policy.home, ...context.roots].find((root) => isPathInside(root, target));
    if (protectedFolder === undefined && target !== '/') return [];
    return [
      {
        stage: 'breaker',
        verdict: 'ask',
        subject: command,
        text: `Deleting ${target} recursively always needs approval.`,
      } as const,
    ];
  });
}

/** Lists git commands that may show contents, also past ones, of files that rules deny or ask about. */
function listGitContentBlockers(
  context: DecisionContext,
  commands: readonly ReachableCommand[],
  cwds: readonly string[],
): readonly TraceStep[] {
  const rules = context.policy.rules.filter(
    ({ behavior, problem, specifier, tool }) =>
      behavior !== 'allow' && problem === undefined && specifier !== undefined && getRuleFamily(tool) === 'read',
  );
  if (rules.length === 0) return [];
  // The output may be names that another command then opens.
  const feedsNames = commands.some(({ via }) => findProgramFacts(via).inputBecomes !== undefined);
  return commands.flatMap(({ argv }) => {
    const { shownContents, subcommands } = findProgramFacts(argv[0] ?? '');
    if (shownContents === undefined) return [];
    const folder = argv[argv.indexOf(subcommands?.folderOption ?? '-C') + 1];
    const hasFolder = subcommands !== undefined && argv.includes(subcommands.folderOption) && folder !== undefined;
    const folders = hasFolder ? cwds.map((cwd) => resolveCallPath(context, cwd, folder).real) : cwds;
    return folders.flatMap((cwd) => {
      const trackedContents: GitShownContents | undefined = feedsNames ? { source: 'tracked', paths: [] } : undefined;
      const shown =
        shownContents(argv, (arg) => resolveCallPath(context, cwd, arg).kind !== 'missing') ?? trackedContents;
      const rule =
        shown === undefined ? undefined : rules.find((candidate) => mayShowRestricted(context, candidate, shown, cwd));
      if (rule === undefined) return [];
      const subject = argv.join(' ');
      const text = `${subject} could show files that match ${describeRule(rule)}. Name the files to show after --.`;
      return [{ stage: 'ask', verdict: 'ask', subject, rule, text } as const];
    });
  });
}

function mayShowRestricted(
  context: DecisionContext,
  rule: Rule,
  { source, paths }: GitShownContents,
  cwd: string,
): boolean {
  const { policy, fs, facts } = context;
  if (paths.length > 0) {
    // A file is compared with the rules by its name; any other path may contain more.
    const resolved = paths.map((path) => resolveCallPath(context, cwd, path));
    return resolved.some(({ kind, real }) => kind !== 'file' && canRuleMatchInside(rule, real, policy));
  }
  const top = findRepositoryTop(fs, cwd);
  if (top === undefined) return false;
  const index = source === 'tracked' ? listTrackedFiles(fs, top) : undefined;
  if (index === undefined) return canRuleMatchInside(rule, top, policy);
  return index.some((name) => {
    const path = resolveCallPath(context, top, name);
    return matchesPathRule(rule, { tool: facts.tool, use: 'read', path }, policy);
  });
}
