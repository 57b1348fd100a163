import { normalize } from 'node:path/posix';
import type { Policy, Rule } from '../../contracts/permission.ts';
import { toPosixPath } from '../../lib/files/path-style.ts';
import { memoizeByKey } from '../../lib/memoize.ts';
import { createGlobMatcher, parseGlob, parseLiteralGlob } from '../../lib/patterns/glob.ts';
import { isPathInside, normalizePathCase, type ResolvedPath } from '../resolve-path.ts';
import { FAMILY_RULE_NAMES, getRuleFamily } from './rule-families.ts';

/** A path and how a tool uses it. */
export type PathUse = {
  readonly tool: string;
  readonly use: 'read' | 'write';
  readonly path: ResolvedPath;
  /** Set if a write replaces the previous content. */
  readonly replaces?: boolean;
};

/** Returns whether a rule matches a path. Deny and ask rules match any spelling, allow rules only the real path. */
export function matchesPathRule(rule: Rule, { path, ...use }: PathUse, policy: Policy): boolean {
  return createPathRuleTest(rule, use, policy)(path);
}

/** Creates the test of `matchesPathRule` for many paths, so that the rule is parsed once. */
export function createPathRuleTest(
  rule: Rule,
  { tool, use }: Pick<PathUse, 'tool' | 'use'>,
  policy: Policy,
): (path: ResolvedPath) => boolean {
  if (!appliesTo(rule, tool, use)) return () => false;
  if (rule.specifier === undefined) return () => true;
  const allow = rule.behavior === 'allow';
  const normalizeCase = !allow || policy.disk === 'case-insensitive' ? normalizePathCase : (text: string) => text;
  const tests = parsePatterns(rule, policy).map((pattern) => createPatternTest(pattern, normalizeCase));
  return ({ real, lexical, problem }) => {
    if (allow && problem !== undefined) return false;
    const paths = allow || lexical === real ? [real] : [lexical, real];
    return paths.some((path) => {
      const normalized = normalizeCase(path);
      return tests.some((matches) => matches(normalized));
    });
  };
}

/** Returns whether the rule names exactly this file. */
export function isExactPathRule(rule: Rule, use: PathUse, policy: Policy): boolean {
  if (rule.specifier === undefined || /[*?[\]\\!]|\/$/.test(rule.specifier) || !matchesPathRule(rule, use, policy))
    return false;
  return parsePatterns(rule, policy).some((pattern) => pattern.base + pattern.tail === use.path.real);
}

/** Returns whether a path rule could match something in the folder, judged by the literal start of its pattern. */
export function canRuleMatchInside(rule: Rule, folder: string, policy: Policy): boolean {
  return parsePatterns(rule, policy).some((pattern) => {
    const fixed = pattern.tail.split(/[*?[\\]/)[0] ?? '';
    const start = normalizePathCase(pattern.anywhere ? pattern.base : (pattern.base + fixed).replace(/\/[^/]*$/, ''));
    return isPathInside(start, normalizePathCase(folder)) || isPathInside(normalizePathCase(folder), start);
  });
}

/** Converts a path rule to globs for search tools: bare names, or absolute patterns. */
export function listRuleGlobs(rule: Rule, policy: Policy): readonly string[] {
  return parsePatterns(rule, policy).map(({ base, tail, anywhere }) => {
    const escapedBase = base.replace(/[\\*?[\]{}!]/g, '\\$&');
    return anywhere && base === '' ? tail.slice(1) : `${escapedBase}${anywhere ? '/**' : ''}${tail}`;
  });
}

function appliesTo(rule: Rule, tool: string, use: 'read' | 'write'): boolean {
  const family = use === 'read' ? 'read' : 'edit';
  if (rule.tool === '*' || rule.tool === FAMILY_RULE_NAMES[family]) return true;
  // Rules about commands say nothing about the files they use.
  if (rule.tool === tool && getRuleFamily(tool) !== 'command') return true;
  const isCoveredUse = use === 'write' || getRuleFamily(tool) === 'read';
  return (
    rule.behavior !== 'allow' && rule.specifier !== undefined && getRuleFamily(rule.tool) === family && isCoveredUse
  );
}

/** `tail` starts with a slash and is matched below `base`; `anywhere` allows folders in between. */
type Pattern = { readonly base: string; readonly tail: string; readonly anywhere: boolean };

function parsePatterns(rule: Rule, policy: Policy): readonly Pattern[] {
  const text = rule.specifier ?? '';
  const allow = rule.behavior === 'allow';
  // Absolute on Windows, and the name of no file elsewhere.
  if (/^(?:[a-z]:[\\/]|\\\\)/i.test(text))
    return [{ base: '', tail: normalize(toPosixPath(text, 'win32')), anywhere: false }];
  if (text.startsWith('//')) return [{ base: '', tail: normalize(text.slice(1)), anywhere: false }];
  if (text === '~' || text.startsWith('~/')) return anchorPatterns([policy.home], text.slice(1) || '/**');
  if (text.startsWith('/')) {
    const roots = anchorPatterns([rule.root ?? policy.workspaceRoots[0] ?? policy.cwd], text);
    // Users write absolute paths with one slash. Deny and ask rules match both readings.
    return allow ? roots : [...roots, { base: '', tail: normalize(text), anywhere: false }];
  }
  const bases = allow
    ? [policy.cwd]
    : [policy.cwd, ...policy.workspaceRoots, ...(rule.root === undefined ? [] : [rule.root])];
  if (text === '.' || text === '..') return anchorPatterns(bases, '/**');
  if (text.startsWith('..') || text.startsWith('../')) return anchorPatterns(bases, `/${text}`);
  const trimmed = text.replace(/\/$/, '');
  if (trimmed.includes('/')) return anchorPatterns(bases, `/${text}`);
  const anywhere: Pattern[] = [...new Set(bases)].map((base) => ({ base, tail: `/${trimmed}`, anywhere: true }));
  return allow ? anywhere : [...anywhere, { base: '', tail: `/${trimmed}`, anywhere: true }];
}

/** Creates one pattern for each base folder; `/../` is resolved against the base. */
function anchorPatterns(bases: readonly string[], tail: string): readonly Pattern[] {
  return [...new Set(bases)].map((base) => {
    const joined = tail.startsWith('/../')
      ? normalize(`${base}${tail}`)
      : `${base === '/' ? '' : base}${normalize(tail)}`;
    return tail.startsWith('/../')
      ? { base: '', tail: joined, anywhere: false }
      : { base: base === '/' ? '' : base, tail: joined.slice(base === '/' ? 0 : base.length), anywhere: false };
  });
}

function createPatternTest(pattern: Pattern, normalizeCase: (text: string) => string): (path: string) => boolean {
  const base = normalizeCase(pattern.base);
  const tail = normalizeCase(pattern.tail);
  const matches = pattern.anywhere ? compileUnanchoredGlob(tail) : compileAnchoredGlob(tail);
  return (path) => {
    if (base !== '' && !isPathInside(path, base)) return false;
    const rest = path.slice(base.length);
    return matches(rest === '' ? '/' : rest);
  };
}

const compileAnchoredGlob = memoizeByKey((tail) => createGlobTest(tail, 'anchored'));
const compileUnanchoredGlob = memoizeByKey((tail) => createGlobTest(tail, 'anywhere'));

/** Creates the test of a gitignore pattern, which also matches everything below a match. */
function createGlobTest(tail: string, position: 'anchored' | 'anywhere'): (path: string) => boolean {
  const glob = tail.replace(/(?<!\/|\/\*\*)(?:\/|\/\*\*)+$/, '');
  const anywhere = position === 'anywhere';
  const steps = parseGlob(anywhere ? glob.replace(/^\//, '') : glob, { braces: 'letters', doubleStar: 'any-text' });
  const matches = createGlobMatcher(
    anywhere && glob !== '' ? [...parseLiteralGlob('/'), { kind: 'folders' }, ...steps] : steps,
    'or-below',
  );
  // Fast path: most paths do not contain the longest literal part of the pattern.
  const literals = /[[\\]/.test(glob) ? [] : glob.split(/[*?]+/);
  const longestLiteral = literals.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
  return (path) => path.includes(longestLiteral) && matches(path);
}
