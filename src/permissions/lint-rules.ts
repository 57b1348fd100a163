import type { Rule, ToolStatement } from '../contracts/permission.ts';
import { commandPattern } from './bash/command-rule.ts';
import { statementOf } from './facts.ts';
import { ruleSays } from './paths/finding.ts';
import { FAMILY_WORD, familyOf, OUTSIDE_WORD, SAMPLING_WORD, speaksOfTool } from './rules/families.ts';

export type RuleProblem = {
  readonly rule: Rule;
  readonly kind: 'malformed' | 'dead' | 'shadowed' | 'contradictory';
  readonly text: string;
};

/** Rules that cannot be read, can never match the tools there are, or are overruled by others. */
export function lintRules(rules: readonly Rule[], tools: readonly ToolStatement[]): readonly RuleProblem[] {
  return rules.flatMap((rule, index): readonly RuleProblem[] => {
    if (rule.problem !== undefined) {
      const effect = rule.behavior === 'allow' ? 'It allows nothing.' : `Until it is mended, ${rule.tool} asks.`;
      return [
        { rule, kind: 'malformed' as const, text: `${ruleSays(rule)} cannot be understood: ${rule.problem} ${effect}` },
      ];
    }
    const dead = deadReason(rule, tools);
    if (dead !== undefined)
      return [{ rule, kind: 'dead' as const, text: `${ruleSays(rule)} can never match: ${dead}` }];
    const overruling = rules.find(
      (other) => other.problem === undefined && overrules(other, rule) && covers(other, rule),
    );
    if (overruling !== undefined) {
      const kind =
        overruling.specifier === rule.specifier && overruling.tool === rule.tool ? 'contradictory' : 'shadowed';
      return [
        {
          rule,
          kind,
          text: `${ruleSays(rule)} has no effect: ${ruleSays(overruling)} says ${overruling.behavior} first.`,
        } as const,
      ];
    }
    const wider = rules.find(
      (other, at) =>
        other !== rule &&
        other.behavior === rule.behavior &&
        other.problem === undefined &&
        covers(other, rule) &&
        (at < index || !covers(rule, other)),
    );
    if (wider === undefined) return [];
    return [{ rule, kind: 'shadowed' as const, text: `${ruleSays(rule)} adds nothing to ${ruleSays(wider)}.` }];
  });
}

const STRENGTH = { deny: 2, ask: 1, allow: 0 } as const;

function overrules(left: Rule, right: Rule): boolean {
  return STRENGTH[left.behavior] > STRENGTH[right.behavior];
}

/** True when everything `inner` matches, `outer` matches too; undecidable cases are false. */
function covers(outer: Rule, inner: Rule): boolean {
  const server = outer.tool.startsWith('mcp__') && inner.tool.startsWith(`${outer.tool.replace(/__\*$/, '')}__`);
  if (!speaksOfTool(outer.tool, inner.tool) && !server) return false;
  if (outer.specifier === undefined) return true;
  if (inner.specifier === undefined) return false;
  if (outer.specifier === inner.specifier) return true;
  if (outer.tool === FAMILY_WORD.command) {
    const [whole, part] = [commandPattern(outer.specifier), commandPattern(inner.specifier)];
    const starts = whole.words.every((word, index) => word === part.words[index]);
    return starts && (whole.open === 'prefix' || (part.open === 'exact' && whole.words.length === part.words.length));
  }
  const folder = /^(.*\/)\*\*$/s.exec(outer.specifier)?.[1];
  return folder !== undefined && inner.specifier.startsWith(folder);
}

function deadReason(rule: Rule, tools: readonly ToolStatement[]): string | undefined {
  if (rule.tool === OUTSIDE_WORD || rule.tool === SAMPLING_WORD) return undefined;
  const known = rule.tool === '*' || rule.tool.startsWith('mcp__') || statementOf(tools, rule.tool) !== undefined;
  if (!known) return `there is no tool ${rule.tool}.`;
  if (rule.specifier === undefined) return undefined;
  if (familyOf(rule.tool) === undefined) return `rules for ${rule.tool} take nothing in parentheses.`;
  if (
    rule.tool === FAMILY_WORD.command &&
    rule.behavior === 'allow' &&
    /\S\s*(?:&&|\|\||;|\||[<>])\s*\S.*(?::\*|\s\*)$/s.test(rule.specifier)
  ) {
    return 'a command line is split at its operators before its parts are compared. Write one rule for each part.';
  }
  return undefined;
}
