import type { Rule } from '../contracts/permission.ts';
import { commandPattern } from './bash/command-rule.ts';
import { KNOWN_TOOLS } from './facts.ts';
import { ruleSays } from './paths/finding.ts';
import { READING_TOOLS, WRITING_TOOLS } from './rules/rules.ts';

export type RuleProblem = {
  readonly rule: Rule;
  readonly kind: 'malformed' | 'dead' | 'shadowed' | 'contradictory';
  readonly text: string;
};

/** Rules that cannot be read, can never match, or are overruled by others. */
export function lintRules(rules: readonly Rule[]): readonly RuleProblem[] {
  return rules.flatMap((rule, index): readonly RuleProblem[] => {
    if (rule.problem !== undefined) {
      const effect = rule.behavior === 'allow' ? 'It allows nothing.' : `Until it is mended, ${rule.tool} asks.`;
      return [
        { rule, kind: 'malformed' as const, text: `${ruleSays(rule)} cannot be understood: ${rule.problem} ${effect}` },
      ];
    }
    const dead = deadReason(rule);
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

/** True when everything `narrow` matches, `wide` matches too; undecidable cases are false. */
function covers(wide: Rule, narrow: Rule): boolean {
  const family =
    wide.tool === narrow.tool ||
    (wide.tool === 'Edit' && WRITING_TOOLS.includes(narrow.tool)) ||
    (wide.tool === 'Read' && READING_TOOLS.includes(narrow.tool));
  const server = wide.tool.startsWith('mcp__') && narrow.tool.startsWith(`${wide.tool.replace(/__\*$/, '')}__`);
  if (!family && !server) return false;
  if (wide.specifier === undefined) return true;
  if (narrow.specifier === undefined) return false;
  if (wide.specifier === narrow.specifier) return true;
  if (wide.tool === 'Bash') {
    const [outer, inner] = [commandPattern(wide.specifier), commandPattern(narrow.specifier)];
    const starts = outer.words.every((word, index) => word === inner.words[index]);
    return starts && (outer.open === 'prefix' || (inner.open === 'exact' && outer.words.length === inner.words.length));
  }
  const folder = /^(.*\/)\*\*$/s.exec(wide.specifier)?.[1];
  return folder !== undefined && narrow.specifier.startsWith(folder);
}

function deadReason(rule: Rule): string | undefined {
  const known = rule.tool === '*' || rule.tool.startsWith('mcp__') || KNOWN_TOOLS.includes(rule.tool);
  if (!known) return `there is no tool ${rule.tool}.`;
  if (rule.specifier === undefined) return undefined;
  const taking = ['Bash', 'WebFetch', 'Task', 'Skill', 'LS', ...READING_TOOLS, ...WRITING_TOOLS];
  if (!taking.includes(rule.tool)) return `rules for ${rule.tool} take nothing in parentheses.`;
  if (
    rule.tool === 'Bash' &&
    rule.behavior === 'allow' &&
    /\S\s*(?:&&|\|\||;|\||[<>])\s*\S.*(?::\*|\s\*)$/s.test(rule.specifier)
  ) {
    return 'a command line is split at its operators before its parts are compared. Write one rule for each part.';
  }
  return undefined;
}
