import { parse } from 'unbash';
import type { Rule, ToolTraits } from '../contracts/permission.ts';
import { findToolTraits } from './create-decision-context.ts';
import { describeRule } from './decision-context.ts';
import {
  coversTool,
  FAMILY_RULE_NAMES,
  getRuleFamily,
  SAMPLING_RULE_NAME,
  SANDBOX_EXCEPTION_RULE_NAME,
} from './rules/rule-families.ts';
import { parseCommandPattern } from './shell/command-rules.ts';
import { analyzeScriptExactly } from './shell/exact/analyze-script-exactly.ts';
import { type DiskLookup, NO_DISK_LOOKUP } from './shell/exact/shell-state.ts';
import { listCharacterProblems } from './shell/parse/check-source.ts';
import { hasRiskyArg } from './shell/risky-args.ts';

/** A rule that does not do what its author expects, with an explanation. */
export type RuleProblem = {
  readonly rule: Rule;
  readonly kind: 'malformed' | 'dead' | 'shadowed' | 'contradictory';
  readonly text: string;
};

/** Finds rules that are invalid, never match any tool, or are overridden by or redundant with other rules. */
export function findRuleProblems(rules: readonly Rule[], tools: readonly ToolTraits[]): readonly RuleProblem[] {
  return rules.flatMap((rule, index): readonly RuleProblem[] => {
    if (rule.problem !== undefined) {
      const effect =
        rule.behavior === 'allow' ? 'It allows nothing.' : `Until it is fixed, ${rule.tool} needs approval.`;
      return [
        { rule, kind: 'malformed' as const, text: `${describeRule(rule)} is invalid: ${rule.problem} ${effect}` },
      ];
    }
    const deadReason = findDeadReason(rule, tools);
    if (deadReason !== undefined)
      return [{ rule, kind: 'dead' as const, text: `${describeRule(rule)} can never match: ${deadReason}` }];
    const overriding = rules.find(
      (other) => other.problem === undefined && overrides(other, rule) && covers(other, rule),
    );
    if (overriding !== undefined) {
      const kind =
        overriding.specifier === rule.specifier && overriding.tool === rule.tool ? 'contradictory' : 'shadowed';
      return [
        {
          rule,
          kind,
          text: `${describeRule(rule)} has no effect: ${describeRule(overriding)} takes precedence (${overriding.behavior}).`,
        } as const,
      ];
    }
    const wider = rules.find(
      (other, otherIndex) =>
        other !== rule &&
        other.behavior === rule.behavior &&
        other.problem === undefined &&
        covers(other, rule) &&
        (otherIndex < index || !covers(rule, other)),
    );
    if (wider === undefined) return [];
    return [
      {
        rule,
        kind: 'shadowed' as const,
        text: `${describeRule(rule)} is redundant: ${describeRule(wider)} already covers it.`,
      },
    ];
  });
}

const STRENGTH = { deny: 2, ask: 1, allow: 0 } as const;

function overrides(left: Rule, right: Rule): boolean {
  return STRENGTH[left.behavior] > STRENGTH[right.behavior];
}

/** Returns whether `outer` matches everything that `inner` matches; false if that cannot be decided. */
function covers(outer: Rule, inner: Rule): boolean {
  const isServerRule = outer.tool.startsWith('mcp__') && inner.tool.startsWith(`${outer.tool.replace(/__\*$/, '')}__`);
  if (!coversTool(outer.tool, inner.tool) && !isServerRule) return false;
  if (outer.specifier === undefined) return true;
  if (inner.specifier === undefined) return false;
  if (outer.specifier === inner.specifier) return true;
  if (outer.tool === FAMILY_RULE_NAMES.command) {
    const [wide, narrow] = [parseCommandPattern(outer.specifier), parseCommandPattern(inner.specifier)];
    const isPrefix =
      wide.words.every((word, index) => word === narrow.words[index]) &&
      JSON.stringify(wide.assignments) === JSON.stringify(narrow.assignments);
    return (
      isPrefix && (wide.kind === 'prefix' || (narrow.kind === 'exact' && wide.words.length === narrow.words.length))
    );
  }
  const folder = /^(.*\/)\*\*$/s.exec(outer.specifier)?.[1];
  return folder !== undefined && inner.specifier.startsWith(folder);
}

/** The tools that rules may be about; `any` where a rule is known to be about a tool. */
export type KnownTools = readonly ToolTraits[] | 'any';

/** Returns the reason why a valid rule can never match a call, or `undefined`. */
export function findDeadReason(rule: Rule, tools: KnownTools): string | undefined {
  if (rule.tool === SANDBOX_EXCEPTION_RULE_NAME || rule.tool === SAMPLING_RULE_NAME) return undefined;
  const isKnown = rule.tool === '*' || rule.tool.startsWith('mcp__');
  if (!isKnown && tools !== 'any' && findToolTraits(tools, rule.tool) === undefined) {
    const similar = tools.find(({ name }) => name.toLowerCase() === rule.tool.toLowerCase());
    return `there is no tool ${rule.tool}.${similar === undefined ? '' : ` Write ${similar.name}.`}`;
  }
  if (rule.specifier === undefined) return undefined;
  const family = getRuleFamily(rule.tool);
  if (family === undefined) return `rules for ${rule.tool} take no parentheses.`;
  return family === 'command' ? findDeadCommandReason(rule.specifier, rule.behavior) : undefined;
}

/** A pattern says nothing about the disk: every folder that it names is there. */
const ANY_DISK: DiskLookup = { ...NO_DISK_LOOKUP, resolveDirectory: () => '/' };

/** Analyzes the pattern of a rule as a command line: what the analysis refuses in it, it refuses in every match. */
function findDeadCommandReason(specifier: string, behavior: Rule['behavior']): string | undefined {
  const [character] = listCharacterProblems(specifier);
  if (character !== undefined && behavior === 'allow') return character;
  // A rule for an exact line is compared with the text of the whole line.
  if (parseCommandPattern(specifier).kind === 'exact') return undefined;
  const text = specifier.replace(/(?:(?<!\s)\s+|:\s*)\*$/, '').replaceAll('*', 'x');
  const script = parse(text);
  const { commands, problems } = analyzeScriptExactly(text, script, '/', ANY_DISK);
  if (commands.length > 1)
    return 'a command line is split at its operators before its parts are matched. Write one rule for each part.';
  const command = script.commands[0]?.command;
  if (command?.type === 'Command' && command.redirects.length > 0)
    return 'redirections are decided on their own. Leave them out.';
  if (behavior !== 'allow') return undefined;
  const [problem] = problems;
  if (problem !== undefined) return `${problem} Only a rule for an exact command line covers that.`;
  const [{ argv = [] } = {}] = commands;
  if (argv.length === 0) return 'it names no program.';
  return hasRiskyArg(
    argv.map((arg) => arg.text),
    argv.length,
  )
    ? 'its own words may do more than such a rule covers. Write the exact command line.'
    : undefined;
}
