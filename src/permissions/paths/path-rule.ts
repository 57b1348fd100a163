import { normalize } from 'node:path';
import type { Policy, Rule } from '../../contracts/permission.ts';
import { globSteps } from '../../lib/patterns/glob.ts';
import { globTest, literalSteps } from '../../lib/patterns/linear-match.ts';
import { FAMILY_WORD, familyOf } from '../rules/families.ts';
import { folded, isInside, type ResolvedPath } from './paths.ts';

export type PathUse = {
  readonly tool: string;
  readonly use: 'read' | 'write';
  readonly path: ResolvedPath;
  /** What is written takes the place of what was there. */
  readonly replaces?: boolean;
};

/** Deny and ask match any spelling of the path; allow matches only the place where it really is. */
export function pathRuleMatches(rule: Rule, { path, ...use }: PathUse, policy: Policy): boolean {
  return pathRuleTest(rule, use, policy)(path);
}

/** The same for many paths: the rule is read once. */
export function pathRuleTest(
  rule: Rule,
  { tool, use }: Pick<PathUse, 'tool' | 'use'>,
  policy: Policy,
): (path: ResolvedPath) => boolean {
  if (!speaksOf(rule, tool, use)) return () => false;
  if (rule.specifier === undefined) return () => true;
  const allow = rule.behavior === 'allow';
  const spelled = !allow || policy.disk === 'case-insensitive' ? folded : (text: string) => text;
  const tests = patternsOf(rule, policy).map((pattern) => patternTest(pattern, spelled));
  return ({ real, lexical, problem }) => {
    if (allow && problem !== undefined) return false;
    const places = allow || lexical === real ? [real] : [lexical, real];
    return places.some((place) => {
      const path = spelled(place);
      return tests.some((fits) => fits(path));
    });
  };
}

/** True when the rule names this one file and nothing else. */
export function isExactPathRule(rule: Rule, use: PathUse, policy: Policy): boolean {
  if (rule.specifier === undefined || /[*?[\]\\!]|\/$/.test(rule.specifier) || !pathRuleMatches(rule, use, policy))
    return false;
  return patternsOf(rule, policy).some((pattern) => pattern.base + pattern.tail === use.path.real);
}

/** Whether a rule about paths could match something below the folder: where it starts to name things. */
export function ruleReachesInto(rule: Rule, folder: string, policy: Policy): boolean {
  return patternsOf(rule, policy).some((pattern) => {
    const fixed = pattern.tail.split(/[*?[\\]/)[0] ?? '';
    const start = folded(pattern.anywhere ? pattern.base : (pattern.base + fixed).replace(/\/[^/]*$/, ''));
    return isInside(start, folded(folder)) || isInside(folded(folder), start);
  });
}

/** What a rule about paths covers, as globs for a search: names, or patterns from the root of the disk. */
export function searchGlobs(rule: Rule, policy: Policy): readonly string[] {
  return patternsOf(rule, policy).map(({ base, tail, anywhere }) => {
    const place = base.replace(/[\\*?[\]{}!]/g, '\\$&');
    return anywhere && base === '' ? tail.slice(1) : `${place}${anywhere ? '/**' : ''}${tail}`;
  });
}

function speaksOf(rule: Rule, tool: string, use: 'read' | 'write'): boolean {
  const family = use === 'read' ? 'read' : 'edit';
  if (rule.tool === '*' || rule.tool === FAMILY_WORD[family]) return true;
  // A command uses files in its own way: a rule about commands says nothing of them.
  if (rule.tool === tool && familyOf(tool) !== 'command') return true;
  const isMeant = use === 'write' || familyOf(tool) === 'read';
  return rule.behavior !== 'allow' && rule.specifier !== undefined && familyOf(rule.tool) === family && isMeant;
}

/** `tail` starts with a slash and is matched below `base`; `anywhere` allows folders in between. */
type Pattern = { readonly base: string; readonly tail: string; readonly anywhere: boolean };

function patternsOf(rule: Rule, policy: Policy): readonly Pattern[] {
  const text = rule.specifier ?? '';
  const allow = rule.behavior === 'allow';
  if (text.startsWith('//')) return [{ base: '', tail: normalize(text.slice(1)), anywhere: false }];
  if (text === '~' || text.startsWith('~/')) return below([policy.home], text.slice(1) || '/**');
  if (text.startsWith('/')) {
    const roots = below([rule.root ?? policy.workspaceRoots[0] ?? policy.cwd], text);
    // People write absolute paths with one slash. Reading it both ways can only make a denial wider.
    return allow ? roots : [...roots, { base: '', tail: normalize(text), anywhere: false }];
  }
  const bases = allow
    ? [policy.cwd]
    : [policy.cwd, ...policy.workspaceRoots, ...(rule.root === undefined ? [] : [rule.root])];
  if (text === '.' || text === '..') return below(bases, '/**');
  if (text.startsWith('..') || text.startsWith('../')) return below(bases, `/${text}`);
  const trimmed = text.replace(/\/$/, '');
  if (trimmed.includes('/')) return below(bases, `/${text}`);
  const anywhere: Pattern[] = [...new Set(bases)].map((base) => ({ base, tail: `/${trimmed}`, anywhere: true }));
  return allow ? anywhere : [...anywhere, { base: '', tail: `/${trimmed}`, anywhere: true }];
}

function below(bases: readonly string[], tail: string): readonly Pattern[] {
  return [...new Set(bases)].map((base) => {
    const joined = tail.startsWith('/../')
      ? normalize(`${base}${tail}`)
      : `${base === '/' ? '' : base}${normalize(tail)}`;
    return tail.startsWith('/../')
      ? { base: '', tail: joined, anywhere: false }
      : { base: base === '/' ? '' : base, tail: joined.slice(base === '/' ? 0 : base.length), anywhere: false };
  });
}

function patternTest(pattern: Pattern, spelled: (text: string) => string): (path: string) => boolean {
  const base = spelled(pattern.base);
  const fits = testOf(spelled(pattern.tail), pattern.anywhere);
  return (path) => {
    if (base !== '' && !isInside(path, base)) return false;
    const rest = path.slice(base.length);
    return fits(rest === '' ? '/' : rest);
  };
}

/** A gitignore pattern: what it matches, it matches with everything below. */
function testOf(tail: string, anywhere: boolean): (path: string) => boolean {
  const glob = tail.replace(/(?:\/|\/\*\*)+$/, '');
  const steps = globSteps(anywhere ? glob.replace(/^\//, '') : glob, { braces: 'letters', doubleStar: 'any-text' });
  const fits = globTest(
    anywhere && glob !== '' ? [...literalSteps('/'), { is: 'folders' }, ...steps] : steps,
    'or-below',
  );
  // Most paths do not hold what of the pattern is plain text.
  const pieces = /[[\\]/.test(glob) ? [] : glob.split(/[*?]+/);
  const plain = pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '');
  return (path) => path.includes(plain) && fits(path);
}
