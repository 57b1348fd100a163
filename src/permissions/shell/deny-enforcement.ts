import type { Rule } from '../../contracts/permission.ts';
import { type AnalysisFindings, type DecisionContext, describeRule, type Requirement } from '../decision-context.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { getShellAnalysis } from './analyze.ts';
import { parseCommandPattern } from './command-rules.ts';
import { collectShellEffects } from './effects/collect-shell-effects.ts';
import { isFullyParsed } from './parse/check-source.ts';
import { getExactProgramFacts } from './programs/find-program-facts.ts';
import type { ProgramFacts } from './programs/program-facts.ts';

/**
 * Adds the requirement to approve a command that could reach paths which rules deny, where no sandbox can keep it from
 * them: any program whose files the analysis does not know, in every mode. A rule for exactly this command was written
 * with it in view, and what only reads or writes named files, or opens none, is compared with the rules.
 */
export function addDenyEnforcementFindings(
  context: DecisionContext,
  command: string,
  analyze: (context: DecisionContext) => AnalysisFindings,
): AnalysisFindings {
  const { policy } = context;
  const findings = analyze(context);
  const rule = policy.rules.find(isPathDenial);
  if (rule === undefined || policy.canEnforceReadOnly === undefined || policy.canEnforceReadOnly()) return findings;
  if (findings.requirements.every(isKnown) || opensNoFiles(context, command)) return findings;
  // A rule that allows a command tells nothing about the files of its parts.
  const rules = policy.rules.filter(({ behavior, tool }) => behavior !== 'allow' || getRuleFamily(tool) !== 'command');
  const { requirements, unanalysed } = analyze({ ...context, policy: { ...policy, rules } });
  if (unanalysed.length === 0 && requirements.every(isKnown)) return findings;
  const text = `${describeRule(rule)} is only analysed here, because no sandbox is available, and this command may reach what it denies.`;
  return {
    ...findings,
    requirements: [...findings.requirements, { kind: 'command', subject: command, text, asks: 'in every mode' }],
  };
}

function isPathDenial({ behavior, tool, specifier, problem }: Rule): boolean {
  const family = getRuleFamily(tool);
  return (
    behavior === 'deny' && problem === undefined && specifier !== undefined && (family === 'read' || family === 'edit')
  );
}

/** Returns whether no program of a line opens a file, wherever it runs: it prints its words or compares them. */
function opensNoFiles({ facts }: DecisionContext, command: string): boolean {
  const { parse } = getShellAnalysis(facts);
  const script = parse(command);
  const { commands, isTruncated } = collectShellEffects(script, parse);
  // A part that cannot be parsed may be any program.
  return (
    isFullyParsed(command, script) &&
    !isTruncated &&
    commands.every(({ argv: [name = ''] }) => isPrinter(getExactProgramFacts(name)))
  );
}

const isPrinter = ({ opensNoFiles: isOpeningNone, readsOnlyIn, walksFolders }: ProgramFacts) =>
  isOpeningNone === true && readsOnlyIn === 'anywhere' && walksFolders !== true;

/** True for files that are compared with the rules, and for a command that a rule names word for word. */
function isKnown({ kind, allowedBy }: Requirement): boolean {
  if (kind !== 'command') return true;
  const specifier = allowedBy?.by === 'rule' ? allowedBy.rule.specifier : undefined;
  return specifier !== undefined && parseCommandPattern(specifier).kind === 'exact';
}
