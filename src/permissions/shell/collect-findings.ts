import type { ParsedScript } from 'unbash';
import type { Rule } from '../../contracts/permission.ts';
import { createLazy } from '../../lib/memoize.ts';
import {
  type AnalysisFindings,
  type DecisionContext,
  describeRule,
  findRule,
  type Requirement,
} from '../decision-context.ts';
import { createPathRequirement } from '../path-requirements.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { getShellAnalysis } from './analyze.ts';
import { listShellBlockers } from './blockers.ts';
import { type CommandRequirements, collectRequirements, listRedirectRequirements } from './command-requirements.ts';
import { listAssignmentProblems, parseCommandPattern } from './command-rules.ts';
import { addDenyEnforcementFindings } from './deny-enforcement.ts';
import { collectCommandLineEffects, type ShellEffects } from './effects/collect-shell-effects.ts';
import { collectShellPaths, type ShellPaths } from './effects/collect-shell-paths.ts';
import {
  listComputedFileNameProblems,
  listExpansionProblems,
  listStartedNameProblems,
} from './effects/computed-arg-problems.ts';
import { changesGlobbing } from './effects/glob-expansion.ts';
import { listUnanalyzableParts } from './effects/unanalyzable-parts.ts';
import { analyzeScriptExactly } from './exact/analyze-script-exactly.ts';
import {
  createDiskLookup,
  type ExactAnalysis,
  hasAssignmentProblem,
  type ResolvedCommand,
} from './exact/shell-state.ts';
import type { NamesOnDisk } from './file-edit-requirements.ts';
import { findSizeProblem, isFullyParsed, isOverlong, listCharacterProblems } from './parse/check-source.ts';
import { listPathsUnderEditRules } from './paths-under-edit-rules.ts';
import { listHijackRequirements } from './project-influences.ts';
import { getReadOnlyEnforcement } from './read-only-enforcement.ts';
import { listMentionedRuleTargets } from './rule-mentions.ts';
import { listUsedSecrets, type SecretTaint, trackSecretCopies } from './secret-taint.ts';

const MAX_EXPLAINED = 2_000;

/** Analyzes a command line twice: all possible effects decide what blocks it, the exact analysis what it requires. */
export function collectShellFindings(context: DecisionContext, command: string): AnalysisFindings {
  const tooMuch = findSizeProblem(command);
  if (tooMuch !== undefined) return createUnanalyzedFindings(command, tooMuch);
  const line: DecisionContext = changesGlobbing(command) ? { ...context, globMatching: 'wide' } : context;
  return addDenyEnforcementFindings(line, command, (asked) => collectLineFindings(asked, command));
}

function collectLineFindings(context: DecisionContext, command: string): AnalysisFindings {
  const { parse } = getShellAnalysis(context.facts);
  const script = parse(command);
  // A command that needs approval for its length alone needs no exact analysis.
  const exact: ExactAnalysis = isOverlong(command)
    ? { commands: [], problems: [] }
    : analyzeScriptExactly(command, script, context.policy.cwd, createDiskLookup(context));
  const effects = collectCommandLineEffects(
    command,
    parse,
    exact.commands.filter(({ isExpanded }) => isExpanded),
  );
  const cwds = [...new Set([context.policy.cwd, ...exact.commands.flatMap((exactCommand) => exactCommand.cwds)])];
  const paths = collectShellPaths(context, effects, cwds);
  const textProblems = listCharacterProblems(command);
  const unanalysed = [
    ...textProblems,
    ...exact.problems,
    ...exact.commands.flatMap((exactCommand) => listAssignmentProblems(context, exactCommand)),
    ...(isOverlong(command) || isFullyParsed(command, script) ? [] : ['Part of the command line cannot be parsed.']),
    ...(effects.isTruncated ? ['The command line has too many commands to analyze.'] : []),
    ...(paths.isTruncated ? ['The command line names too many paths to analyze.'] : []),
  ];
  const blockers = listShellBlockers(context, command, effects, paths);
  // A command that needs approval anyway gets no long list of reasons.
  const skipsDetails = paths.isTruncated || (unanalysed.length > 0 && command.length > MAX_EXPLAINED);
  const taint = trackSecretCopies(context, paths);
  const secretFindings = { taintedFiles: taint.files, secrets: taint.sources.map(({ path }) => path) };
  const getRequired = createLazy(() => (skipsDetails ? [] : collectAllRequirements(context, exact.commands, taint)));
  const unknownEffects = hasRestrictingRules(context) ? listUnknownEffects() : [];
  const isFullyKnown = unknownEffects.length === 0 && (unanalysed.length === 0 || !restrictsCommands(context));
  const wholeRule = findRule(
    context,
    'allow',
    (rule) => getRuleFamily(rule.tool) === 'command' && matchesWholeCommand(rule.specifier, command),
  );
  if (wholeRule !== undefined && textProblems.length === 0 && (isFullyKnown || wholeRule.specifier !== undefined)) {
    const writes =
      unanalysed.length === 0
        ? exact.commands.flatMap((exactCommand) => listRedirectRequirements(context, exactCommand))
        : listWrittenFileRequirements(context, paths);
    const requirements = [createAllowedRequirement(wholeRule, command), ...writes];
    return { blockers, requirements, unanalysed, hardens: [], ...secretFindings };
  }
  const commandRequirements = getRequired();
  const createRequirement =
    (asks: NonNullable<Requirement['asks']>) =>
    (text: string): Requirement => ({ kind: 'command', subject: command, text, asks });
  const limits = getReadOnlyEnforcement(context, {
    requirements: commandRequirements.flatMap(({ requirements }) => requirements),
    isKnown: unanalysed.length === 0 && unknownEffects.length === 0,
  });
  const needs: readonly Requirement[] = [
    ...unanalysed.map(createRequirement(restrictsCommands(context) ? 'in every mode' : 'by mode')),
    ...unknownEffects.map(createRequirement('in every mode')),
    ...limits.requirements,
  ];
  const needsNoApproval = needs.every(runsWithoutApproval);
  const readOnlyCommands = exact.commands.filter((_, index) =>
    commandRequirements[index]?.requirements.every(runsWithoutApproval),
  );
  const hijacks = listHijackRequirements(context, readOnlyCommands, needsNoApproval ? 'no-approval' : 'mixed');
  return {
    blockers,
    requirements: [...needs, ...hijacks],
    unanalysed: [...unanalysed, ...unknownEffects],
    hardens: [
      ...new Set(commandRequirements.flatMap(({ hardens }) => hardens)),
      ...(needsNoApproval ? (['path', 'variables'] as const) : []),
    ],
    ...secretFindings,
    ...(limits.enforce === undefined ? {} : { enforce: limits.enforce }),
  };

  /** Lists the unknown effects of a command line that does more than read, if any rule denies or asks. */
  function listUnknownEffects(): readonly string[] {
    const needs = getRequired().flatMap(({ requirements }) => requirements);
    if (unanalysed.length === 0 && needs.every(({ kind }) => kind === 'read')) return [];
    if (isTooLong(effects)) return ['The command line is too long to compare with the rules.'];
    const effectsToCheck: ShellEffects = {
      ...effects,
      computedArgs: unanalysed.length === 0 ? listUnknownArgs(effects, exact) : effects.computedArgs,
    };
    // A rule for exactly this command was written with its text in view.
    const isUncovered = unanalysed.length > 0 || needs.some(({ allowedBy }) => allowedBy === undefined);
    const unknownProblems = [
      ...listUnanalyzableParts(script, effectsToCheck, {
        parse,
        isAnalyzable: (text) => isAnalyzable(text, parse(text), context),
      }),
      ...listComputedFileNameProblems(context, effectsToCheck, paths.cwds),
      ...listExpansionProblems(effects),
      ...(restrictsCommands(context) ? listStartedNameProblems(effectsToCheck, parse) : []),
    ];
    return [
      ...(isUncovered ? unknownProblems : []),
      ...listMentionedRuleTargets(context, effects, paths.cwds),
      ...listPathsUnderEditRules(context, effects, paths.cwds),
    ];
  }
}

function createAllowedRequirement(rule: Rule, command: string): Requirement {
  const text = `${command} is allowed by ${describeRule(rule)}.`;
  return { kind: 'command', subject: command, text, allowedBy: { by: 'rule', rule } };
}

/** Returns the requirements of files written by redirections, for a command line that is not analyzed exactly. */
function listWrittenFileRequirements(context: DecisionContext, { writes }: ShellPaths): readonly Requirement[] {
  return writes
    .filter((file) => file.command.startsWith('> '))
    .map(({ path }) => createPathRequirement(context, { tool: context.facts.tool, use: 'write', path }));
}

/** Returns the requirements of each command, with the copies of secrets that the line creates in view. */
function collectAllRequirements(
  context: DecisionContext,
  commands: readonly ResolvedCommand[],
  taint: SecretTaint,
): readonly CommandRequirements[] {
  const taintedContext = addTaint(context, taint);
  const createCollector = (names: NamesOnDisk) =>
    memoizeByCommand((command) =>
      addPart(
        command.text,
        withoutSecretRules(
          listUsedSecrets(context, command, taint),
          collectRequirements(taintedContext, command, names),
        ),
      ),
    );
  const collected = commands.map(createCollector('may change'));
  const collectAsNow = createCollector('as now');
  for (const [index, command] of commands.entries()) {
    // The patterns of an edit stand for the files that match now, unless the line may bring others before it.
    const needs = collected[index]?.requirements ?? [];
    if (!needs.some(({ kind, allowedBy }) => kind === 'command' && allowedBy === undefined)) continue;
    const others = command.overlaps ? collected.toSpliced(index, 1) : collected.slice(0, index);
    if (others.every(addsNoLinks)) collected[index] = collectAsNow(command);
  }
  return collected;
}

const addPart = (part: string, { requirements, hardens }: CommandRequirements): CommandRequirements => ({
  requirements: requirements.map((requirement) => ({ ...requirement, part })),
  hardens,
});

/** True for commands that read, or that write plain files, each of them checked; not for what may create links. */
function addsNoLinks({ requirements }: CommandRequirements): boolean {
  return requirements.every(
    ({ kind, allowedBy, editScope, movesFiles }) =>
      movesFiles !== true &&
      (kind === 'read'
        ? allowedBy !== undefined
        : kind === 'edit' && (allowedBy !== undefined || editScope !== undefined)),
  );
}

/** Suggests no rule for a command that uses a secret file: an answer to it is not stored. */
function withoutSecretRules(secrets: readonly string[], commandRequirements: CommandRequirements): CommandRequirements {
  if (secrets.length === 0) return commandRequirements;
  const { requirements } = commandRequirements;
  const [secret = ''] = secrets;
  return {
    ...commandRequirements,
    requirements: requirements.map(({ suggestion: _, ...requirement }) => ({ secret, ...requirement })),
  };
}

/** Returns a context in which the copies of secrets that the command line creates count as secrets too. */
function addTaint(context: DecisionContext, { files, otherFiles }: SecretTaint): DecisionContext {
  const { policy } = context;
  const taintedFiles = otherFiles === 'possible' ? ['/'] : files;
  if (taintedFiles.length === 0) return context;
  return {
    ...context,
    taintedFiles,
    policy: { ...policy, taintedPaths: [...(policy.taintedPaths ?? []), ...taintedFiles] },
  };
}

const MAX_COMPARED = { words: 1_000, characters: 20_000 };

/** True if there are more commands and texts than are compared with the rules. */
function isTooLong({ commands, otherTexts }: ShellEffects): boolean {
  const wordCount = commands.reduce((sum, { argv }) => sum + argv.length, 0);
  const characterCount = otherTexts.reduce((sum, text) => sum + text.length, 0);
  return wordCount > MAX_COMPARED.words || characterCount > MAX_COMPARED.characters;
}

/** Returns the unknown arguments; of analyzed commands, substitutions and lines that a loop reads. */
function listUnknownArgs({ computedArgs }: ShellEffects, { commands }: ExactAnalysis): ShellEffects['computedArgs'] {
  const readsLines = commands.some(({ argv }) => argv.some(({ kind, count }) => kind === 'data' && count === 'one'));
  return readsLines ? computedArgs : computedArgs.filter(({ argv, index }) => /\$\(|`/.test(argv[index] ?? ''));
}

/** True if every part of a script is analyzed exactly. */
function isAnalyzable(text: string, script: ParsedScript, context: DecisionContext): boolean {
  const { commands, problems } = analyzeScriptExactly(text, script, context.policy.cwd, createDiskLookup(context));
  if (commands.some(hasAssignmentProblem)) return false;
  return problems.length === 0 && isFullyParsed(text, script) && listCharacterProblems(text).length === 0;
}

/** Computes the result once for equal commands, which a command line may repeat many times. */
function memoizeByCommand<Result>(compute: (command: ResolvedCommand) => Result): (command: ResolvedCommand) => Result {
  const answers = new Map<string, Result>();
  return (command) => {
    const key = JSON.stringify(command);
    const answer = answers.get(key) ?? compute(command);
    answers.set(key, answer);
    return answer;
  };
}

/** True for a requirement that needs no rule: met by default, or by the mode. */
function runsWithoutApproval({ allowedBy, editScope }: Requirement): boolean {
  return allowedBy === undefined ? editScope === 'workspace' : allowedBy.by === 'default';
}

/** Creates the findings of a command that is not analyzed: it needs approval in every mode, whatever allows it. */
function createUnanalyzedFindings(command: string, text: string): AnalysisFindings {
  const subject = command.slice(0, MAX_EXPLAINED);
  return {
    blockers: [{ stage: 'ask', verdict: 'ask', subject, text }],
    requirements: [{ kind: 'command', subject, text }],
    unanalysed: [text],
    hardens: [],
  };
}

/** True if a rule allows the whole command line word for word, or all commands. */
function matchesWholeCommand(specifier: string | undefined, command: string): boolean {
  if (specifier === undefined) return true;
  return specifier === command.trim() && parseCommandPattern(specifier).kind === 'exact';
}

/** True if any rule denies or asks, so that unknown effects matter. */
function hasRestrictingRules(context: DecisionContext): boolean {
  return context.policy.rules.some(({ behavior }) => behavior !== 'allow');
}

/** True if rules deny or ask about commands; then a command that cannot be named needs approval. */
function restrictsCommands(context: DecisionContext): boolean {
  return context.policy.rules.some(
    (rule) => rule.behavior !== 'allow' && (getRuleFamily(rule.tool) === 'command' || rule.tool === '*'),
  );
}
