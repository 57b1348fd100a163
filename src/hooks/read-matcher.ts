import { linearRegex } from '../lib/patterns/linear-regex.ts';

export type Matcher = (subject: string) => boolean;

/**
 * What a hook's matcher fits: a name, names with bars between them, or a regular expression for the whole name. One that
 * looks ahead may do so at its beginning (`(?!mcp__).*`); what else cannot be matched in linear time is a problem.
 */
export async function readMatcher(matcher: string): Promise<Matcher | { readonly problem: string }> {
  if (matcher === '' || matcher === '*') return () => true;
  const names = matcher.split('|');
  if (names.every((name) => /^[\w-]+$/.test(name))) return (subject) => names.includes(subject);
  const { rest, looks } = looksOf(matcher.replace(/^\^/, ''));
  const whole = await linearRegex(`^(?:${rest})$`);
  if ('problem' in whole) return whole;
  const ahead: Matcher[] = [];
  for (const { source, wanted } of looks) {
    const look = await linearRegex(`^(?:${source})`);
    if ('problem' in look) return look;
    ahead.push((subject) => look.test(subject) === wanted);
  }
  return (subject) => ahead.every((fits) => fits(subject)) && whole.test(subject);
}

type Look = { readonly source: string; readonly wanted: boolean };

/** The looks ahead that an expression begins with, and what is left of it. */
function looksOf(source: string): { readonly rest: string; readonly looks: readonly Look[] } {
  const looks: Look[] = [];
  let rest = source;
  for (let found = /^\(\?([!=])/.exec(rest); found !== null; found = /^\(\?([!=])/.exec(rest)) {
    const end = closing(rest);
    if (end === -1) break;
    looks.push({ source: rest.slice(3, end), wanted: found[1] === '=' });
    rest = rest.slice(end + 1);
  }
  // `(?!a)b|c`: the look belongs to the first alternative alone.
  return looks.length > 0 && hasAlternatives(rest) ? { rest: source, looks: [] } : { rest, looks };
}

function hasAlternatives(source: string): boolean {
  const open = source.indexOf('(');
  if (open === -1) return source.includes('|');
  const end = closing(source.slice(open));
  return source.slice(0, open).includes('|') || end === -1 || hasAlternatives(source.slice(open + end + 1));
}

/** Where the bracket that an expression begins with is closed. */
function closing(source: string): number {
  let depth = 0;
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at];
    if (sign === '\\') at += 1;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
