import type { Rule, RuleBehavior } from '../../contracts/permission.ts';
import { hasManyWildcards, MAX_WILDCARDS } from '../../lib/patterns/glob.ts';
import { familyOf, OUTSIDE_WORD, RENAMED } from './families.ts';
import { openingProblem } from './openings.ts';

export type RuleOrigin = Pick<Rule, 'source' | 'file' | 'line' | 'root'>;

/** Reads one line of a permission list. Never throws: what cannot be understood is a rule with a `problem`. */
export function parseRule(text: string, behavior: RuleBehavior, origin: RuleOrigin): Rule {
  const trimmed = text.trim();
  const base = { text: trimmed, behavior, ...origin };
  const shape = /^([A-Za-z][^\s()]*)(?:\(([\s\S]*)\))?$/.exec(trimmed);
  if (shape === null) {
    return { ...base, tool: guessTool(trimmed), problem: 'It is not of the form Tool or Tool(what).' };
  }
  const [, name = '', specifier] = shape;
  const tool = renamed(name);
  const isWhole =
    specifier === undefined ||
    specifier.trim() === '*' ||
    (familyOf(tool) === 'domain' && specifier.trim() === 'domain:*');
  if (isWhole) return { ...base, tool };
  const problem = specifierProblem(tool, specifier.trim());
  return { ...base, tool, specifier: specifier.trim(), ...(problem === undefined ? {} : { problem }) };
}

/** The text that `parseRule` reads back as the same rule. */
export function formatRule(tool: string, specifier?: string): string {
  return specifier === undefined ? tool : `${tool}(${specifier})`;
}

function specifierProblem(tool: string, specifier: string): string | undefined {
  if (specifier === '') return 'There is nothing between the parentheses.';
  if (specifier.includes('\0')) return 'It holds a NUL byte.';
  if (hasManyWildcards(specifier)) return `It has more than ${MAX_WILDCARDS} stars and brackets.`;
  const family = familyOf(tool);
  if (family === 'domain' && !/^domain:(\*\.)?[\p{L}\p{M}\p{N}.-]+$/u.test(specifier)) {
    return `${tool} rules read ${tool}(domain:example.com).`;
  }
  if (tool === OUTSIDE_WORD) return openingProblem(specifier);
  if (family === 'command' && /^\s*(?::\*|\*)/.test(specifier)) return 'The command is missing before the star.';
  if (tool.startsWith('mcp__')) return 'Rules for MCP tools take no parentheses.';
  if ((family === 'read' || family === 'edit') && bracketsBroken(specifier))
    return 'A bracket in the pattern is not closed.';
  return undefined;
}

function renamed(name: string): string {
  // The tools of `my.server` are offered with a line in place of the dot.
  if (name.startsWith('mcp__')) return name.replace(/[^\w*-]/g, '_');
  return Object.hasOwn(RENAMED, name) ? (RENAMED[name] ?? name) : name;
}

function bracketsBroken(specifier: string): boolean {
  const withoutClasses = specifier.replace(/\\./g, '').replace(/\[[!^]?\]?[^\]]*\]/g, '');
  return withoutClasses.includes('[');
}

/** A rule nobody can read still names its tool most of the time; otherwise it is about every tool. */
function guessTool(text: string): string {
  const name = /^[A-Za-z][\w-]*/.exec(text)?.[0];
  return name === undefined ? '*' : renamed(name);
}
