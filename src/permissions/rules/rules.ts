import type { Rule, RuleBehavior } from '../../contracts/permission.ts';

export type RuleOrigin = Pick<Rule, 'source' | 'file' | 'line' | 'root'>;

const ALIASES: Readonly<Record<string, string>> = { Agent: 'Task' };

/** Reads one line of a permission list. Never throws: what cannot be understood is a rule with a `problem`. */
export function parseRule(text: string, behavior: RuleBehavior, origin: RuleOrigin): Rule {
  const trimmed = text.trim();
  const base = { text: trimmed, behavior, ...origin };
  const shape = /^([A-Za-z][^\s()]*)(?:\(([\s\S]*)\))?$/.exec(trimmed);
  if (shape === null) {
    return { ...base, tool: guessTool(trimmed), problem: 'It is not of the form Tool or Tool(what).' };
  }
  const [, name = '', specifier] = shape;
  const tool = ALIASES[name] ?? name;
  const isWhole =
    specifier === undefined || specifier.trim() === '*' || (tool === 'WebFetch' && specifier.trim() === 'domain:*');
  if (isWhole) return { ...base, tool };
  const problem = specifierProblem(tool, specifier.trim());
  return { ...base, tool, specifier: specifier.trim(), ...(problem === undefined ? {} : { problem }) };
}

/** The text that `parseRule` reads back as the same rule. */
export function formatRule(tool: string, specifier?: string): string {
  return specifier === undefined ? tool : `${tool}(${specifier})`;
}

/** The tools whose path rules speak of reading and of writing. */
export const READING_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep'];
export const WRITING_TOOLS: readonly string[] = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'];

function specifierProblem(tool: string, specifier: string): string | undefined {
  if (specifier === '') return 'There is nothing between the parentheses.';
  if (specifier.includes('\0')) return 'It holds a NUL byte.';
  if (tool === 'WebFetch' && !/^domain:(\*\.)?[A-Za-z0-9.-]+$/.test(specifier)) {
    return 'WebFetch rules read WebFetch(domain:example.com).';
  }
  if (tool === 'Bash' && /^\s*(?::\*|\*)/.test(specifier)) return 'The command is missing before the star.';
  if (tool.startsWith('mcp__')) return 'Rules for MCP tools take no parentheses.';
  if (bracketsBroken(tool, specifier)) return 'A bracket in the pattern is not closed.';
  return undefined;
}

function bracketsBroken(tool: string, specifier: string): boolean {
  if (![...READING_TOOLS, ...WRITING_TOOLS].includes(tool)) return false;
  const withoutClasses = specifier.replace(/\\./g, '').replace(/\[[!^]?\]?[^\]]*\]/g, '');
  return withoutClasses.includes('[');
}

/** A rule nobody can read still names its tool most of the time; otherwise it is about every tool. */
function guessTool(text: string): string {
  const name = /^[A-Za-z][\w-]*/.exec(text)?.[0];
  return name === undefined ? '*' : (ALIASES[name] ?? name);
}
