import type { CommandHardening } from '../../contracts/permission.ts';
import {
  type DecisionContext,
  describeRule,
  isInWorkspace,
  type Requirement,
  resolveCallPath,
} from '../decision-context.ts';
import { createPathRequirement, listPathBlockers } from '../path-requirements.ts';
import { expandGlob } from '../paths/folder-scan.ts';
import { getSecretPathReason } from '../paths/secret-paths.ts';
import { findCommandRule, findSecretNotCoveredByRule } from './command-rules.ts';
import { skipSafeWrappers } from './effects/nested-commands.ts';
import { analyzeReadOnly } from './exact/analyze-read-only.ts';
import { getArgPath, type ResolvedCommand } from './exact/shell-state.ts';
import { listFileEditRequirements, type NamesOnDisk } from './file-edit-requirements.ts';
import type { ShellArgument } from './parse/shell-words.ts';
import { getExactProgramFacts, isReaderByOptions } from './programs/find-program-facts.ts';
import { describeGitReference, listGitReferences } from './programs/git-references.ts';
import { checkGitRepositorySafety, findCommandConfigKey, findUnlistedConfigKey } from './programs/git-repository.ts';
import { type ReadOnlyAnalysis, refuse } from './programs/program-facts.ts';
import { findLinkedInputProblem, findNearbyFileProblem } from './project-influences.ts';
import {
  canExcludeNames,
  createSecretCopyRequirement,
  isExcludedFromSearch,
  listSearchRequirements,
  mayReachTaintedFile,
  SEARCH_INPUTS,
} from './search-requirements.ts';
import { listShownGitSecrets } from './shown-git-secrets.ts';
import { suggestCommandRule } from './suggest-rule.ts';

/** The requirements of a command, and the hardening under which they hold. */
export type CommandRequirements = {
  readonly requirements: readonly Requirement[];
  readonly hardens: readonly CommandHardening[];
};

/** Returns the requirements of one simple command: its own, and one for each file that its redirections open. */
export function collectRequirements(
  context: DecisionContext,
  command: ResolvedCommand,
  names: NamesOnDisk,
): CommandRequirements {
  const redirects = listRedirectRequirements(context, command);
  if (command.argv.length === 0) return { requirements: redirects, hardens: [] };
  const ownRequirements = listOwnRequirements(context, command, names);
  return { requirements: [...ownRequirements.requirements, ...redirects], hardens: ownRequirements.hardens };
}

/** Returns the requirements of redirections, which are reads and writes of their own whatever allows the command. */
export function listRedirectRequirements(context: DecisionContext, command: ResolvedCommand): readonly Requirement[] {
  return command.redirects.flatMap(({ use, target }) =>
    command.cwds.flatMap((cwd) => {
      const path = resolveCallPath(context, cwd, getArgPath(target));
      const uses = use === 'both' ? (['read', 'write'] as const) : [use];
      return uses.map((singleUse) =>
        createPathRequirement(context, { tool: context.facts.tool, use: singleUse, path }),
      );
    }),
  );
}

function listOwnRequirements(
  context: DecisionContext,
  command: ResolvedCommand,
  names: NamesOnDisk,
): CommandRequirements {
  const start = skipSafeWrappers(getTexts(command.argv)) ?? 0;
  const argv = command.argv.slice(start);
  const subject = command.text;
  const program = argv[0]?.text ?? '';
  const rule = findCommandRule(context, command);
  const target = resolveGitFolder(context, command, argv);
  const [steering] = command.assignments.flatMap(({ problem }) => problem ?? []);
  const analysis = steering === undefined ? analyzeCommand(target.argv) : refuse(steering);
  const shownSecrets = listShownGitSecrets(context, getTexts(target.argv), target.command.cwds);
  if (analysis.ok) {
    const excludedNames = new Set<string>();
    const exclude = (name: string) =>
      canExcludeNames(command) && isExcludedFromSearch(name) && excludedNames.add(name).has(name);
    const reads = [...listReadRequirements(context, target.command, analysis, exclude), ...shownSecrets];
    const unmet = reads.filter((need) => need.allowedBy === undefined);
    const { readsOnlyIn = 'sandbox' } = analysis;
    const holdsIn = readsOnlyIn === 'sandbox' && isReaderByOptions(getTexts(target.argv)) ? 'company' : readsOnlyIn;
    const programProblem =
      (analysis.git === undefined ? undefined : findGitProblem(context, target.command)) ??
      findNearbyFileProblem(context, target.command.cwds, analysis.unlessFiles ?? []) ??
      findLinkedInputProblem(context, target.command, readsOnlyIn === 'anywhere' ? SEARCH_INPUTS : undefined);
    const readOnlyRequirement: Requirement = {
      kind: 'read',
      subject,
      text: `${subject} is read-only.`,
      allowedBy: { by: 'default' },
      program,
      ...(holdsIn === 'anywhere' ? {} : { holdsIn, ...createSuggestion(argv) }),
      ...(rule === undefined ? {} : { elsewhere: rule }),
    };
    // After a failure in the sandbox, a rule for the command counts.
    const isRuled = rule !== undefined && context.facts.blocked !== undefined;
    if (unmet.length === 0 && programProblem === undefined && !isRuled)
      return {
        requirements: [readOnlyRequirement, ...reads],
        hardens: [
          ...(analysis.git === undefined ? [] : ['helpers' as const]),
          ...(excludedNames.size > 0 ? ['search' as const] : []),
        ],
      };
    if (rule === undefined) {
      const problems: readonly Requirement[] =
        programProblem === undefined
          ? []
          : [{ kind: 'command', subject, text: programProblem, ...createSuggestion(argv) }];
      return { requirements: [...problems, ...unmet], hardens: [] };
    }
  }
  const secretProblem = rule === undefined ? undefined : findSecretNotCoveredByRule(context, command, rule);
  if (secretProblem !== undefined)
    return { requirements: [{ kind: 'command', subject, text: secretProblem }], hardens: [] };
  if (rule !== undefined) {
    return {
      requirements: [
        {
          kind: 'command',
          subject,
          text: `${subject} is allowed by ${describeRule(rule)}.`,
          allowedBy: { by: 'rule', rule },
          program,
        },
      ],
      hardens: [],
    };
  }
  const files = listFileEditRequirements(context, command, argv, names);
  if (files !== undefined) {
    // A rule for the folder would also allow other files in it; a rule for the command is narrower.
    const suggestion = { suggestion: undefined, ...createSuggestion(argv) };
    return { requirements: files.map((need) => ({ ...need, ...suggestion })), hardens: [] };
  }
  const isUncertain =
    names === 'may change' && listFileEditRequirements(context, command, argv, 'as now') !== undefined;
  const refusal = analysis.ok ? `${subject} needs approval.` : analysis.problem;
  const text = isUncertain ? `${subject} may change other files than those that match now.` : refusal;
  const reason = analysis.ok || analysis.code === undefined ? {} : { reason: { code: analysis.code } };
  const ownRequirement: Requirement = { kind: 'command', subject, text, ...reason, ...createSuggestion(argv) };
  return { requirements: [ownRequirement, ...shownSecrets], hardens: [] };
}

const getTexts = (argv: readonly ShellArgument[]) => argv.map(({ text }) => text);

/** Treats `git -C folder status` as `git status` in that folder. */
function resolveGitFolder(
  context: DecisionContext,
  command: ResolvedCommand,
  argv: readonly ShellArgument[],
): { readonly command: ResolvedCommand; readonly argv: readonly ShellArgument[] } {
  const [git, option, folder, ...rest] = argv;
  const { subcommands } = getExactProgramFacts(git?.text ?? '');
  if (git === undefined || option?.text !== subcommands?.folderOption || folder?.kind !== 'literal')
    return { command, argv };
  const folders = command.cwds.map((cwd) => resolveCallPath(context, cwd, getArgPath(folder)));
  if (folders.some((path) => path.kind !== 'directory' || !isInWorkspace(path, context))) return { command, argv };
  return { command: { ...command, cwds: folders.map(({ real }) => real) }, argv: [git, ...rest] };
}

function createSuggestion(argv: readonly ShellArgument[]): Pick<Requirement, 'suggestion'> {
  const suggestion = suggestCommandRule(argv);
  return suggestion === undefined ? {} : { suggestion };
}

const SYSTEM_PROGRAM = /^\/(?:usr\/)?s?bin\/([^/]+)$/;

function analyzeCommand(argv: readonly ShellArgument[]): ReadOnlyAnalysis {
  const [first, ...rest] = argv;
  if (first === undefined || first.kind !== 'literal') return { ok: false, problem: 'The command name is unknown.' };
  const name = SYSTEM_PROGRAM.exec(first.text)?.[1] ?? first.text;
  if (name.includes('/')) return { ok: false, problem: `${name} is run by its path, so it may be any program.` };
  return analyzeReadOnly([{ ...first, text: name }, ...rest]);
}

function listReadRequirements(
  context: DecisionContext,
  command: ResolvedCommand,
  analysis: Extract<ReadOnlyAnalysis, { ok: true }>,
  exclude: (name: string) => boolean,
): readonly Requirement[] {
  const args = new Map([...analysis.reads, ...analysis.searches].map((arg) => [JSON.stringify(arg), arg]));
  const reads = [...args.values()].flatMap((arg) =>
    command.cwds.flatMap((cwd) => [
      ...listArgRequirements(context, cwd, arg),
      ...listOptionRequirements(context, cwd, arg),
    ]),
  );
  const searches = analysis.searches.flatMap((arg) =>
    command.cwds.flatMap((cwd) =>
      listSearchRequirements(context, resolveCallPath(context, cwd, getArgPath(arg)).real, analysis, exclude),
    ),
  );
  const tests = (analysis.tests ?? []).flatMap((arg) =>
    command.cwds.flatMap((cwd) => listTestRequirements(context, cwd, arg)),
  );
  return [...reads, ...searches, ...tests];
}

/** Requires approval to ask for credentials outside of the workspace; what is in it, any listing shows. */
function listTestRequirements(context: DecisionContext, cwd: string, arg: ShellArgument): readonly Requirement[] {
  const path = resolveCallPath(context, cwd, getArgPath(arg));
  if (isInWorkspace(path, context) || getSecretPathReason(path, context.policy) === undefined) return [];
  return [createPathRequirement(context, { tool: context.facts.tool, use: 'read', path })];
}

function listArgRequirements(context: DecisionContext, cwd: string, arg: ShellArgument): readonly Requirement[] {
  const paths =
    arg.kind === 'glob'
      ? expandGlob(context.fs, cwd, arg.home === 'home' ? arg.text.replace('~', context.policy.home) : arg.text)
      : [getArgPath(arg)];
  if (paths === 'too many')
    return [{ kind: 'read', subject: arg.text, text: `${arg.text} matches too many files to check.` }];
  if (arg.kind === 'glob' && mayReachTaintedFile(context, cwd)) return [createSecretCopyRequirement(arg.text)];
  return paths.map((path) =>
    createPathRequirement(context, {
      tool: context.facts.tool,
      use: 'read',
      path: resolveCallPath(context, cwd, path),
    }),
  );
}

/** `du *` in a folder that contains a file called `--files0-from=.env`, or `@list`. */
function listOptionRequirements(context: DecisionContext, cwd: string, arg: ShellArgument): readonly Requirement[] {
  if (arg.kind !== 'glob' || arg.prefix !== '') return [];
  const paths = expandGlob(context.fs, cwd, arg.text);
  const option = paths === 'too many' ? undefined : paths.find((path) => /^[-@]/.test(path));
  return option === undefined
    ? []
    : [{ kind: 'read', subject: arg.text, text: `${arg.text} matches ${option}, which looks like an option.` }];
}

function findGitProblem(context: DecisionContext, command: ResolvedCommand): string | undefined {
  const findKey = context.policy.trusted ? findCommandConfigKey : findUnlistedConfigKey;
  const [root = context.policy.cwd] = context.roots;
  for (const cwd of command.cwds) {
    const preflight = checkGitRepositorySafety(context.fs, resolveCallPath(context, cwd, '.').real, root, findKey);
    if (!preflight.ok) return preflight.problem;
    const problem = findGitReferenceProblem(context, resolveCallPath(context, cwd, '.').real);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the reason why git would read a file or another repository that the command may not read. */
function findGitReferenceProblem(context: DecisionContext, cwd: string): string | undefined {
  const found = listGitReferences(context.fs, cwd, context.policy.home);
  if (!found.ok) return found.problem;
  const unread = found.references.find((reference) => {
    const use = { tool: context.facts.tool, use: 'read', path: reference.target } as const;
    const { allowedBy } = createPathRequirement(context, use);
    // Links inside a folder that was not searched could lead anywhere.
    const needsRule = reference.target.kind === 'directory' && reference.as !== 'gitdir';
    return (
      allowedBy === undefined || (needsRule && allowedBy.by !== 'rule') || listPathBlockers(context, use).length > 0
    );
  });
  return unread === undefined ? undefined : describeGitReference(unread);
}
