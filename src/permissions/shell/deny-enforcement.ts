import type { Rule } from '../../contracts/permission.ts';
import { type AnalysisFindings, type DecisionContext, describeRule, type Requirement } from '../decision-context.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { getShellAnalysis } from './analyze.ts';
import { parseCommandPattern } from './command-rules.ts';
import { collectShellEffects } from './effects/collect-shell-effects.ts';
import { isFullyParsed } from './parse/check-source.ts';
import { getExactProgramFacts } from './programs/find-program-facts.ts';

/**
 * Adds the requirement to approve a command that could reach paths which rules deny, where no sandbox can keep it from
 * them: any program whose files the analysis does not know, in every mode.
 */
export function addDenyEnforcementFindings(
  context: DecisionContext,
  command: string,
  analyze: (context: DecisionContext) => AnalysisFindings,
): AnalysisFindings {
  const { policy } = context;
  const findings = analyze(context);
  const denial = policy.rules.find(isPathDenial);
  if (denial === undefined || policy.canEnforceReadOnly === undefined || policy.canEnforceReadOnly()) return findings;
  // Compared with the rules: named files that are read or written, and a command that a rule allows word for word.
  if (findings.requirements.every(isComparedWithRules) || opensNoFiles(context, command)) return findings;
  // Other rules that allow a command tell nothing about the files of its parts.
  const rules = policy.rules.filter(({ behavior, tool }) => behavior !== 'allow' || getRuleFamily(tool) !== 'command');
  const { requirements, unanalysed } = analyze({ ...context, policy: { ...policy, rules } });
  if (unanalysed.length === 0 && requirements.every(isComparedWithRules)) return findings;
  const text = `${describeRule(denial)} is only analysed here, because no sandbox is available, and this command may reach what it denies.`;
  return {
    ...findings,
    requirements: [...findings.requirements, { kind: 'command', subject: command, text, asks: 'in every mode' }],
  };
}

function isPathDenial({ behavior, tool, specifier, problem }: Rule): boolean {
  const family = getRuleFamily(tool);
  const isOfPaths = (family === 'read' || family === 'edit') && specifier !== undefined;
  return behavior === 'deny' && isOfPaths && problem === undefined;
}

function isComparedWithRules({ kind, allowedBy }: Requirement): boolean {
  if (kind !== 'command') return true;
  const specifier = allowedBy?.by === 'rule' ? allowedBy.rule.specifier : undefined;
  return specifier !== undefined && parseCommandPattern(specifier).kind === 'exact';
}

/** Returns whether no program of a line opens a file, wherever it runs: it prints its words or compares them. */
function opensNoFiles({ facts }: DecisionContext, command: string): boolean {
  const { parse } = getShellAnalysis(facts);
  const script = parse(command);
  const { commands, isTruncated } = collectShellEffects(script, parse);
  // A part that cannot be parsed may be any program.
  if (isTruncated || !isFullyParsed(command, script)) return false;
  return commands.every(({ argv: [name = ''] }) => {
    const program = getExactProgramFacts(name);
    return program.opensNoFiles === true && program.readsOnlyIn === 'anywhere' && program.walksFolders !== true;
  });
}
