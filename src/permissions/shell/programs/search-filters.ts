import { createGlobSegmentTest, isExactGlobPattern } from '../../paths/folder-scan.ts';

/** An option of a search with its value. */
export type ParsedSearchOption = { readonly flag: string; readonly value: string };

/**
 * Tells if a search may open a file, by the names from the searched folder down to it. `isShown` tells if an ignore
 * file makes a hidden name visible again.
 */
export type SearchFileFilter = (inside: readonly string[], isShown: (name: string) => boolean) => boolean;

/** Globs for a single name that all programs read in the same way. */
const PLAIN_PATTERN = /^[^[\\{}/]+$/;

/** A name is excluded only if a plain glob certainly matches, and included unless a plain glob certainly does not. */
const excludesName = (pattern: string, name: string) =>
  PLAIN_PATTERN.test(pattern) && isExactGlobPattern(pattern) && createGlobSegmentTest(pattern)(name);
const includesName = (pattern: string, name: string) =>
  !PLAIN_PATTERN.test(pattern) || createGlobSegmentTest(pattern)(name);

/** Creates the filter of grep: the last matching --include or --exclude decides; without a match, the first option. */
export function createGrepFileFilter(options: readonly ParsedSearchOption[]): SearchFileFilter {
  const folders = options
    .filter(({ flag }) => flag === '--exclude-dir')
    .map(({ value }) => value.replace(/(?<!\/)\/+$/, ''));
  const files = options.filter(({ flag }) => flag === '--include' || flag === '--exclude');
  return (inside) => {
    const name = inside.at(-1) ?? '';
    if (inside.slice(0, -1).some((folder) => folders.some((pattern) => excludesName(pattern, folder)))) return false;
    const lastMatch = files.findLast(({ flag, value }) =>
      flag === '--include' ? includesName(value, name) : excludesName(value, name),
    );
    return lastMatch === undefined ? files[0]?.flag !== '--include' : lastMatch.flag === '--include';
  };
}

const HIDDEN_OPTIONS = ['-.', '--hidden', '-u', '--unrestricted'];

/** Creates ripgrep's filter: the last matching glob decides; an including one opens hidden files, excludes others. */
export function createRipgrepFileFilter(options: readonly ParsedSearchOption[]): SearchFileFilter {
  // Case-insensitive globs come after all others, wherever they are.
  const globs = [['-g', '--glob'], ['--iglob']].flatMap((names) => options.filter(({ flag }) => names.includes(flag)));
  const isExclude = ({ value }: ParsedSearchOption) => value.startsWith('!');
  const includes = globs.filter((glob) => !isExclude(glob));
  const lastInclude = globs.findLastIndex((glob) => !isExclude(glob));
  const excludes = globs.slice(lastInclude + 1).map(({ value }) => value.slice(1).replace(/^(?:\*\*\/)+/, ''));
  const excludedNames = excludes.map((pattern) => pattern.replace(/\/$/, ''));
  const opensHidden = includes.length > 0 || options.some(({ flag }) => HIDDEN_OPTIONS.includes(flag));
  return (inside, isShown) => {
    if (inside.some((name) => excludedNames.some((pattern) => excludesName(pattern, name)))) return false;
    if (!opensHidden && inside.some((name) => name.startsWith('.') && !isShown(name))) return false;
    const matches = ({ flag, value }: ParsedSearchOption, name: string) =>
      flag === '--iglob' ? includesName(value.toLowerCase(), name.toLowerCase()) : includesName(value, name);
    return includes.length === 0 || includes.some((glob) => inside.some((name) => matches(glob, name)));
  };
}

/** Creates the filter of find: a single -name, and no operators that could negate it. */
export function createFindFileFilter(args: readonly string[]): SearchFileFilter {
  const patterns = args.flatMap((arg, index) => (/^-i?name$/.test(args[index - 1] ?? '') ? [arg] : []));
  const hasOperators = args.some((arg) => /^(?:-o|-or|-not|!|,|\(|\))$/.test(arg));
  const [pattern, otherPattern] = patterns;
  if (pattern === undefined || otherPattern !== undefined || hasOperators) return () => true;
  return (inside) => includesName(pattern.toLowerCase(), (inside.at(-1) ?? '').toLowerCase());
}
