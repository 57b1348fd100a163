import { compileLinearRegex } from '../lib/patterns/linear-regex.ts';

/** Returns true when a subject matches. */
export type HookMatcher = (subject: string) => boolean;

/**
 * Parses a hook's matcher: a name, names separated by `|`, or a regular expression for the whole name. Lookaheads are
 * supported at the start (`(?!mcp__).*`); anything else that cannot run in linear time is a problem.
 */
export async function parseHookMatcher(matcher: string): Promise<HookMatcher | { readonly problem: string }> {
  if (matcher === '' || matcher === '*') return () => true;
  const names = matcher.split('|');
  if (names.every((name) => /^[\w-]+$/.test(name))) return (subject) => names.includes(subject);
  const { rest, lookaheads } = splitLookaheads(matcher.replace(/^\^/, ''));
  const pattern = await compileLinearRegex(`^(?:${rest})$`);
  if ('problem' in pattern) return pattern;
  const conditions: HookMatcher[] = [];
  for (const { source, isPositive } of lookaheads) {
    const lookahead = await compileLinearRegex(`^(?:${source})`);
    if ('problem' in lookahead) return lookahead;
    conditions.push((subject) => lookahead.test(subject) === isPositive);
  }
  return (subject) => conditions.every((matches) => matches(subject)) && pattern.test(subject);
}

type Lookahead = { readonly source: string; readonly isPositive: boolean };

/** Splits an expression into its leading lookaheads and the rest. */
function splitLookaheads(source: string): { readonly rest: string; readonly lookaheads: readonly Lookahead[] } {
  const lookaheads: Lookahead[] = [];
  let rest = source;
  for (let found = /^\(\?([!=])/.exec(rest); found !== null; found = /^\(\?([!=])/.exec(rest)) {
    const end = findClosingParenthesis(rest);
    if (end === -1) break;
    lookaheads.push({ source: rest.slice(3, end), isPositive: found[1] === '=' });
    rest = rest.slice(end + 1);
  }
  // In `(?!a)b|c` the lookahead applies to the first alternative only, so it cannot be split off.
  return lookaheads.length > 0 && hasAlternatives(rest) ? { rest: source, lookaheads: [] } : { rest, lookaheads };
}

function hasAlternatives(source: string): boolean {
  const open = source.indexOf('(');
  if (open === -1) return source.includes('|');
  const end = findClosingParenthesis(source.slice(open));
  return source.slice(0, open).includes('|') || end === -1 || hasAlternatives(source.slice(open + end + 1));
}

/** Returns the index of the parenthesis that closes the first one; -1 when there is none. */
function findClosingParenthesis(source: string): number {
  let depth = 0;
  for (let index = 0; index < source.length; index += 1) {
    const char = source[index];
    if (char === '\\') index += 1;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}
